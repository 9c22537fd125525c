"""Small pieces that the sections of a report's page are made of.

Everything here takes text as it was signed and gives elements (``report_html``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ai_kb import report_graph, report_time
from ai_kb.report_data import Listed
from ai_kb.report_html import Child, Markup, el

# Shapes that stand beside words; ids of the sprite's symbols.
_LIFECYCLES = ("active", "superseded", "retracted", "branching", "dependency-missing")
_SPRITE_BOX = "-9 -9 18 18"


def fragment(store: str, memory_id: str) -> str:
    """The id of a capsule's card on the page."""
    return f"c-{store}-{memory_id.removeprefix('sha256:')}"


class Links:
    """Which capsules have a card on the page; gives links to them and plain text for others."""

    def __init__(self, cards: Mapping[tuple[str, str], str]) -> None:
        self._cards = cards  # (store, id) → title

    def fragments(self) -> dict[tuple[str, str], str]:
        """(store, id) → ``#…``."""
        return {key: f"#{fragment(*key)}" for key in self._cards}

    def to(self, store: str, memory_id: str, title: str = "") -> Markup:
        """A capsule by its title, or by the beginning of its id."""
        key = (store, memory_id)
        if not store:  # a session does not say which store it was
            key = next((k for k in self._cards if k[1] == memory_id), key)
        title = title or self._cards.get(key, "")
        words: Child = text(title) if title else identifier(memory_id)
        return el("a", words, href=f"#{fragment(*key)}") if key in self._cards else el("span", words)


def text(words: str) -> Markup:
    """Text of an author inside a line of ours: its direction is its own."""
    return el("bdi", words)


def identifier(memory_id: str) -> Markup:
    """The beginning of an id: what a person types; the whole of it is one hover away."""
    digits = memory_id.removeprefix("sha256:")
    return el("code", digits[:12], title=memory_id)


def actor(name: str, key: str) -> list[Child]:
    """A claimed name, and the beginning of the key that proves who it is."""
    return [text(name or "no name"), " ", identifier(key)]


def when(timestamp: str, unknown: str = "not known") -> Markup:
    """A time in UTC."""
    if not timestamp:
        return el("span", unknown, class_="soft")
    return el("time", report_time.shown(timestamp), datetime=timestamp, class_="when")


def store_name(name: str) -> str:
    """For sentences."""
    return "home store" if name == "home" else "repository’s store"


def number(count: int) -> str:
    """A count as people write it."""
    return f"{count:,}"


def plural(count: int, one: str, many: str = "") -> str:
    """``1 capsule``, ``2 capsules``."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def listed(entries: Listed, *, code: bool = False) -> Markup:
    """A list of author texts, and how many more there are."""
    items = [el("li", el("code", text(item)) if code else text(item)) for item in entries.items]
    if entries.more:
        items.append(el("li", f"and {number(entries.more)} more", class_="soft"))
    return el("ul", items)


def table(
    caption: Child,
    heads: Sequence[str],
    rows: Iterable[Sequence[Markup]],
    label: str,
    class_: str | None = None,
) -> Markup:
    """A table that scrolls sideways where it has to; cells are ``td`` or ``th`` elements."""
    head = [
        el("th", name.removeprefix("#"), scope="col", class_="num" if name[:1] == "#" else None)
        for name in heads
    ]
    body = [el("tr", row) for row in rows]
    made = el("table", el("caption", caption), el("thead", el("tr", head)), el("tbody", body), class_=class_)
    return el("div", made, class_="scroll", role="group", tabindex=0, aria_label=label)


def cell(*children: Child, class_: str | None = None) -> Markup:
    """A data cell."""
    return el("td", *children, class_=class_)


def count_cell(count: int) -> Markup:
    """A data cell with a number."""
    return el("td", number(count), class_="num")


def section(name: str, title: str, *children: Child) -> Markup:
    """A region of the page with its heading."""
    return el(
        "section", el("h2", title, id=f"{name}-title"), children, id=name, aria_labelledby=f"{name}-title"
    )


def note(*children: Child) -> Markup:
    """An explanation below a heading."""
    return el("p", children, class_="note")


# ---------------------------------------------------------------- marks


def icon(name: str) -> Markup:
    """A mark beside words that say the same."""
    return el("svg", el("use", href=f"#mark-{name}"), class_="icon", aria_hidden="true", focusable="false")


def sprite() -> Markup:
    """What ``icon`` refers to, once per page."""
    shapes: dict[str, Child] = {
        f"{name}{'-hollow' if hollow else ''}": report_graph.symbol(name, 0, 0, hollow=hollow)
        for name in _LIFECYCLES
        for hollow in (False, True)
    }
    for name in ("retract", "challenge"):
        shapes[name] = report_graph.symbol(name, 0, 0, hollow=False)
        shapes[f"{name}-idle"] = report_graph.symbol(name, 0, 0, hollow=False, idle=True)
    shapes["flag"] = el("path", d="M-5 7v-15l12 4.5-12 4.5", class_="flag")
    shapes["clock"] = [
        el("circle", cx=0, cy=0, r=7, class_="clock"),
        el("path", d="M0-4v4l3 2", class_="clock"),
    ]
    shapes["injected"] = el("path", d="M-6-6v6a4 4 0 0 0 4 4h8m-4-4 4 4-4 4", class_="arrow")
    for name in report_graph.WORDS:
        shapes[f"line-{name}"] = el("path", d="M-9 0h18", class_=f"line {name}")
    symbols = [el("symbol", shape, id=f"mark-{name}", viewBox=_SPRITE_BOX) for name, shape in shapes.items()]
    return el("svg", el("defs", symbols), width=0, height=0, aria_hidden="true", focusable="false")


def lifecycle_icon(lifecycle: str, left_out: str) -> Markup:
    """The mark that a record has in the graph."""
    return icon(f"{lifecycle}-hollow" if left_out else lifecycle)
