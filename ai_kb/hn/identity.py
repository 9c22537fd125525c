"""The keyring of a clone: Ed25519 identities below the Git directory, one of them active.

    <git-dir>/hn                          0700
    <git-dir>/hn/identities               0700
    <git-dir>/hn/identities/<actor>.json  0600   the private key record
    <git-dir>/hn/active                   0600   the actor that signs

Files are read with exactly these modes, owned by this user, without following a symlink, at most
64 KiB, with exactly the known fields; anything else is refused and left as it is. Writing is
atomic. The private key is never printed and is no part of any error or ``repr``.

New keyrings go to the common directory, so that they outlive a linked worktree; a worktree's own
keyring is used where there is one. docs/protocol.md, "Identity"; "Where this differs from the first
implementation", 8.
"""

from __future__ import annotations

import json
import os
import stat

from agent_base.errors import SuiteError
from agent_base.files import DIR_MODE, FILE_MODE, read_private, write_atomic
from agent_base.shell import word
from ai_kb.hn import keys
from ai_kb.hn.errors import HnError, NotFound
from ai_kb.hn.fields import is_actor
from ai_kb.hn.gitstore import Repository, quoted
from ai_kb.hn.gitwrite import clean_name
from ai_kb.hn.strictjson import Reader
from ai_kb.hn.text import is_unicode

MAX_KEYRING_BYTES = 64 << 10
ANONYMOUS = "anonymous"

_RECORD_VERSION = 1
_AVAILABLE = "available"
_FIELDS = ("version", "actor", "name", "publicKey", "privateKey", "lifecycle")
_RESTORED_HINT = "hn init makes an identity; hn identity restore FILE brings one back"


class InvalidKeyring(HnError):
    """A file or directory of the keyring is damaged or unsafe; nothing was changed."""

    code = "invalid-keyring"


class Identity:
    """A key pair and its name. ``private_key`` is the 32-byte seed and then the public key."""

    __slots__ = ("actor", "name", "private_key", "public_key")

    def __init__(self, name: str, private_key: bytes) -> None:
        self.name = name
        self.private_key = private_key
        self.public_key = private_key[keys.SEED_BYTES :]
        self.actor = keys.actor_of(self.public_key)

    def __repr__(self) -> str:
        return f"Identity(actor={self.actor!r}, name={self.name!r})"

    def to_bytes(self) -> bytes:
        """The private key record: what a keyring and a backup hold."""
        record = {
            "version": _RECORD_VERSION,
            "actor": self.actor,
            "name": self.name,
            "publicKey": keys.encode_b64(self.public_key),
            "privateKey": keys.encode_b64(self.private_key),
            "lifecycle": _AVAILABLE,
        }
        text = json.dumps(record, ensure_ascii=False, indent=2)
        # As the first implementation writes it: these characters only occur inside strings.
        for char in "<>&\u2028\u2029":
            text = text.replace(char, f"\\u{ord(char):04x}")
        return text.encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes, what: str = "identity record") -> Identity:
        """The identity in a private key record. Raises InvalidKeyring, never repeating a value."""
        reader = Reader(what, InvalidKeyring, quote_fields=False)
        fields = reader.fields(reader.load(data, limit=MAX_KEYRING_BYTES), _FIELDS)
        if reader.integer(fields, "version") != _RECORD_VERSION:
            raise reader.refuse("version is unsupported")
        if reader.text(fields, "lifecycle") != _AVAILABLE:
            raise reader.refuse("lifecycle is unsupported")
        try:
            private_key = keys.decode_b64(reader.text(fields, "privateKey"))
            public_key = keys.decode_b64(reader.text(fields, "publicKey"))
        except ValueError:
            raise reader.refuse("a key is not canonical unpadded base64") from None
        if len(private_key) != keys.PRIVATE_KEY_BYTES or private_key[keys.SEED_BYTES :] != public_key:
            raise reader.refuse("the private and the public key do not belong together")
        if keys.private_key_of_seed(private_key[: keys.SEED_BYTES]) != private_key:
            raise reader.refuse("the private and the public key do not belong together")
        identity = cls(reader.text(fields, "name"), private_key)
        if reader.text(fields, "actor") != identity.actor:
            raise reader.refuse("actor does not match the public key")
        return identity


class Keyring:
    """The identities of one clone, in ``directory`` (``<git-dir>/hn``)."""

    __slots__ = ("directory",)

    def __init__(self, directory: str) -> None:
        self.directory = directory

    @classmethod
    def of(cls, repo: Repository) -> Keyring:
        """The keyring that ``repo`` uses: this worktree's own where there is one, else the common one."""
        own = os.path.join(repo.git_dir, "hn")
        common = os.path.join(repo.common_dir, "hn")
        if own != common and (
            os.path.lexists(os.path.join(own, "active")) or os.path.lexists(os.path.join(own, "identities"))
        ):
            return cls(own)
        return cls(common)

    def path(self, actor: str) -> str:
        """Where the private key record of ``actor`` is or would be."""
        return os.path.join(self.directory, "identities", f"{actor}.json")

    def active(self) -> Identity:
        """The identity that signs. Raises NotFound when there is none, InvalidKeyring."""
        actor = self.active_actor()
        if actor is None:
            raise NotFound("no active identity in this repository", _RESTORED_HINT)
        return self.load(actor)

    def active_actor(self) -> str | None:
        """The actor named by ``active``, None when there is no such file."""
        if not self._directory_is_safe(self.directory):
            return None
        data = self._read(os.path.join(self.directory, "active"))
        if data is None:
            return None
        actor = data.decode("ascii", "replace").removesuffix("\n")
        if not is_actor(actor) or data != actor.encode() + b"\n":
            raise InvalidKeyring("the active marker of the keyring does not name one actor")
        return actor

    def load(self, actor: str) -> Identity:
        """The identity of ``actor`` in this keyring. Raises NotFound, InvalidKeyring."""
        directory = os.path.join(self.directory, "identities")
        data = None
        if self._directory_is_safe(self.directory) and self._directory_is_safe(directory):
            data = self._read(self.path(actor))
        if data is None:
            raise NotFound(f"no identity record of actor {actor} in this repository", _RESTORED_HINT)
        identity = Identity.from_bytes(data)
        if identity.actor != actor:
            raise InvalidKeyring("identity record: it belongs to another actor than its name says")
        return identity

    def actors(self) -> list[str]:
        """Actors that have a record here, sorted."""
        directory = os.path.join(self.directory, "identities")
        if not self._directory_is_safe(self.directory) or not self._directory_is_safe(directory):
            return []
        names = [name.removesuffix(".json") for name in os.listdir(directory) if name.endswith(".json")]
        return sorted(name for name in names if is_actor(name))

    def init(self, name: str) -> Identity:
        """Make a new identity and activate it. Raises HnError when there is one or Git refuses the name."""
        existing = self._existing()
        if existing is not None:
            path = self.path(existing)
            inactive = self.active_actor() is None  # removed by somebody, or whoever made it was killed
            hint = f"hn identity restore {word(path)} activates it" if inactive else ""
            raise HnError(f"identity already exists at {path}", hint)
        identity = Identity(checked_name(name), keys.generate())
        if len(identity.to_bytes()) > MAX_KEYRING_BYTES:  # what nobody would read again
            raise HnError(f"identity record would exceed {MAX_KEYRING_BYTES} bytes; nothing was changed")
        self._store(identity)
        return identity

    def restore(self, path: str) -> Identity:
        """Bring back the identity in the backup ``path`` and activate it.

        Raises HnError when another identity is here, when the file is unsafe or not 0600, or damaged.
        """
        data = _read_exact(path, "the backup")
        if data is None:
            raise NotFound(f"there is no backup at {quoted(path)}")
        identity = Identity.from_bytes(data, "identity backup")
        existing = self._existing()
        if existing not in (None, identity.actor):
            raise HnError(f"identity already exists at {self.path(str(existing))}; nothing was changed")
        self._store(identity)
        return identity

    def backup(self, path: str) -> Identity:
        """Write the active identity's private key record to the new file ``path``, 0600.

        Raises HnError when something is there already.
        """
        identity = self.active()
        if os.path.lexists(path):
            raise HnError(f"{quoted(path)} already exists; nothing was written")
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise HnError(f"{quoted(os.path.dirname(path))} is not a directory; nothing was written")
        write_atomic(path, identity.to_bytes(), mode=FILE_MODE)
        return identity

    def _existing(self) -> str | None:
        active = self.active_actor()
        if active is not None:
            return active
        actors = self.actors()
        return actors[0] if actors else None

    def _store(self, identity: Identity) -> None:
        for directory in (self.directory, os.path.join(self.directory, "identities")):
            if not self._directory_is_safe(directory):
                os.mkdir(directory, DIR_MODE)
                os.chmod(directory, DIR_MODE)  # whatever the umask
        write_atomic(self.path(identity.actor), identity.to_bytes(), mode=FILE_MODE)
        active = os.path.join(self.directory, "active")
        marker = identity.actor.encode() + b"\n"
        pending = f"{active}.{os.getpid()}"
        write_atomic(pending, marker, mode=FILE_MODE)
        try:
            os.link(pending, active)  # two that start at once cannot both become active
        except FileExistsError:
            if self.active_actor() != identity.actor:
                os.unlink(self.path(identity.actor))
                raise HnError(f"identity already exists at {self.path(str(self.active_actor()))}") from None
        finally:
            os.unlink(pending)

    def _directory_is_safe(self, path: str) -> bool:
        """Whether ``path`` is there; InvalidKeyring when it is not a private directory of this user."""
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return False
        _check_exact(path, status, directory=True)
        return True

    def _read(self, path: str) -> bytes | None:
        return _read_exact(path, "the keyring file")


def checked_name(name: str) -> str:
    """``name`` for a new identity: trimmed; ``anonymous`` when blank.

    Raises HnError for one that Git refuses or that is no UTF-8.
    """
    name = name.strip()
    if not name:
        return ANONYMOUS
    if not is_unicode(name):
        raise HnError("identity name is not valid UTF-8; nothing was changed")
    if not clean_name(name):
        raise HnError(
            f"identity name {quoted(name)} consists only of characters that Git does not accept in a name; "
            "nothing was changed"
        )
    return name


def configured_name(repo: Repository) -> str:
    """Git's ``user.name`` for ``repo``, empty when it has none."""
    status, out, _ = repo.run("config", "--get", "user.name")
    return out.decode("utf-8", "replace").removesuffix("\n") if status == 0 else ""


def _check_exact(path: str, status: os.stat_result, *, directory: bool = False) -> None:
    """Raise InvalidKeyring unless ``path`` is this user's, of the right type, with exactly the right mode."""
    mode = DIR_MODE if directory else FILE_MODE
    kind = stat.S_ISDIR if directory else stat.S_ISREG
    what = "a directory" if directory else "a regular file"
    if stat.S_ISLNK(status.st_mode):
        raise InvalidKeyring(f"{quoted(path)} is a symbolic link; it was not used")
    if not kind(status.st_mode):
        raise InvalidKeyring(f"{quoted(path)} is not {what}; it was not used")
    if status.st_uid != os.geteuid():
        raise InvalidKeyring(f"{quoted(path)} belongs to another user; it was not used")
    if stat.S_IMODE(status.st_mode) != mode:
        raise InvalidKeyring(
            f"{quoted(path)} has mode {stat.S_IMODE(status.st_mode):04o}, not {mode:04o}; it was not used",
            f"chmod {mode:o} it if you know why",
        )


def _read_exact(path: str, what: str) -> bytes | None:
    """Bytes of a file that passes ``_check_exact``, None when there is none. Raises InvalidKeyring."""
    try:
        _check_exact(path, os.lstat(path))
        return read_private(path, MAX_KEYRING_BYTES)
    except FileNotFoundError:
        return None
    except InvalidKeyring:
        raise
    except SuiteError as error:
        raise InvalidKeyring(f"{what} {error.message}") from error
    except OSError as error:
        raise InvalidKeyring(f"{what} {quoted(path)} cannot be read: {error.strerror}") from error
