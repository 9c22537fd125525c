"""What bounds a git process that talks to somebody else, and the corners of state on disk."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from agent_base.gitproc import GitError, GitTimeout
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.replication import budgets, process, promotion
from ai_kb.hn.replication.floors import Floors
from ai_kb.hn.replication.outcomes import Outcome
from ai_kb.hn.replication.promotion import Interrupted, Journal, Move, Transaction
from ai_kb.hn.replication.quarantine import Quarantine, clear
from ai_kb.hn.replication.selection import Budgets
from ai_kb.hn.replication.shallow import remove_boundaries
from ai_kb.hn.replication.state import ReplicationError, State
from tests.replication.people import accepted, maker
from tests.replication.world import HN, World, all_refs, git, hn, recalled, select, sync


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., process.Done]:
    """Run a shell script as git."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def run(script: str, **options: object) -> process.Done:
        (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "git").chmod(0o755)
        env = {"PATH": f"{folder}:{os.environ['PATH']}"}
        return process.run(["x"], env=env, path_env=env, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture
def ends_when_asked() -> Iterator[None]:
    """SIGTERM and SIGHUP just kill this process, however it was started (nohup has it ignore one)."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def gone(pid_file: Path) -> bool:
    """Whether the process whose number is in the file has ended, or does so soon."""
    pid = int(pid_file.read_text())
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError):  # Linux: it has ended, and whose child it is has not asked yet how
            if ") Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        time.sleep(0.02)
    return False


def until(file: Path) -> Callable[[], int]:
    """What is watched: there are signs of life until something is in the file, and none after that."""
    calls = itertools.count(1)
    return lambda: 0 if file.exists() and file.read_text() else next(calls)


def test_output_status_and_the_end_of_stderr_come_back(fake: Callable[..., process.Done]) -> None:
    seen: list[bytes] = []
    done = fake("echo out; echo err >&2; exit 3", report=seen.append)
    assert (done.status, done.out, done.err, b"".join(seen)) == (3, b"out\n", b"err\n", b"err\n")


def test_a_silent_process_is_ended_with_all_that_it_started(
    fake: Callable[..., process.Done], tmp_path: Path
) -> None:
    with pytest.raises(GitTimeout, match=r"nothing came for 0\.5 s"):
        fake(f"sleep 600 & echo $! >{tmp_path}/pid; wait", idle=0.5, watch=until(tmp_path / "pid"))
    assert gone(tmp_path / "pid")


def test_a_trickle_does_not_last_beyond_the_deadline(fake: Callable[..., process.Done]) -> None:
    with pytest.raises(GitTimeout, match="too long altogether"):
        fake("while :; do echo x >&2; sleep 0.1; done", idle=600, deadline=time.monotonic() + 1)


def test_what_grows_in_the_quarantine_counts_as_a_sign_of_life(fake: Callable[..., process.Done]) -> None:
    start = time.monotonic()
    done = fake("sleep 4", idle=2, watch=lambda: int((time.monotonic() - start) * 10))
    assert done.status == 0


def test_endless_output_is_stopped(fake: Callable[..., process.Done]) -> None:
    with pytest.raises(process.OutputTooLarge, match="more than 1000 bytes"):
        fake("yes", limit=1000)


def test_a_process_that_closes_its_output_and_stays_is_still_bounded(
    fake: Callable[..., process.Done],
) -> None:
    with pytest.raises(GitTimeout):
        fake("exec >&- 2>&-; sleep 600", idle=0.5)


def test_what_outlives_git_and_holds_its_pipes_is_not_waited_for(
    fake: Callable[..., process.Done], tmp_path: Path
) -> None:
    done = fake(f"sleep 600 & echo $! >{tmp_path}/pid; echo done")
    assert (done.status, done.out) == (0, b"done\n")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)  # it is still there
    assert gone(tmp_path / "pid")


@pytest.mark.parametrize(
    "script", ["echo $$ >{pid}; exec sleep 600", "trap '' TERM; echo $$ >{pid}; while :; do sleep 0.2; done"]
)
def test_at_a_terminal_git_itself_is_ended(
    fake: Callable[..., process.Done], tmp_path: Path, script: str
) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(GitTimeout):
        fake(script.format(pid=pid), idle=0.3, person=True, watch=until(pid))
    assert gone(pid)


def test_a_git_that_cannot_be_started_is_an_error_of_its_own(tmp_path: Path) -> None:
    broken = tmp_path / "git"
    broken.write_text("#!/nowhere/interpreter\n")
    broken.chmod(0o755)
    env = {"PATH": str(tmp_path)}
    with pytest.raises(GitError, match="could not be started"):
        process.run(["x"], env=env, path_env=env)


def test_the_reason_of_a_failure_is_one_inert_line() -> None:
    assert process.reason(b"warning: x\nfatal: no\x1b[1m\nhint", 1) == "fatal: no\\u001b[1m"
    assert process.reason(b"Receiving 10%\rremote: error: full\r\n", 1) == "remote: error: full"
    assert process.reason(b"something else\nlast", 1) == "last"
    assert process.reason(b"", 7) == "exit status 7"


@pytest.mark.usefixtures("ends_when_asked")
def test_who_is_asked_to_end_ends_git_first(fake: Callable[..., process.Done], tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        with pytest.raises(SystemExit) as left:
            fake(f"sleep 600 & echo $! >{tmp_path}/pid; kill -{number:d} $PPID; wait", idle=600)
        assert left.value.code == 128 + number
        assert gone(tmp_path / "pid")
        assert signal.getsignal(number) == signal.SIG_DFL


@pytest.mark.usefixtures("ends_when_asked")
def test_a_request_that_comes_when_git_has_ended_is_obeyed(
    fake: Callable[..., process.Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(process.Done, "__init__", asked)
    with pytest.raises(SystemExit) as left:
        fake("echo done")
    assert left.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_signal_that_somebody_else_handles_or_ignores_stays_theirs(
    fake: Callable[..., process.Done],
) -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup starts it
    try:
        assert fake("kill -HUP $PPID; sleep 0.2; echo still here").out == b"still here\n"
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, old)


def test_a_thread_that_gets_no_signals_runs_git_as_well(fake: Callable[..., process.Done]) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(fake, "echo out").result().out == b"out\n"


@pytest.mark.usefixtures("ends_when_asked")
def test_a_sync_that_is_asked_to_end_leaves_no_quarantine_and_nothing_running(
    world: World, tmp_path: Path
) -> None:
    maker(world.remote).bulk(2)
    clone = world.clone("bob")
    stuck = tmp_path / "upload-pack"
    stuck.write_text(
        "#!/bin/sh\n"
        'if [ -e "$0.advertised" ]; then echo $$ >"$0.new"; mv "$0.new" "$0.pid"; exec sleep 600; fi\n'
        'touch "$0.advertised"\nexec git-upload-pack "$@"\n'
    )
    stuck.chmod(0o755)
    git(clone, "config", "remote.origin.uploadpack", str(stuck))
    child = subprocess.Popen(
        [*HN, "sync"], cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    pid = tmp_path / "upload-pack.pid"
    while not pid.exists():
        assert child.poll() is None
        time.sleep(0.02)
    quarantine = clone / ".git" / "hn" / "replication" / "quarantine"
    assert len(list(quarantine.iterdir())) == 1
    child.terminate()
    assert child.communicate() == (b"", b"")
    assert child.returncode == 143
    assert gone(pid)
    assert list(quarantine.iterdir()) == []
    git(clone, "config", "--unset", "remote.origin.uploadpack")
    assert sync(clone)["promoted"] == 1


# --- measuring ------------------------------------------------------------------------------------


def test_a_tree_with_far_too_many_files_is_not_listed_to_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = maker(world.remote)
    payload = made.payload()
    entries = [("100644", f"{number:02}", made.blob(b"%d" % number)) for number in range(20)]
    made.place(made.raw_tree(*entries), payload)
    bob = world.clone("bob")
    monkeypatch.setattr(budgets, "_LEAST_LIMIT", 300)
    monkeypatch.setattr(budgets, "_LINE_BYTES", 1)
    words = ("--max-events", "1", "--max-objects", "100000")
    assert hn(bob, "replication", "select", "--all", *words).exit == 0
    refused = sync(bob, ok=False)["outcomes"][0]
    assert refused["status"] == "structurally-invalid"
    assert "far more than they may" in refused["diagnostic"]
    assert refused["measurements"]["Objects"] == 22
    words = ("--max-events", "1", "--max-objects", "21")
    assert hn(bob, "replication", "select", "--all", *words).exit == 0
    assert sync(bob, ok=False)["outcomes"][0]["detail"] == "max-objects"


def test_a_stream_that_forgot_its_accepted_head_is_counted_whole(world: World) -> None:
    made = maker(world.remote)
    made.bulk(5)
    repo = Repository.open(str(world.clone("bob")), os.environ)
    git(repo.git_dir, "fetch", "-q", "origin", f"{made.ref}:{made.ref}")
    outcome = Outcome("memory", made.stream)
    with repo.objects() as reader:
        budgets.measure(repo, reader, outcome, str(made.head), f"{made.head}", None, Budgets())
    assert outcome.measurements.events == 5


# --- state on disk ----------------------------------------------------------------------------------


def opened(clone: Path) -> tuple[Repository, State, Journal]:
    repo = Repository.open(str(clone), os.environ)
    state = State(repo)
    state.prepare("anchors", "transactions", "quarantine", "selections")
    return repo, state, Journal(state)


def test_refs_that_moved_meanwhile_stop_a_promotion_which_leaves_nothing(world: World) -> None:
    made = maker(world.remote)
    made.bulk(2)
    clone = world.clone("bob")
    git(clone, "fetch", "-q", "origin", f"{made.ref}:refs/x/y")
    repo, state, journal = opened(clone)
    moves = [Move(accepted("alice"), str(made.head), f"{'1' * 40}")]
    with repo.objects() as reader, Quarantine(state, repo, "q") as quarantine:
        with pytest.raises(Interrupted):
            promotion.promote(journal, repo, reader, quarantine, Transaction("txn-1", "origin", moves=moves))
        # It is not where the promotion thinks it was: nobody knows better, so the anchor stays.
        assert os.listdir(state.anchors) == ["txn-1.json"]
        promotion.recover(journal, repo, reader)
        assert os.listdir(state.anchors) == []
        moves = [Move(accepted("alice"), f"{'2' * 40}")]
        with pytest.raises(ReplicationError, match="could not be moved"):
            promotion.promote(journal, repo, reader, quarantine, Transaction("txn-2", "origin", moves=moves))
    assert os.listdir(state.anchors) == []
    assert all_refs(clone, "refs/hn") == {}


@pytest.mark.parametrize(
    "ref",
    [
        "refs/hn/remotes/",
        "refs/hn/remotes/*",
        "refs/hn/remotes/a b",
        "refs/hn/remotes/ö",
        "refs/hn/remotes/\udcff",
        "refs/hn/remotes/a\0b",
        "refs/hn/remotes/q\0{head}\0{none}\0update refs/heads/planted",
        "refs/hn/remotes/../../../../victim",
        "refs/hn/remotes/origin/memory/x",
        "refs/hn/remotes/origin/other/x",
        "refs/hn/remotes/origin/actors/x",
        "refs/hn/remotes/a..b/actors/" + "1" * 64,
        "refs/hn/remotes/../memory/" + "1" * 64 + "/" + "2" * 64,
    ],
)
def test_a_receipt_that_moves_what_is_no_accepted_ref_is_set_aside(world: World, ref: str) -> None:
    clone = world.clone("bob")
    maker(world.remote).bulk(1)
    head = git(clone, "rev-parse", "HEAD")
    _, state, _ = opened(clone)
    (clone / ".git/refs/hn/remotes").mkdir(parents=True)
    lock = clone / "victim.lock"
    lock.write_text("")
    move = {"ref": ref.replace("{head}", head).replace("{none}", "0" * 40), "newOid": head}
    planted = {
        f"{state.anchors}/txn-1.json": {"version": 1, "id": "txn-1", "remote": "origin"},
        f"{state.transactions}/txn-1.json": {"state": "validated", "promotions": [move]},
    }
    for path, value in planted.items():
        Path(path).write_text(json.dumps(value))
        Path(path).chmod(0o600)
    result = sync(clone)
    assert result["notes"] == ["an interrupted promotion was set aside: txn-1"]
    assert set(all_refs(clone, "refs/hn")) == {accepted("alice")}
    assert "refs/heads/planted" not in all_refs(clone)
    assert lock.exists()
    assert len(recalled(clone)) == 1


@pytest.mark.parametrize("remembered", [True, False])
@pytest.mark.parametrize("grown", [0, 2])
def test_an_accepted_head_that_was_lost_is_fetched_again_with_all_before_it(
    world: World, remembered: bool, grown: int
) -> None:
    made = maker(world.remote)
    made.bulk(3)
    clone = world.clone("bob")
    sync(clone)
    for lost in (str(made.head), f"{made.head}~1", f"{made.head}~2:memory.json"):
        oid = git(world.remote, "rev-parse", lost)
        (clone / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    if not remembered:
        shutil.rmtree(os.environ["XDG_CACHE_HOME"])
    made.bulk(grown)
    result = sync(clone)
    assert result["promoted"] == 1
    assert "is missing in this repository; all of the history is fetched again" in result["notes"][0]
    assert all_refs(clone)[accepted("alice")] == made.head
    assert len(recalled(clone)) == 3 + grown
    assert git(clone, "fsck", "--connectivity-only", "--no-dangling") == ""
    assert sync(clone)["notes"] == []


def test_an_accepted_stream_that_lost_something_deeper_comes_back_once_its_ref_is_gone(world: World) -> None:
    made = maker(world.remote)
    made.bulk(3)
    clone = world.clone("bob")
    sync(clone)
    oid = git(world.remote, "rev-parse", f"{made.head}~1:memory.json")
    (clone / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    shutil.rmtree(os.environ["XDG_CACHE_HOME"])
    assert hn(clone, "memory", "recall", "--include-untrusted").exit == 1
    git(clone, "update-ref", "-d", accepted("alice"))
    assert sync(clone)["promoted"] == 1
    assert len(recalled(clone)) == 3
    assert git(clone, "fsck", "--connectivity-only", "--no-dangling") == ""


def test_objects_that_cannot_be_copied_stop_a_promotion(world: World) -> None:
    clone = world.clone("bob")
    repo, state, journal = opened(clone)
    transaction = Transaction(
        "txn-1", "origin", moves=[Move(accepted("alice"), "1" * 40)], pending=["1" * 40]
    )
    with (
        repo.objects() as reader,
        Quarantine(state, repo, "q") as quarantine,
        pytest.raises(ReplicationError, match="copying objects failed"),
    ):
        promotion.promote(journal, repo, reader, quarantine, transaction)
    assert os.listdir(state.anchors) == os.listdir(state.transactions) == []


def test_a_quarantine_that_cannot_be_made_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, state, _ = opened(world.clone("bob"))
    monkeypatch.setattr(repo, "object_format", "md5")
    with pytest.raises(ReplicationError, match="no quarantine could be made"):
        Quarantine(state, repo, "q").__enter__()
    assert os.listdir(state.quarantine) == []


def test_whatever_lies_in_the_quarantine_directory_is_removed_and_symlinks_are_not_followed(
    world: World,
) -> None:
    clone = world.clone("bob")
    _, state, _ = opened(clone)
    outside = clone / "precious"
    outside.mkdir()
    (outside / "file").write_text("x")
    Path(state.quarantine, "link").symlink_to(outside)
    Path(state.quarantine, "file").write_text("x")
    Path(state.quarantine, "folder", "deep").mkdir(parents=True)
    clear(state)
    assert os.listdir(state.quarantine) == []
    assert (outside / "file").read_text() == "x"
    os.rmdir(state.quarantine)
    clear(state)


def test_another_sync_at_work_is_waited_for_and_then_reported(world: World) -> None:
    _, state, _ = opened(world.clone("bob"))
    with (
        state.lock(),
        pytest.raises(ReplicationError, match="another process is synchronizing"),
        state.lock(0.1),
    ):
        raise AssertionError("two at once")


def test_a_path_with_quotes_spaces_and_unicode_works(tmp_path: Path) -> None:
    base = tmp_path / 'a "quoted" \\ päth\twith tab'
    base.mkdir()
    world = World(base, bundle=None)
    maker(world.remote).bulk(2)
    clone = world.clone("bob")
    sync(clone)
    maker(world.remote, number=1).bulk(1)
    sync(clone)
    assert len(recalled(clone)) == 2


def test_a_shallow_boundary_that_another_git_is_changing_is_left_alone(world: World) -> None:
    made = maker(world.remote)
    made.bulk(4)
    clone = world.clone("carol", None, f"file://{world.remote}", "--depth=1")
    git(clone, "fetch", "-q", "--depth=2", "origin", f"+{made.ref}:{accepted('alice')}")
    select(clone, "alice")
    sync(clone, ok=False)
    lock = clone / ".git" / "shallow.lock"
    lock.write_text("")
    done = hn(clone, "sync", "--recover-shallow")
    assert done.exit == 1
    assert "being changed by another git" in done.stderr
    lock.unlink()
    assert hn(clone, "sync", "--recover-shallow").exit == 0
    repo = Repository.open(str(clone), os.environ)
    with repo.objects() as reader:
        remove_boundaries(repo, reader, [])  # nothing to remove is no error
    assert repo.is_shallow()


def test_the_shallow_file_goes_with_its_last_line(world: World) -> None:
    made = maker(world.remote)
    made.bulk(4)
    clone = world.clone("carol")
    git(clone, "remote", "set-url", "origin", f"file://{world.remote}")
    git(clone, "fetch", "-q", "--depth=2", "origin", f"+{made.ref}:{accepted('alice')}")
    select(clone, "alice")
    sync(clone, ok=False)
    sync(clone, "--recover-shallow")
    assert not (clone / ".git" / "shallow").exists()
    assert git(clone, "rev-list", "--count", accepted("alice")) == "4"


def test_floors_are_written_only_when_they_change(world: World) -> None:
    maker(world.remote).bulk(1)
    clone = world.clone("bob")
    sync(clone)
    floors = Floors(Repository.open(str(clone), os.environ))
    before = os.stat(floors.path).st_mtime_ns
    sync(clone)
    assert os.stat(floors.path).st_mtime_ns == before
