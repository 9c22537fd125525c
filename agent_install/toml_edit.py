"""Adding the suite's hooks to Codex's ``config.toml``, and taking them out, by text surgery.

Used only where the user's hooks already are in ``config.toml``: Codex warns when a layer has
both that and ``hooks.json``. Tables are appended at the end, each below a comment of its own;
removal goes by the marker in a command, whatever else Codex or the user has moved about.
Both results are parsed with ``tomllib`` and compared with what they have to mean.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from agent_base.errors import SuiteError
from agent_install.json_edit import BOM, Hooks, WrongShape

COMMENT = "# agent-hook-suite: made by its installer, gone with `./install.sh --uninstall`"


class NotToml(SuiteError):
    """The text is not TOML."""

    code = "not-toml"


# A token inside which a line that looks like a table header is none.
_OPAQUE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def _load(data: bytes) -> tuple[str, str, dict[str, Any]]:
    """Byte-order mark, text and value."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotToml(f"byte {error.start} is not UTF-8") from error
    bom, text = (BOM, text[len(BOM) :]) if text.startswith(BOM) else ("", text)
    try:
        return bom, text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from error
    except RecursionError as error:
        raise NotToml("nested too deeply") from error


def has_hooks(data: bytes) -> bool:
    """Whether the configuration itself declares hooks (stored trust is none)."""
    hooks = _load(data)[2].get("hooks")
    return isinstance(hooks, dict) and any(isinstance(value, list) for value in hooks.values())


def entries(data: bytes, marker: str) -> dict[str, list[Any]]:
    """The suite's own entries by event."""
    return _ours(_load(data)[2], marker)


def _ours(value: dict[str, Any], marker: str) -> dict[str, list[Any]]:
    hooks = value.get("hooks")
    found: dict[str, list[Any]] = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        ours = [group for group in groups if _is_ours(group, marker)] if isinstance(groups, list) else []
        if ours:
            found[event] = ours
    return found


def _is_ours(group: Any, marker: str) -> bool:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return (
        isinstance(handlers, list)
        and bool(handlers)
        and all(isinstance(h, dict) and marker in str(h.get("command", "")) for h in handlers)
    )


def add(data: bytes, wanted: Hooks) -> bytes:
    """``data`` with the wanted groups appended as tables.

    Raises:
        NotToml, WrongShape: nothing could be done.
    """
    bom, text, value = _load(data)
    newline = "\r\n" if "\r\n" in text else "\n"
    hooks = value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise WrongShape("expected a table at hooks")
    for event in wanted:
        if not isinstance(hooks.get(event, []), list):
            raise WrongShape(f"expected an array of tables at hooks.{event}")
    expected = copy.deepcopy(value)
    blocks = []
    for event, groups in wanted.items():
        for group in groups:
            blocks.append(_table(event, group))
            expected.setdefault("hooks", {}).setdefault(event, []).append(dict(group))
    lead = "" if not text or text.endswith("\n") else newline
    edited = text + lead + "".join(newline + block.replace("\n", newline) for block in blocks)
    return _checked(bom, edited, expected)


def _table(event: str, group: Any) -> str:
    lines = [COMMENT, f"[[hooks.{event}]]"]
    lines += [f"{key} = {_literal(value)}" for key, value in group.items() if key != "hooks"]
    for handler in group["hooks"]:
        lines.append(f"[[hooks.{event}.hooks]]")
        lines += [f"{key} = {_literal(value)}" for key, value in handler.items()]
    return "\n".join(lines) + "\n"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    # A JSON string is a TOML basic string but for DEL, which JSON leaves as it is.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")


def _header_lines(text: str) -> list[tuple[int, str]]:
    """Offset and name of every table header, in order."""
    opaque = [(found.start(), found.end()) for found in _OPAQUE.finditer(text)]
    found = []
    index = 0
    for match in _HEADER.finditer(text):
        at = match.end() - 1
        while index < len(opaque) and opaque[index][1] <= at:
            index += 1
        if index < len(opaque) and opaque[index][0] < at:
            continue
        line = text[at:].split("\n", 1)[0]
        name = re.match(r"\[\[?\s*((?:[^\[\]\"']|\"(?:[^\"\\]|\\.)*\"|'[^']*')+?)\s*\]\]?", line)
        if name is not None:
            found.append((match.start(), ("[[" if line.startswith("[[") else "[") + name.group(1)))
    return found


def remove(data: bytes, marker: str) -> bytes:
    """``data`` without the suite's groups: the inverse of ``add``.

    Raises:
        NotToml: it does not parse. WrongShape: the tables could not be told apart.
    """
    data = remove_trust(data)
    bom, text, value = _load(data)
    ours = _ours(value, marker)
    if not ours:
        return data
    expected = copy.deepcopy(value)
    for event in ours:
        expected["hooks"][event] = [g for g in expected["hooks"][event] if not _is_ours(g, marker)]
    for start, end in reversed(_spans(text, ours, marker)):
        text = text[:start] + text[end:]
    for event in ours:
        _drop_if_gone(expected, text, "hooks", event)
    _drop_if_gone(expected, text, "hooks")
    return _checked(bom, text, expected)


def _spans(text: str, ours: dict[str, list[Any]], marker: str) -> list[tuple[int, int]]:
    """Which stretches hold our tables: from a group's comment to the last line of its own."""
    headers = _header_lines(text)
    spans = []
    for number, (start, name) in enumerate(headers):
        event = name.removeprefix("[[hooks.")
        if event == name or event not in ours:
            continue
        last = number
        while last + 1 < len(headers) and headers[last + 1][1] == f"[[hooks.{event}.hooks":
            last += 1
        end = headers[last + 1][0] if last + 1 < len(headers) else len(text)
        body = text[start:end]
        if marker not in body:
            continue
        end = start + _own_lines(body)
        before = text[:start]
        line = before.rstrip("\r\n").rfind("\n") + 1
        if before[line:].strip() == COMMENT:
            start = line
        spans.append((_blank_before(text, start), end))
    return spans


def _blank_before(text: str, start: int) -> int:
    """``start`` moved over the one blank line that ``add`` put before a table."""
    for newline in ("\r\n", "\n"):
        if text[:start].endswith(newline):
            return start - len(newline)
    return start


def _own_lines(body: str) -> int:
    """Length of a table's lines without the blank lines and comments that follow: the next one's."""
    end = at = 0
    for line in body.split("\n"):
        at = min(at + len(line) + 1, len(body))
        if line.strip() and not line.lstrip().startswith("#"):
            end = at
    return end


def add_trust(data: bytes, hashes: Mapping[str, str]) -> bytes:
    """``data`` with trust in the hooks of these keys stored as Codex stores it.

    Args:
        hashes: hook key → current hash, both as Codex names them.

    Raises:
        NotToml, WrongShape: nothing could be done.
    """
    bom, text, value = _load(remove_trust(data))
    newline = "\r\n" if "\r\n" in text else "\n"
    expected = copy.deepcopy(value)
    for key, trusted in hashes.items():
        state = expected.setdefault("hooks", {}).setdefault("state", {})
        if key in state:
            raise WrongShape(
                f"trust of {key} is stored already, for another definition", "use /hooks in Codex"
            )
        state[key] = {"trusted_hash": trusted}
        if text and not text.endswith("\n"):
            text += newline
        block = f"\n{COMMENT}\n[hooks.state.{_literal(key)}]\ntrusted_hash = {_literal(trusted)}\n"
        text += block.replace("\n", newline)
    return _checked(bom, text, expected)


def trusted(data: bytes) -> dict[str, Any]:
    """The stored trust by hook key."""
    hooks = _load(data)[2].get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    return dict(state) if isinstance(state, dict) else {}


def remove_trust(data: bytes) -> bytes:
    """``data`` without the trust that ``add_trust`` stored."""
    bom, text, value = _load(data)
    expected = copy.deepcopy(value)
    headers = _header_lines(text)
    for number, (start, name) in reversed(list(enumerate(headers))):
        line = text[:start].rstrip("\r\n").rfind("\n") + 1
        if not name.startswith("[hooks.state.") or text[line:start].strip() != COMMENT:
            continue
        end = headers[number + 1][0] if number + 1 < len(headers) else len(text)
        end = start + _own_lines(text[start:end])
        for key in tomllib.loads(text[start:end])["hooks"]["state"]:
            del expected["hooks"]["state"][key]
        text = text[: _blank_before(text, line)] + text[end:]
    _drop_if_gone(expected, text, "hooks", "state")
    _drop_if_gone(expected, text, "hooks")
    return _checked(bom, text, expected)


def _drop_if_gone(expected: dict[str, Any], text: str, *path: str) -> None:
    """Take an emptied table or array out of ``expected`` when nothing else in ``text`` declares it."""
    found: Any = _parsed(text)
    inside: Any = expected
    *outer, last = path
    for key in outer:
        found, inside = found.get(key, {}), inside.get(key, {})
    if isinstance(inside, dict) and not inside.get(last, True) and last not in found:
        del inside[last]


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WrongShape(f"hooks are declared in a way that cannot be extended here ({error})") from error


def _checked(bom: str, text: str, expected: dict[str, Any]) -> bytes:
    if _parsed(text) != expected:
        raise WrongShape("the edited configuration would not mean what it should; nothing was changed")
    return (bom + text).encode("utf-8")
