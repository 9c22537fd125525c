"""Elements of a page that are text and markup by construction.

``el`` makes an element; what it is given as a child or as an attribute's value is text, and is made
inert (``agent_base.inert.html``), unless it is an element itself. There is no other way to make a
``Markup`` but ``raw``, for what this package wrote: a style sheet, a script. So no text of an author can
become an element or an attribute, wherever it is put. A template engine would have to be told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from agent_base import inert

VOID = frozenset({"br", "input", "link", "meta"})


class Markup:
    """A piece of a page. ``text`` goes into it as it is."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Markup({self.text!r})"


Child: TypeAlias = "Markup | str | int | Iterable[Child] | None"
Value: TypeAlias = "str | int | float | bool | None"


def raw(text: str) -> Markup:
    """Text of ours that is markup already. Never an author's."""
    return Markup(text)


def render(child: Child) -> str:
    """The bytes of a child: an element as it is, text inert, nothing for None, a sequence joined."""
    if isinstance(child, Markup):
        return child.text
    if child is None:
        return ""
    if isinstance(child, str):
        return inert.html(child)
    if isinstance(child, int):
        return str(child)
    return "".join(render(one) for one in child)


def el(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """An element. ``class_`` is the attribute class, ``aria_label`` is aria-label; True is an attribute
    without a value, None and False none."""
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(attribute)
        else:
            shown = f"{value:g}" if isinstance(value, float) else inert.html(str(value))
            words.append(f'{attribute}="{shown}"')
    start = f"<{' '.join(words)}>"
    return Markup(start if name in VOID else f"{start}{render(children)}</{name}>")


def joined(separator: Child, children: Iterable[Child]) -> list[Child]:
    """``children`` with ``separator`` between them."""
    out: list[Child] = []
    for child in children:
        out += [separator, child] if out else [child]
    return out
