"""What each harness's configuration has to become, and what it was before: planning, no writing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_base.errors import SuiteError
from agent_base.shell import command
from agent_install import adapters, json_edit, toml_edit
from agent_install.changes import Change, check_writable, read
from agent_install.harnesses import Harness
from agent_install.jsonc import NotJson
from agent_install.manifest import Entry, Manifest, digest

MARKER = adapters.COMMAND_MARKER
_NEW_FILE = 0o600


class Refused(SuiteError):
    """A configuration that was left exactly as it is."""

    code = "refused"


def config_path(harness: Harness, env: Mapping[str, str], manifest: Manifest) -> str:
    """Which file the harness's hooks go into: for Codex, where the user's own hooks are."""
    path = harness.config(env)
    if harness.kind != "codex":
        return path
    toml = path.removesuffix("hooks.json") + "config.toml"
    for known in (path, toml):
        if known in manifest.files and manifest.files[known].owner == "harness:codex":
            return known
    data = read(toml)[0]
    if data is None or read(path)[0] is not None:
        return path
    try:
        return toml if toml_edit.has_hooks(data) else path
    except toml_edit.NotToml as error:
        raise Refused(
            f"{toml} does not parse ({error.message}); it was left as it is, and so was {path}"
        ) from error


def wire(harness: Harness, env: Mapping[str, str], hooks: str, manifest: Manifest) -> Change:
    """The change that wires a harness (perhaps none: ``is_change`` False).

    Args:
        hooks: directory of the hook launchers.

    Raises:
        Refused, Unusable: the configuration was left as it is.
    """
    path = config_path(harness, env, manifest)
    before, mode = read(path)
    owner = f"harness:{harness.name}"
    after: bytes | None
    if harness.kind == "own":
        after = own_file(harness, hooks)
        if before is not None and adapters.MARKER.encode() not in before:
            raise Refused(
                f"{path} was not made by the suite; it was left as it is",
                f"move it away: {command('mv', path)} …",
            )
        change = Change(path, before, after, 0o644, owner)
    else:
        template = adapters.load(harness.template, hooks)
        wanted = template.pop("hooks")
        try:
            original = base(path, before, manifest)
            wired = before is not None and _wired(path, before, wanted)
            after = before if wired else _add(path, original, wanted, template)
        except (NotJson, toml_edit.NotToml) as error:
            raise Refused(f"{path} does not parse ({error.message}); it was left exactly as it is") from error
        except json_edit.WrongShape as error:
            raise Refused(f"{path}: {error.message}; it was left exactly as it is") from error
        backup = not _exact(path, before, manifest)
        change = Change(path, before, after, mode or _NEW_FILE, owner, backup, original, mode)
    if change.is_change:
        check_writable(path)
    return change


def _exact(path: str, data: bytes | None, manifest: Manifest) -> bool:
    """Whether the file is as the installer left it."""
    entry = manifest.files.get(path)
    return entry is not None and data is not None and digest(data) == entry.installed


def own_file(harness: Harness, hooks: str) -> bytes:
    """A file that belongs to the suite alone."""
    if harness.template.endswith(".json"):
        value: dict[str, Any] = adapters.load(harness.template, hooks)
        return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
    return adapters.load_script(harness.template, hooks).encode()


def _wired(path: str, data: bytes, wanted: json_edit.Hooks) -> bool:
    """Whether exactly the wanted entries are there already, wherever they stand."""
    found = toml_edit.entries(data, MARKER) if path.endswith(".toml") else json_edit.entries(data, MARKER)
    return found == {event: list(groups) for event, groups in wanted.items()}


def _add(path: str, data: bytes | None, wanted: json_edit.Hooks, defaults: Mapping[str, Any]) -> bytes:
    if path.endswith(".toml"):
        return toml_edit.add(data or b"", wanted)
    return json_edit.add(data, wanted, defaults)


def base(path: str, data: bytes | None, manifest: Manifest) -> bytes | None:
    """What the file holds without the suite: what it held before, to the byte, unless somebody else
    changed it since; then what is there, with the suite's entries taken out."""
    entry = manifest.files.get(path)
    if data is None:
        return None
    if entry is not None and digest(data) == entry.installed:
        try:
            return manifest.original(entry)
        except (FileNotFoundError, SuiteError):
            pass
    if path.endswith(".toml"):
        return toml_edit.remove(data, MARKER)
    return json_edit.remove(data, MARKER, entry.kept if entry is not None else None)


def unwire(path: str, manifest: Manifest) -> Change | None:
    """The change that takes the suite out of a configuration file, or None when it is not there.

    Raises:
        Refused, Unusable: it holds entries of the suite that cannot be taken out.
    """
    entry = manifest.files.get(path)
    before, mode = read(path)
    if before is None:
        return None
    try:
        after = base(path, before, manifest)
    except (NotJson, toml_edit.NotToml, json_edit.WrongShape) as error:
        if MARKER.encode() not in before:
            return None
        raise Refused(
            f"{path}: {error.message}; the suite's entries stay in it, it was left exactly as it is",
            f"mend it and run this again, or remove the entries that contain {MARKER}",
        ) from error
    if after == before:
        return None
    exact = _exact(path, before, manifest)
    if entry is not None and entry.original is None and after is not None and _is_empty(path, after):
        after = None
    if exact and entry is not None and entry.original is not None:
        mode = entry.mode or mode
    change = Change(path, before, after, mode, entry.owner if entry else "harness", backup=not exact)
    check_writable(path)
    return change


def _is_empty(path: str, data: bytes) -> bool:
    """Whether nothing is left of a file that the installer had made."""
    if path.endswith(".toml"):
        return not data.strip()
    return json_edit.is_bare(data)


def record(change: Change, manifest: Manifest) -> Entry:
    """The manifest's entry for a change that is about to be applied."""
    assert change.after is not None
    old = manifest.files.get(change.path)
    original, kept = change.original, dict[str, str]()
    if original is not None and change.owner.startswith("harness:") and not change.path.endswith(".toml"):
        kept = json_edit.shape(original)
    mode = 0
    if original is not None:
        mode = old.mode if old is not None and old.mode else change.before_mode
    backup = old.backup if old is not None else None
    if change.backup and change.before is not None:
        backup = digest(change.before)
    return Entry(
        owner=change.owner,
        installed=digest(change.after),
        original=None if original is None else manifest.keep_original(original),
        mode=mode,
        kept=kept,
        backup=backup,
    )
