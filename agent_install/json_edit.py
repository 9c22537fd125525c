"""Adding the suite's entries to a JSON settings file, and taking them out, by text surgery.

``add`` and ``remove`` are inverses on the text: what was there keeps its bytes, order,
comments, indentation, line ends and byte-order mark. Each result is parsed again and
compared with what it has to mean; a difference is an error and nothing is written.

Settings of all JSON harnesses have the same outline, ``{"hooks": {EVENT: [ENTRY, …]}}``.
An entry is ours when a ``command`` or ``bash`` string in it holds the marker, directly or
in its own ``hooks`` array (which the user may have rearranged).
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_base.errors import SuiteError
from agent_install.jsonc import Item, Node, NotJson, is_plain, kind_of, loads, outline

BOM = "\ufeff"
_COMMAND_KEYS = ("command", "bash")
_BLANK = " \t\r\n"
_COMMENTS = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
# What a file that the installer makes holds besides the hooks.
_NEW: tuple[dict[str, Any], ...] = ({}, {"version": 1})

Hooks = Mapping[str, Sequence[Mapping[str, Any]]]
# Container → its text between the brackets where it had no items, else "". See ``shape``.
Shape = Mapping[str, str]
FILE, ROOT, HOOKS = "file", "root", "hooks"


class WrongShape(SuiteError):
    """The settings parse, but something of another type stands where hooks have to go."""

    code = "wrong-shape"


class _Text:
    """Decoded settings: text without its byte-order mark, and its habits."""

    def __init__(self, data: bytes) -> None:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotJson(f"byte {error.start} is not UTF-8") from error
        self.bom = text.startswith(BOM)
        self.text = text[len(BOM) :] if self.bom else text
        first = self.text.find("\n")
        self.newline = "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def encode(self, text: str) -> bytes:
        return ((BOM if self.bom else "") + text).encode("utf-8")


# ---------------------------------------------------------------- layout


def _line_indent(text: str, at: int) -> str | None:
    """The indentation before ``at`` when nothing else stands before it on its line."""
    start = text.rfind("\n", 0, at) + 1
    before = text[start:at]
    return before if not before.strip(" \t") and (start or not at) else None


def _unit(text: str, root: Node) -> str:
    """One level of indentation, from the first nested line that shows it."""
    pending = [(root, "")]
    while pending:
        node, outer = pending.pop(0)
        for item in node.items[:50]:
            indent = _line_indent(text, item.start)
            if indent is not None and "\n" in text[node.start : item.start]:
                if indent != outer and indent.startswith(outer):
                    return indent[len(outer) :]
                if item.value.items:
                    pending.append((item.value, indent))
    return "  "


def _is_inline(text: str, node: Node, root: Node) -> bool:
    """Whether the container's items stand on one line with its bracket."""
    if node.items:
        return "\n" not in text[node.start : node.items[0].start]
    return bool(root.items) and "\n" not in text[root.start : root.end]


def _content_end(text: str, node: Node) -> int:
    """End of the last token or comment inside the container (white space before its bracket excluded)."""
    last = node.items[-1] if node.items else None
    at = node.start + 1 if last is None else (last.comma + 1 if last.comma >= 0 else last.value.end)
    close = node.end - 1
    return at + len(text[at:close].rstrip(_BLANK))


def _ends_in_line_comment(text: str, node: Node) -> bool:
    """Whether what is put at the container's end on the same line would be part of a comment."""
    start = node.items[-1].value.end if node.items else node.start + 1
    comments = _COMMENTS.findall(text[start : _content_end(text, node)])
    return bool(comments) and comments[-1].startswith("//")


def _dump(value: Any, indent: str, unit: str, newline: str, inline: bool, loose: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False, separators=(", ", ": ") if loose else (",", ":"))
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def _insert(doc: _Text, text: str, root: Node, node: Node, key: str | None, value: Any, outer: str) -> str:
    """``text`` with one more item at the end of the container ``node``.

    Args:
        outer: indentation of the line on which the container's bracket closes, where it has to be made up.
    """
    unit = _unit(text, root)
    inline = _is_inline(text, node, root) and not _ends_in_line_comment(text, node)
    loose = not re.search(r'":[^\s]', text)
    own_line = None if inline or not node.items else _line_indent(text, node.items[-1].start)
    indent = own_line if own_line is not None else outer + unit
    body = _dump(value, indent, unit, doc.newline, inline, loose)
    if key is not None:
        body = json.dumps(key, ensure_ascii=False) + (": " if loose or not inline else ":") + body
    at, close = _content_end(text, node), node.end - 1
    last = node.items[-1] if node.items else None
    between = (" " if loose and last is not None else "") if inline else doc.newline + indent
    if last is not None and last.comma >= 0:
        return text[:at] + between + body + "," + text[at:]
    tail = text[at:]
    if last is None and not inline and "\n" not in text[at:close]:
        tail = doc.newline + outer + text[close:]
    head = text[:at]
    if last is not None:
        head = text[: last.value.end] + "," + text[last.value.end : at]
    elif not inline and head.endswith(("\n", "\r")):
        between = indent
    return head + between + body + tail


def _delete(text: str, node: Node, index: int) -> str:
    """``text`` without the container's item ``index``: the inverse of ``_insert``."""
    item = node.items[index]
    before = node.items[index - 1] if index else None
    start = node.start + 1 if before is None else before.comma + 1
    start += len(text[start : item.start].rstrip(" \t\r\n"))  # comments before the item stay
    end = item.comma + 1 if item.comma >= 0 else item.value.end
    if item.comma < 0 and before is not None:
        return text[: before.comma] + text[before.comma + 1 : start] + text[end:]
    result = text[:start] + text[end:]
    close = node.end - 1 - (end - start)
    if len(node.items) == 1 and not result[node.start + 1 : close].strip():
        result = result[: node.start + 1] + result[close:]
    return result


# ---------------------------------------------------------------- recognising


def _has_marker(value: Any, marker: str) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(key), str) and marker in value[key] for key in _COMMAND_KEYS
    )


def _inner(entry: Node) -> Node | None:
    """The ``hooks`` array of a matcher group."""
    member = entry.member("hooks") if entry.kind == "object" else None
    return member.value if member is not None and member.value.kind == "array" else None


def _verdict(entry: Node, marker: str) -> tuple[bool, list[int]]:
    """Whether the whole entry is ours, and else which handlers in its ``hooks`` are."""
    value = entry.plain()
    if _has_marker(value, marker):
        return True, []
    inner = _inner(entry)
    if inner is None:
        return False, []
    ours = [i for i, item in enumerate(inner.items) if _has_marker(item.value.plain(), marker)]
    return bool(ours) and len(ours) == len(inner.items), ours


def entries(data: bytes, marker: str) -> dict[str, list[Any]]:
    """The suite's own entries by event (a handler inside a foreign group is given alone)."""
    document = _load(data)
    if document is None:
        return {}
    found: dict[str, list[Any]] = {}
    for event in _events(outline(document[0].text, "hooks")):
        for item in event.value.items:
            whole, ours = _verdict(item.value, marker)
            inner = _inner(item.value)
            if whole:
                found.setdefault(str(event.key), []).append(item.value.plain())
            elif inner is not None:
                found.setdefault(str(event.key), []).extend(inner.items[i].value.plain() for i in ours)
    return {event: values for event, values in found.items() if values}


def _load(data: bytes) -> tuple[_Text, dict[str, Any]] | None:
    """Document and value, or None for an empty file."""
    doc = _Text(data)
    if not doc.text.strip(" \t\r\n"):
        return None
    value = loads(doc.text)
    if not isinstance(value, dict):
        raise WrongShape(f"expected an object at the top, found {kind_of(value)}")
    return doc, value


def _events(root: Node) -> list[Item]:
    """The event members of ``hooks`` that hold arrays."""
    hooks = root.member("hooks")
    if hooks is None or hooks.value.kind != "object":
        return []
    return [item for item in hooks.value.items if item.value.kind == "array"]


# ---------------------------------------------------------------- the two operations


def add(data: bytes | None, wanted: Hooks, defaults: Mapping[str, Any] | None = None) -> bytes:
    """``data`` with ``wanted`` entries appended to the arrays of their events.

    Args:
        data: the settings file, or None when there is none.
        wanted: event → entries.
        defaults: other members of the root that a new file gets, before ``hooks`` (``version``).

    Raises:
        NotJson, WrongShape: nothing could be done.
    """
    document = None if data is None else _load(data)
    if document is None:
        doc = _Text(data or b"")
        value = {**(defaults or {}), "hooks": {event: list(group) for event, group in wanted.items()}}
        text = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", doc.newline) + doc.newline
        return doc.encode(text)
    doc, expected = document
    text = doc.text
    for event, group in wanted.items():
        for entry in group:
            text = _add_one(doc, text, event, entry)
            _expect(expected, event).append(copy.deepcopy(entry))
    return _checked(doc, text, expected)


def _expect(value: dict[str, Any], event: str) -> list[Any]:
    array: list[Any] = value.setdefault("hooks", {}).setdefault(event, [])
    return array


def _add_one(doc: _Text, text: str, event: str, entry: Any) -> str:
    root = outline(text, "hooks")
    hooks = root.member("hooks")
    if hooks is None:
        return _insert(doc, text, root, root, "hooks", {event: [entry]}, "")
    if hooks.value.kind != "object":
        raise WrongShape(f'expected an object at "hooks", found {kind_of(hooks.value.plain())}')
    unit = _unit(text, root)
    outer = _line_indent(text, hooks.start)
    outer = unit if outer is None else outer
    array = hooks.value.member(event)
    if array is None:
        return _insert(doc, text, root, hooks.value, event, [entry], outer)
    if array.value.kind != "array":
        raise WrongShape(f'expected an array at "hooks"."{event}", found {kind_of(array.value.plain())}')
    own = _line_indent(text, array.start)
    return _insert(doc, text, root, array.value, None, entry, outer + unit if own is None else own)


def remove(data: bytes, marker: str, before: Shape | None = None) -> bytes:
    """``data`` without the suite's entries; arrays and the ``hooks`` object go when that empties them.

    Args:
        before: ``shape`` of the file before the suite came. Containers in it stay even when empty, and
            then hold the white space that they held.
    """
    document = _load(data)
    if document is None:
        return data
    doc, expected = document
    before = before or {}
    text = doc.text
    touched: set[str] = set()
    while True:
        step = _remove_one(text, marker)
        if step is None:
            break
        text, event = step
        touched.add(event)
    if not touched:
        return data
    _expect_removed(expected, marker)
    for event in sorted(event for event in touched if f"{HOOKS}.{event}" not in before):
        pruned = _prune(text, ("hooks", event))
        if pruned != text:
            text = pruned
            del expected["hooks"][event]
    if HOOKS not in before:
        pruned = _prune(text, ("hooks",))
        if pruned != text:
            text = pruned
            del expected["hooks"]
    if FILE in before and _is_bare(text, expected):
        return doc.encode(before[FILE])
    for name in (*(f"{HOOKS}.{event}" for event in sorted(touched)), HOOKS, ROOT):
        text = _as_before(text, name, before.get(name, ""))
    return _checked(doc, text, expected)


def _remove_one(text: str, marker: str) -> tuple[str, str] | None:
    for event in _events(outline(text, "hooks")):
        for index, item in enumerate(event.value.items):
            whole, ours = _verdict(item.value, marker)
            if whole:
                return _delete(text, event.value, index), str(event.key)
            inner = _inner(item.value)
            if ours and inner is not None:
                return _delete(text, inner, ours[0]), str(event.key)
    return None


def _expect_removed(value: dict[str, Any], marker: str) -> None:
    """The same removal on plain values, computed without the text."""
    for event, array in value["hooks"].items():
        if not isinstance(array, list):
            continue
        kept = []
        for entry in array:
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            if _has_marker(entry, marker):
                continue
            if isinstance(inner, list) and any(_has_marker(h, marker) for h in inner):
                entry["hooks"] = [h for h in inner if not _has_marker(h, marker)]
                if not entry["hooks"]:
                    continue
            kept.append(entry)
        value["hooks"][event] = kept


def _prune(text: str, path: Sequence[str]) -> str:
    """Without the member at ``path`` if it is an empty container; one with a comment in it stays."""
    node = outline(text, path[0])
    for key in path[:-1]:
        item = node.member(key)
        if item is None:
            return text
        node = item.value
    for index in reversed(range(len(node.items))):
        if node.items[index].key == path[-1]:
            value = node.items[index].value
            if value.items or text[value.start + 1 : value.end - 1].strip():
                return text
            return _delete(text, node, index)
    return text


def _checked(doc: _Text, text: str, expected: Any) -> bytes:
    """Encode, after proving that the text means what it has to, and that plain JSON stayed plain."""
    if loads(text) != expected or (is_plain(doc.text) and not is_plain(text)):
        raise WrongShape("the edited settings would not mean what they should; nothing was changed")
    return doc.encode(text)


def _container(text: str, name: str) -> Node | None:
    """The root, ``hooks``, or the array of an event; None where there is no such container."""
    node = outline(text, HOOKS)
    for key in name.split(".", 1) if name != ROOT else ():
        item = node.member(key)
        if item is None or item.value.kind not in ("object", "array"):
            return None
        node = item.value
    return node


def _as_before(text: str, name: str, inside: str) -> str:
    """``text`` with the white space that a container without items held, comments being the same."""
    node = _container(text, name) if inside else None
    if node is None or node.items:
        return text
    start, end = node.start + 1, node.end - 1
    same = text[start:end].strip(_BLANK) == inside.strip(_BLANK)
    return text[:start] + inside + text[end:] if same else text


def shape(data: bytes | None) -> dict[str, str]:
    """The containers that a file has before anything is added, for ``remove``.

    Keys are ``ROOT``, ``HOOKS`` and ``hooks.EVENT``; values the text between the brackets where
    there are no items, else "". Of a file of nothing but white space ``FILE`` gives that.
    """
    if data is None:
        return {}
    document = _load(data)
    if document is None:
        return {FILE: _Text(data).text}
    doc, value = document
    names = [ROOT]
    if isinstance(value.get(HOOKS), dict):
        names += [HOOKS, *(f"{HOOKS}.{event}" for event in value[HOOKS])]
    found = {}
    for name in names:
        node = _container(doc.text, name)
        found[name] = "" if node is None or node.items else doc.text[node.start + 1 : node.end - 1]
    return found


def is_bare(data: bytes) -> bool:
    """Whether a file holds nothing but what the installer gives a new one besides the hooks."""
    document = _load(data)
    return document is None or _is_bare(document[0].text, document[1])


def _is_bare(text: str, value: Any) -> bool:
    return value in _NEW and not _COMMENTS.search(text)
