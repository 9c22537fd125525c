"""The keyring: formats and modes exactly, everything else refused and left as it was."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from ai_kb.hn import keys
from ai_kb.hn.errors import HnError, NotFound
from ai_kb.hn.gitstore import Repository
from ai_kb.hn.identity import (
    ANONYMOUS,
    MAX_KEYRING_BYTES,
    Identity,
    InvalidKeyring,
    Keyring,
    checked_name,
    configured_name,
)
from tests.hn.fixture_repos import ACTORS, KEYS, git, give_identity, hn


@pytest.fixture
def keyring(repository: Path) -> Keyring:
    give_identity(repository / ".git", "alice")
    return Keyring.of(Repository.open(str(repository), os.environ))


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.mark.parametrize("person", sorted(ACTORS))
def test_a_keyring_of_another_implementation_is_read_and_written_byte_for_byte(person: str) -> None:
    data = (KEYS / f"{person}.identity.json").read_bytes()
    identity = Identity.from_bytes(data)
    assert identity.actor == ACTORS[person]
    assert identity.to_bytes() == data


def test_init_makes_private_files_whatever_the_umask(repository: Path) -> None:
    before = os.umask(0o277)
    try:
        assert hn(repository, "init", "--name", "Büro <x>").exit == 0
    finally:
        os.umask(before)
    keyring = Keyring.of(Repository.open(str(repository), os.environ))
    identity = keyring.active()
    assert identity.name == "Büro <x>"
    assert mode(keyring.directory) == mode(Path(keyring.directory) / "identities") == 0o700
    assert mode(keyring.path(identity.actor)) == mode(Path(keyring.directory) / "active") == 0o600
    record = json.loads(Path(keyring.path(identity.actor)).read_text())
    assert list(record) == ["version", "actor", "name", "publicKey", "privateKey", "lifecycle"]
    assert b"\\u003cx\\u003e" in Path(keyring.path(identity.actor)).read_bytes()
    assert sorted(os.listdir(keyring.directory)) == ["active", "identities"]


def test_two_inits_make_two_different_keys(tmp_path: Path) -> None:
    actors = set()
    for number in range(2):
        git(tmp_path, "init", "-q", str(number))
        keyring = Keyring.of(Repository.open(str(tmp_path / str(number)), os.environ))
        actors.add(keyring.init("x").actor)
    assert len(actors) == 2


def test_the_private_key_is_in_no_representation(keyring: Keyring) -> None:
    identity = keyring.active()
    assert keys.encode_b64(identity.private_key) not in repr(identity)
    assert identity.actor in repr(identity)


# --- damage -------------------------------------------------------------------------------------


def _edit(**changes: Any) -> bytes:
    value = json.loads((KEYS / "alice.identity.json").read_text())
    value = {k: v for k, v in {**value, **changes}.items() if v is not ...}
    return json.dumps(value).encode()


BOB_PRIVATE = json.loads((KEYS / "bob.identity.json").read_text())["privateKey"]
ALICE_RECORD = json.loads((KEYS / "alice.identity.json").read_text())
# Alice's public key behind a seed that is not hers.
OTHER_SEED = keys.encode_b64(bytes(32) + keys.decode_b64(ALICE_RECORD["publicKey"]))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "invalid JSON"),
        (b"\xff", "UTF-8"),
        (b"[]", "object"),
        (_edit() + b"x", "exactly one value"),
        (_edit(version=2), "version"),
        (_edit(version="1"), "version"),
        (_edit(lifecycle="revoked"), "lifecycle"),
        (_edit(extra="x"), "unknown field"),
        (_edit(actor="0" * 64), "actor does not match"),
        (_edit(actor=...), "actor does not match"),
        (_edit(privateKey=BOB_PRIVATE), "do not belong together"),
        (_edit(privateKey=ALICE_RECORD["publicKey"]), "do not belong together"),
        (
            _edit(privateKey=keys.encode_b64(bytes(32) + keys.decode_b64(ALICE_RECORD["publicKey"]))),
            "together",
        ),
        (_edit(privateKey=ALICE_RECORD["privateKey"] + "=="), "base64"),
        (_edit(publicKey="!"), "base64"),
        (_edit(name=7), "name must be a string"),
        (b'{"version":1,' + _edit()[1:], "duplicate"),
        (b" " * (65 << 10), "larger than 65536 bytes"),
    ],
)
def test_a_damaged_record_is_refused_without_repeating_it(
    keyring: Keyring, repository: Path, data: bytes, reason: str
) -> None:
    path = Path(keyring.path(ACTORS["alice"]))
    path.write_bytes(data)
    with pytest.raises(InvalidKeyring) as caught:
        keyring.active()
    assert reason in caught.value.message
    for secret in (BOB_PRIVATE, ALICE_RECORD["privateKey"]):
        assert secret not in caught.value.message
    result = hn(repository, "identity", "show")
    assert (result.exit, result.stdout) == (1, "")
    assert path.read_bytes() == data


def test_a_record_under_another_actors_name_is_refused(keyring: Keyring) -> None:
    Path(keyring.path(ACTORS["alice"])).write_bytes((KEYS / "bob.identity.json").read_bytes())
    with pytest.raises(InvalidKeyring, match="another actor"):
        keyring.active()


@pytest.mark.parametrize("data", ["", "x\n", ACTORS["alice"], ACTORS["alice"] + "\n\n"])
def test_a_damaged_active_marker_is_refused(keyring: Keyring, data: str) -> None:
    (Path(keyring.directory) / "active").write_text(data)
    with pytest.raises(InvalidKeyring, match="active marker"):
        keyring.active()


def test_an_active_marker_without_its_record_is_not_found(keyring: Keyring) -> None:
    os.unlink(keyring.path(ACTORS["alice"]))
    with pytest.raises(NotFound, match="no identity record"):
        keyring.active()


@pytest.mark.parametrize("name", ["", "identities", "active", "record"])
def test_other_modes_than_the_exact_ones_are_refused(keyring: Keyring, name: str) -> None:
    path = Path(keyring.path(ACTORS["alice"])) if name == "record" else Path(keyring.directory) / name
    for wrong in (0o755, 0o750, 0o500) if path.is_dir() else (0o644, 0o640, 0o400):
        path.chmod(wrong)
        with pytest.raises(InvalidKeyring, match=f"has mode {wrong:04o}"):
            keyring.active()
        assert mode(path) == wrong


@pytest.mark.parametrize("name", ["", "identities", "active", "record"])
def test_symbolic_links_are_refused(keyring: Keyring, tmp_path: Path, name: str) -> None:
    path = Path(keyring.path(ACTORS["alice"])) if name == "record" else Path(keyring.directory) / name
    target = tmp_path / "elsewhere"
    path.rename(target)
    path.symlink_to(target)
    with pytest.raises(InvalidKeyring, match="symbolic link"):
        keyring.active()


def test_what_is_neither_file_nor_directory_is_refused(keyring: Keyring) -> None:
    active = Path(keyring.directory) / "active"
    active.unlink()
    os.mkfifo(active, 0o600)
    with pytest.raises(InvalidKeyring, match="not a regular file"):
        keyring.active()
    active.unlink()
    active.mkdir(0o600)
    with pytest.raises(InvalidKeyring, match="not a regular file"):
        keyring.active()


def test_somebody_elses_files_are_refused(keyring: Keyring) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(keyring.path(ACTORS["alice"]), 12345, 12345)
    with pytest.raises(InvalidKeyring, match="another user"):
        keyring.active()


# --- init, list, backup, restore ----------------------------------------------------------------


def test_an_identity_that_is_there_is_never_replaced(keyring: Keyring) -> None:
    for damage in (lambda: None, lambda: os.unlink(Path(keyring.directory) / "active")):
        damage()
        with pytest.raises(HnError, match="identity already exists at .*" + ACTORS["alice"]):
            keyring.init("x")
        assert keyring.actors() == [ACTORS["alice"]]


def test_two_inits_at_once_leave_one_identity(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = Keyring.of(Repository.open(str(repository), os.environ))
    first = keyring.init("first")
    monkeypatch.setattr(Keyring, "_existing", lambda self: None)  # the other one looked before
    with pytest.raises(HnError, match="identity already exists"):
        keyring.init("second")
    assert keyring.active().name == first.name
    assert keyring.actors() == [first.actor]
    assert sorted(os.listdir(keyring.directory)) == ["active", "identities"]


def test_list_names_every_identity_and_which_is_active(keyring: Keyring, repository: Path) -> None:
    bob = Path(keyring.path(ACTORS["bob"]))
    bob.write_bytes((KEYS / "bob.identity.json").read_bytes())
    bob.chmod(0o600)
    (bob.parent / "notes.txt").write_text("x")
    assert hn(repository, "identity", "list").stdout.splitlines() == [
        f"{ACTORS['bob']}  inactive Bob Agent",
        f"{ACTORS['alice']}  active   Alice Agent",
    ]


def test_list_of_no_keyring_is_empty(repository: Path) -> None:
    assert hn(repository, "identity", "list") == (0, "", "")


def test_a_backup_moves_a_key_to_another_disk(keyring: Keyring, repository: Path, tmp_path: Path) -> None:
    made = hn(repository, "identity", "backup", "my key.json")
    assert made.exit == 0
    backup = repository / "my key.json"
    assert mode(backup) == 0o600
    assert ALICE_RECORD["privateKey"] not in made.stdout + made.stderr
    assert backup.read_bytes() == Path(keyring.path(ACTORS["alice"])).read_bytes()
    git(tmp_path, "init", "-q", "new disk")
    new = tmp_path / "new disk"
    restored = hn(new, "identity", "restore", str(backup))
    assert restored.exit == 0
    assert ALICE_RECORD["privateKey"] not in restored.stdout + restored.stderr
    assert hn(new, "identity", "public").stdout == hn(repository, "identity", "public").stdout
    assert hn(new, "identity", "restore", str(backup)).exit == 0  # the same again changes nothing


def test_backup_overwrites_nothing_and_needs_a_place(keyring: Keyring, repository: Path) -> None:
    there = hn(repository, "identity", "backup", "README.md")
    assert (there.exit, "already exists" in there.stderr) == (1, True)
    (repository / "link").symlink_to("nowhere")
    assert hn(repository, "identity", "backup", "link").exit == 1
    nowhere = hn(repository, "identity", "backup", "no/where")
    assert (nowhere.exit, "is not a directory" in nowhere.stderr) == (1, True)
    assert not (repository / "nowhere").exists()


def test_restore_refuses_what_is_unsafe_damaged_or_somebody_else(repository: Path, tmp_path: Path) -> None:
    keyring = Keyring.of(Repository.open(str(repository), os.environ))
    backup = tmp_path / "key.json"
    with pytest.raises(NotFound, match="no backup"):
        keyring.restore(str(backup))
    backup.write_bytes((KEYS / "bob.identity.json").read_bytes())
    backup.chmod(0o644)
    with pytest.raises(InvalidKeyring, match="mode 0644"):
        keyring.restore(str(backup))
    backup.chmod(0o600)
    backup.write_bytes(b"{}")
    with pytest.raises(InvalidKeyring, match="identity backup"):
        keyring.restore(str(backup))
    backup.write_bytes(b"x" * (65 << 10))
    with pytest.raises(InvalidKeyring, match="larger than"):
        keyring.restore(str(backup))
    assert keyring.active_actor() is None
    backup.write_bytes((KEYS / "bob.identity.json").read_bytes())
    assert keyring.restore(str(backup)).name == "Bob Agent"
    other = tmp_path / "other.json"
    other.write_bytes((KEYS / "alice.identity.json").read_bytes())
    other.chmod(0o600)
    with pytest.raises(HnError, match="identity already exists"):
        keyring.restore(str(other))
    assert keyring.active().name == "Bob Agent"


def test_backup_and_restore_take_exactly_one_file(repository: Path) -> None:
    for argv in (("backup",), ("restore",), ("restore", "a", "b"), ("show", "x"), ("list", "x")):
        result = hn(repository, "identity", *argv)
        assert result.exit == 2
        assert result.stderr.startswith(f"hn: usage: hn identity {argv[0]}")


def test_names(repository: Path) -> None:
    assert checked_name("  ") == ANONYMOUS
    assert checked_name(" a ") == "a"
    for name in (".", "<>", ",;", '"'):
        with pytest.raises(HnError, match="does not accept"):
            checked_name(name)
    repo = Repository.open(str(repository), os.environ)
    assert configured_name(repo) == "Test Person"
    (Path(os.environ["HOME"]) / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    assert configured_name(repo) == ""
    assert hn(repository, "init").stdout.startswith("Created identity anonymous (")


def test_a_name_that_could_not_be_kept_is_refused_before_anything_is_made(repository: Path) -> None:
    refused = hn(repository, "init", "--name", "a\udcffb")
    assert (refused.exit, refused.stderr) == (
        1,
        "hn: identity name is not valid UTF-8; nothing was changed\n",
    )
    refused = hn(repository, "init", "--name", "a" * MAX_KEYRING_BYTES)
    assert (refused.exit, refused.stderr) == (
        1,
        "hn: identity record would exceed 65536 bytes; nothing was changed\n",
    )
    assert not (repository / ".git" / "hn").exists()
    longest = "é<" + "a" * (MAX_KEYRING_BYTES - len(Identity("é<", bytes(64)).to_bytes()))
    assert hn(repository, "init", "--name", longest).exit == 0
    assert hn(repository, "identity", "show").stdout.startswith("Name:   é<aaa")


def test_an_identity_whose_init_was_killed_is_named_with_what_activates_it(
    keyring: Keyring, repository: Path
) -> None:
    os.unlink(Path(keyring.directory) / "active")
    done = hn(repository, "init")
    assert done.exit == 1
    assert f"(hn identity restore {keyring.path(ACTORS['alice'])} activates it)" in done.stderr
    assert hn(repository, "identity", "restore", keyring.path(ACTORS["alice"])).exit == 0
    assert keyring.active().actor == ACTORS["alice"]
    assert "already exists" in hn(repository, "init").stderr
