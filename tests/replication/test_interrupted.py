"""Killed, cut off or without disk at any point: the next sync finishes or starts over.

Three kinds of points: every call by which this process changes files (the harness of the crash
tests), every git process that it starts (a ``git`` that dies, or takes its parent along), and the
states that another implementation leaves (recorded files).
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ai_kb.hn.gitstore import Repository
from ai_kb.hn.replication import promotion
from ai_kb.hn.replication.state import State
from ai_kb.hn.unsettled import pending
from tests.crash import harness
from tests.replication.people import ALICE, BOB, accepted, maker, memory_ref
from tests.replication.world import World, all_refs, git, hn, recalled, select

KINDS = ("first", "more")


class Template:
    """A receiver and its remote, ready to be copied.

    ``first``: nothing was accepted yet; two streams are offered. ``more``: one was accepted, it has
    grown, another is new, and the receiver has a stream of its own to publish.
    """

    def __init__(self, base: Path) -> None:
        world = World(base, bundle=None)
        alice, bob = maker(world.remote, ALICE), maker(world.remote, BOB)
        alice.bulk(2)
        carol = world.clone("carol")
        git(carol, "remote", "set-url", "origin", "../b/remote.git")
        select(carol, "alice", "bob")
        self.old: dict[str, str] = {}
        if base.name == "more":
            assert hn(carol, "sync", env=self.env(base)).exit == 1  # Bob's stream is not there yet
            self.old = all_refs(carol, "refs/hn/remotes")
            record = ("--kind", "decision", "--at", "HEAD", "--applies", "descendants", "--content", "mine")
            assert hn(carol, "memory", "record", *record, env=self.env(base)).exit == 0
            alice.add()
        bob.bulk(3)
        self.new = {accepted("alice"): str(alice.head), accepted("bob"): str(bob.head)}
        self.base = base

    @staticmethod
    def env(base: Path, **more: str) -> dict[str, str]:
        return {
            **os.environ,
            "XDG_CACHE_HOME": str(base / "cache"),
            "XDG_STATE_HOME": str(base / "state"),
            **more,
        }

    def copy(self, target: Path) -> None:
        for name in ("b", "carol", "cache", "state"):
            if (self.base / name).exists():
                shutil.copytree(self.base / name, target / name, symlinks=True)

    def sync(self, base: Path, **env: str) -> int:
        return hn(base / "carol", "sync", env=self.env(base, **env)).exit

    # --- what must hold ---------------------------------------------------------------------------

    def check_between(self, base: Path, *, independent: bool = False) -> None:
        """After the interruption: readers see what was, or all that is new.

        ``independent``: sync ended by itself, and one stream may have come in without the other.
        """
        refs = reader_refs(base / "carol")
        if independent:
            assert all(head in (self.old.get(ref), self.new[ref]) for ref, head in refs.items())
        else:
            assert refs in (self.old, self.new), "half of a promotion is read"
        raw = all_refs(base / "carol", "refs/hn/remotes")
        assert raw == refs or pending(str(base / "carol" / ".git")), "moved, and no anchor"
        assert hn(base / "carol", "memory", "recall", "--json", env=self.env(base)).exit == 0

    def check_after(self, base: Path) -> None:
        """After the next sync: everything is accepted and published, nothing is left over."""
        carol = base / "carol"
        assert all_refs(carol, "refs/hn/remotes") == self.new
        assert reader_refs(carol) == self.new
        assert pending(str(carol / ".git")) == []
        assert list((carol / ".git" / "hn" / "replication" / "quarantine").iterdir()) == []
        leftovers = list((carol / ".git" / "hn").rglob(".*.tmp"))
        assert leftovers == []
        assert git(carol, "fsck", "--connectivity-only", "--no-dangling") == ""
        if self.old:
            assert memory_ref("carol") in all_refs(base / "b" / "remote.git")
        kept = [json.loads(path.read_text()) for path in (base / "state").rglob("accepted-heads.json")]
        (heads,) = [floors["heads"] for floors in kept if floors["repository"] == str(carol / ".git")]
        assert {ref: entry["head"] for ref, entry in heads.items()} == self.new


def reader_refs(clone: Path) -> dict[str, str]:
    """Accepted refs as readers take them."""
    return Repository.open(str(clone), os.environ).refs("refs/hn/remotes")


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory on a file system in memory, if there is one."""
    base = tmp_path_factory.mktemp("fast")
    if os.access("/dev/shm", os.W_OK):
        base = Path(tempfile.mkdtemp(prefix="replication-", dir="/dev/shm"))
    yield base
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(params=KINDS)
def template(request: pytest.FixtureRequest, fast: Path, tmp_path: Path) -> Template:
    base = fast / f"{tmp_path.name}" / request.param
    base.mkdir(parents=True)
    return Template(base)


@pytest.mark.parametrize(
    ("template", "mode"),
    [
        ("first", harness.BEFORE),
        ("more", harness.BEFORE),
        ("more", harness.TORN),
        ("more", harness.FULL),
    ],
    indirect=["template"],
)
def test_killed_or_without_disk_at_any_call_the_next_sync_completes(template: Template, mode: str) -> None:
    def recover(base: Path) -> None:
        template.check_between(base)
        assert template.sync(base) == 0

    def act(base: Path) -> None:
        if template.sync(base) != 0:
            raise OSError("the sync failed")

    base = template.base.parent / "runs"
    base.mkdir()
    runs = harness.explore(base, template.copy, act, recover, template.check_after, modes=(mode,))
    assert runs > 15


# --- git processes ------------------------------------------------------------------------------

_SHIM = """\
#!/bin/sh
n=1
while ! mkdir "$SHIM/$n" 2>/dev/null; do
    [ -d "$SHIM" ] || exit 1  # it was started so late that the test is over
    n=$((n + 1))
done
if [ $n -eq "$SHIM_AT" ]; then
    case $SHIM_MODE in
        parent-before) kill -9 $PPID; exit 1 ;;
        parent-after) {git} "$@"; kill -9 $PPID; exit 1 ;;
        dies) kill -9 $$ ;;
        fails) echo 'fatal: unable to write: No space left on device' >&2; exit 128 ;;
    esac
fi
exec {git} "$@"
"""


def _shim(base: Path) -> Path:
    folder = base / "shim"
    folder.mkdir()
    script = folder / "git"
    script.write_text(_SHIM.replace("{git}", shutil.which("git") or "git"))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def _shimmed(template: Template, base: Path, at: int, mode: str) -> int:
    folder = _shim(base)
    env = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "SHIM": str(folder),
        "SHIM_AT": str(at),
        "SHIM_MODE": mode,
    }
    pid = os.fork()
    if pid == 0:
        status = 9
        try:
            status = template.sync(base, **env)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize(
    ("template", "mode"),
    [
        ("first", "parent-before"),
        ("more", "parent-before"),
        ("more", "parent-after"),
        ("more", "dies"),
        ("more", "fails"),
    ],
    indirect=["template"],
)
def test_whatever_git_process_dies_or_takes_sync_along_the_next_one_completes(
    template: Template, mode: str
) -> None:
    counted = template.base.parent / "counted"
    counted.mkdir()
    template.copy(counted)
    assert _shimmed(template, counted, 0, mode) == 0
    total = len(os.listdir(counted / "shim")) - 1
    assert total > 12
    template.check_after(counted)
    killed = 0
    for at in range(1, total + 1):
        base = template.base.parent / f"{mode}-{at}"
        base.mkdir()
        template.copy(base)
        status = _shimmed(template, base, at, mode)
        try:
            # A process of git's own may be hit, or one without which sync succeeds.
            assert status in (-9, 0, 1), f"ended with {status}"
            killed += status == -9
            template.check_between(base, independent=not mode.startswith("parent"))
            assert template.sync(base) == 0
            template.check_after(base)
        except BaseException as error:
            error.add_note(f"{mode} at git process {at} of {total}")
            raise
        shutil.rmtree(base, ignore_errors=True)  # what was just started may still look around there
    assert killed > 10 or not mode.startswith("parent")


def test_a_push_that_is_cut_off_is_made_up_for(fast: Path, tmp_path: Path) -> None:
    base = fast / tmp_path.name / "more"
    base.mkdir(parents=True)
    template = Template(base)
    hook = base / "b" / "remote.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    done = hn(base / "carol", "sync", env=template.env(base))
    assert done.exit == 1
    assert "publication phase failed" in done.stderr
    assert "pre-receive hook declined" in done.stderr
    assert all_refs(base / "carol", "refs/hn/remotes") == template.new
    hook.unlink()
    assert template.sync(base) == 0
    template.check_after(base)


# --- locks and states that were left ------------------------------------------------------------------


@pytest.fixture
def halfway(fast: Path, tmp_path: Path) -> tuple[Template, Path]:
    """A template, and a copy of it killed right after its refs were moved."""
    base = fast / tmp_path.name / "more"
    base.mkdir(parents=True)
    template = Template(base)
    copy = base.parent / "copy"
    copy.mkdir()
    template.copy(copy)
    pid = os.fork()
    if pid == 0:
        promotion.Journal.complete = lambda *_: os.kill(os.getpid(), 9)  # type: ignore[method-assign,assignment]
        os._exit(template.sync(copy))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9
    return template, copy


def test_between_moved_refs_and_the_completed_receipt_readers_see_what_was(
    halfway: tuple[Template, Path],
) -> None:
    template, base = halfway
    carol = base / "carol"
    assert all_refs(carol, "refs/hn/remotes") == template.new
    assert reader_refs(carol) == template.old
    done = hn(carol, "memory", "recall", "--include-untrusted", "--json", env=template.env(base))
    assert done.exit == 0
    assert "replication acceptance pending; transaction=txn-" in done.stderr
    assert "recovery=retry hn sync origin" in done.stderr
    assert len(json.loads(done.stdout)["memories"]) == 3  # two of Alice's as accepted before, and the own one
    new = git(carol, "cat-file", "blob", f"{template.new[accepted('bob')]}:memory.json")
    import hashlib

    identifier = "sha256:" + hashlib.sha256(new.encode()).hexdigest()
    shown = hn(carol, "memory", "show", identifier, env=template.env(base))
    assert shown.exit == 1
    assert "replication acceptance pending" in shown.stderr
    assert hn(carol, "sync", env=template.env(base)).stderr.startswith(
        "hn: an interrupted promotion was completed"
    )
    template.check_after(base)
    assert hn(carol, "memory", "show", identifier, env=template.env(base)).exit == 0


def test_half_moved_refs_and_stale_locks_are_repaired(halfway: tuple[Template, Path]) -> None:
    template, base = halfway
    carol = base / "carol"
    git(carol, "update-ref", "-d", accepted("bob"))
    lock = carol / ".git" / f"{accepted('bob')}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("")
    assert reader_refs(carol) == template.old
    assert template.sync(base) == 0
    template.check_after(base)
    assert not lock.exists()


def test_a_promotion_whose_objects_are_gone_is_taken_back_and_done_again(
    halfway: tuple[Template, Path],
) -> None:
    template, base = halfway
    carol = base / "carol"
    head = template.new[accepted("bob")]
    (carol / ".git" / "objects" / head[:2] / head[2:]).unlink()
    done = hn(carol, "sync", env=template.env(base))
    assert done.exit == 0, done.stderr
    assert "was taken back" in done.stderr
    template.check_after(base)


def test_an_offline_sync_still_completes_what_was_begun(halfway: tuple[Template, Path]) -> None:
    template, base = halfway
    carol = base / "carol"
    (base / "b" / "remote.git").rename(base / "b" / "away.git")
    done = hn(carol, "sync", env=template.env(base))
    assert done.exit == 1
    assert "an interrupted promotion was completed" in done.stderr
    assert reader_refs(carol) == template.new
    (base / "b" / "away.git").rename(base / "b" / "remote.git")
    assert template.sync(base) == 0
    template.check_after(base)


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"state": "invalid"}', '{"state": "validated", "promotions": 1}']
)
def test_a_damaged_receipt_closes_the_remotes_streams_until_the_next_sync(
    halfway: tuple[Template, Path], damage: str
) -> None:
    template, base = halfway
    carol = base / "carol"
    (receipt,) = [
        carol / ".git" / "hn" / "replication" / "transactions" / f"{name}.json"
        for name in pending(str(carol / ".git"))
    ]
    receipt.write_text(damage)
    assert reader_refs(carol) == {}
    assert template.sync(base) == 0
    template.check_after(base)


def test_a_damaged_anchor_closes_all_accepted_streams_until_the_next_sync(
    halfway: tuple[Template, Path],
) -> None:
    template, base = halfway
    carol = base / "carol"
    (name,) = pending(str(carol / ".git"))
    root = carol / ".git" / "hn" / "replication"
    (root / "anchors" / f"{name}.json").write_text("{")
    (root / "transactions" / f"{name}.json").write_text("{")
    assert reader_refs(carol) == {}
    assert template.sync(base) == 0
    template.check_after(base)


def test_a_ref_that_somebody_else_moved_meanwhile_stays(halfway: tuple[Template, Path]) -> None:
    template, base = halfway
    carol = base / "carol"
    parent = git(carol, "rev-parse", f"{template.old[accepted('alice')]}~1")
    git(carol, "update-ref", accepted("alice"), parent)
    assert accepted("alice") not in reader_refs(carol)
    (base / "b" / "remote.git").rename(base / "b" / "away.git")
    assert template.sync(base) == 1
    assert all_refs(carol, "refs/hn/remotes")[accepted("alice")] == parent
    (base / "b" / "away.git").rename(base / "b" / "remote.git")
    assert template.sync(base) == 0
    template.check_after(base)


def _recorded(text: str, number: str) -> str:
    return text.replace("<N>", number)


@pytest.mark.parametrize("step", [119, 129, 135])
def test_states_that_another_implementation_left_are_repaired(tmp_path: Path, step: int) -> None:
    from tests.hn.fixture_repos import FIXTURES, load

    recorded = load("sync-scenarios")["steps"]
    world = World(tmp_path)
    clone = world.clone("recv", "bob")
    scenario = next(s for s in reversed(recorded[:step]) if "scenario" in s)
    world.advertise(scenario["bundle_refs"], FIXTURES / "sync-scenarios.bundle")
    git(clone, "fetch", "-q", "origin", *(f"{ref}:{ref}" for ref in all_refs(world.remote, "refs/hn")))
    for ref, oid in all_refs(clone, "refs/hn").items():
        git(clone, "update-ref", "-d", ref, oid)
    for ref, oid in recorded[step]["refs_after"].items():
        if "/remotes/" in ref:
            git(clone, "update-ref", ref, oid)
    for name, entry in recorded[step]["private_state_after"].items():
        if not name.startswith("hn/replication/"):
            continue
        path = clone / ".git" / _recorded(name, "7")
        if name.endswith("/"):
            path.mkdir(mode=0o700, exist_ok=True)
        elif "text" in entry:
            path.write_text(_recorded(entry["text"], "7"))
            path.chmod(0o600)
    assert pending(str(clone / ".git")) == ["txn-7"]
    assert hn(clone, "sync").exit == 0
    assert pending(str(clone / ".git")) == []
    assert recalled(clone) == {"good", "second"}
    assert list(all_refs(clone, "refs/hn/remotes")) == [accepted("alice")]


def test_two_syncs_at_once_end_well(fast: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = State.lock
    monkeypatch.setattr(State, "lock", lambda self: lock(self, 600))  # as long as the others need
    base = fast / tmp_path.name / "more"
    base.mkdir(parents=True)
    template = Template(base)
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            os._exit(template.sync(base))
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0, 0, 0]
    template.check_after(base)


def test_an_orphan_of_a_killed_sync_does_not_disturb_the_next(template: Template) -> None:
    """What a SIGKILL leaves running may go on writing into a quarantine that is gone."""
    base = template.base
    stale = base / "carol" / ".git" / "hn" / "replication" / "quarantine" / "txn-1"
    stale.mkdir(parents=True, mode=0o700)
    for folder in (stale, *stale.parents[:2]):
        folder.chmod(0o700)
    subprocess.run(["git", "init", "-q", "--bare", str(stale)], check=True)
    with (stale / "objects" / "pack" / "tmp_pack_x").open("wb") as file:
        file.write(b"x" * 1000)
        assert template.sync(base) == 0
        file.write(b"y" * 1000)
    template.check_after(base)
