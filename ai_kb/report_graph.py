"""The graph of a report: memories over claimed time, one lane for each stream, as SVG.

``layout`` is pure arithmetic: where each memory and each relation stands. The axis keeps the order of
time and not its proportions: a pause takes as much room as the logarithm of its length, so that two
memories never cover one another and a year without any is not a mile of nothing. ``svg`` draws it.

What a shape says is said by shape: filled or hollow (recalled by default or not), circle, square,
diamond, cross, triangle (lifecycle, operation), a flag (source changed); colour only repeats it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai_kb import report_time
from ai_kb.report_data import Node, StreamInfo
from ai_kb.report_html import Markup, el, raw

LANE = 64.0  # units of height of a lane; one unit is 1/16 rem
AXIS = 28.0  # above the lanes
WIDTH = 890.0  # at least
SIDE = 42.0  # left and right of the first and last memory
GAP = 15.0  # at least, between two memories
TICK = 84.0  # at least, between two dates
RADIUS = 6.0

WORDS = {"supersede": "replaces", "retract": "retracts", "challenge": "challenges"}


@dataclass(frozen=True, slots=True)
class Placed:
    """A memory and where it stands."""

    node: Node
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything's place. ``lanes`` are keys of streams from the top; ``ticks`` are (x, date)."""

    width: float
    height: float
    lanes: tuple[str, ...]
    placed: tuple[Placed, ...]
    edges: tuple[tuple[Placed, Placed], ...]
    ticks: tuple[tuple[float, str], ...]
    cut_edges: int  # relations whose target is not in the graph


def layout(nodes: Sequence[Node], order: Sequence[str]) -> Drawing:
    """Place ``nodes`` (oldest first). ``order`` is that of the streams' lanes."""
    there = {node.stream for node in nodes}
    lanes = tuple(key for key in order if key in there)
    row = {key: AXIS + LANE * (number + 0.5) for number, key in enumerate(lanes)}
    xs = _positions([node.seconds for node in nodes])
    placed = tuple(Placed(node, x, row[node.stream]) for node, x in zip(nodes, xs, strict=True))
    # One memory can be in both stores; a relation stays in its own.
    by_id = {(p.node.store, p.node.id): p for p in placed}
    edges: list[tuple[Placed, Placed]] = []
    cut = 0
    for source in placed:
        if source.node.target:
            target = by_id.get((source.node.store, source.node.target))
            if target is None:
                cut += 1
            else:
                edges.append((source, target))
    width = max(WIDTH, (xs[-1] if xs else 0) + SIDE)
    return Drawing(width, AXIS + LANE * len(lanes) + 4, lanes, placed, tuple(edges), _ticks(placed), cut)


def _positions(moments: Sequence[float]) -> list[float]:
    """Where each moment stands: at least GAP apart, the rest of WIDTH shared by the length of pauses."""
    if not moments:
        return []
    if len(moments) == 1:
        return [SIDE]
    weights = [math.log1p(max(0.0, b - a)) for a, b in itertools.pairwise(moments)]
    room = max(0.0, WIDTH - 2 * SIDE - GAP * len(weights))
    total = sum(weights)
    shares = [weight / total if total else 1 / len(weights) for weight in weights]
    xs = [SIDE]
    for share in shares:
        xs.append(xs[-1] + GAP + room * share)
    return [round(x, 1) for x in xs]


def _ticks(placed: Sequence[Placed]) -> tuple[tuple[float, str], ...]:
    """Dates above the lanes, where one begins and there is room; times where all is of one day."""
    texts = [report_time.shown(p.node.timestamp) for p in placed]
    one_day = len({text[:10] for text in texts}) == 1
    ticks: list[tuple[float, str]] = []
    last = ""
    for number, (p, text) in enumerate(zip(placed, texts, strict=True)):
        label = text[11:16] if one_day and number else text[:10]
        if label != last and (not ticks or p.x - ticks[-1][0] >= TICK):
            ticks.append((p.x, label))
            last = label
    return tuple(ticks)


# ---------------------------------------------------------------- drawing


def svg(drawing: Drawing, streams: Mapping[str, StreamInfo], links: Mapping[tuple[str, str], str]) -> Markup:
    """The graph. ``links``: (store, id) → the fragment to go to, for what is on the page."""
    parts: list[Markup] = [_markers()]
    for number, _ in enumerate(drawing.lanes):
        if number % 2 == 0:
            parts.append(
                el("rect", class_="band", x=0, y=AXIS + LANE * number, width=drawing.width, height=LANE)
            )
        y = AXIS + LANE * (number + 0.5)
        parts.append(el("line", class_="lane", x1=0, x2=drawing.width, y1=y, y2=y))
    for x, label in drawing.ticks:
        parts.append(el("line", class_="tick", x1=x, x2=x, y1=AXIS - 6, y2=drawing.height))
        parts.append(el("text", label, class_="date", x=x, y=AXIS - 11, text_anchor="middle"))
    parts += [_edge(source, target) for source, target in drawing.edges]
    parts += [_memory(p, streams, links) for p in drawing.placed]
    return el(
        "svg",
        parts,
        class_="chart",
        viewBox=f"0 0 {drawing.width:g} {drawing.height:g}",
        width=f"{drawing.width / 16:g}rem",
        height=f"{drawing.height / 16:g}rem",
        role="group",
        aria_labelledby="chart-title",
        aria_describedby="chart-about",
        id="chart",
    )


def _markers() -> Markup:
    heads = [
        el(
            "marker",
            el("path", d="M0 0 8 4 0 8z", class_=f"head {operation}"),
            id=f"head-{operation}",
            viewBox="0 0 8 8",
            refX=7,
            refY=4,
            markerWidth=8,
            markerHeight=8,
            markerUnits="userSpaceOnUse",
            orient="auto",
        )
        for operation in WORDS
    ]
    return el("defs", heads)


def _edge(source: Placed, target: Placed) -> Markup:
    operation = source.node.operation
    reach = RADIUS + 3
    if source.y == target.y:
        # Replacements above the lane, what disputes or withdraws below it.
        side = -1 if operation == "supersede" else 1
        height = side * min(LANE / 2 - 4, 16 + abs(source.x - target.x) / 14)
        towards = math.copysign(4.0, source.x - target.x)
        y1, y2 = source.y + side * reach, target.y + side * reach
        middle = (source.x + target.x) / 2
        path = f"M{source.x:g} {y1:g}Q{middle:g} {source.y + 1.7 * height:g} {target.x + towards:g} {y2:g}"
    else:
        down = 1 if target.y > source.y else -1
        y1, y2 = source.y + down * reach, target.y - down * reach
        middle = (y1 + y2) / 2
        path = f"M{source.x:g} {y1:g}C{source.x:g} {middle:g} {target.x:g} {middle:g} {target.x:g} {y2:g}"
    return el("path", class_=f"edge {operation}", d=path, marker_end=f"url(#head-{operation})")


def _memory(p: Placed, streams: Mapping[str, StreamInfo], links: Mapping[tuple[str, str], str]) -> Markup:
    node = p.node
    mark = symbol(node.lifecycle or node.operation, p.x, p.y, hollow=bool(node.left_out), idle=is_idle(node))
    shape = [el("title", described(node, streams)), mark]
    if node.changed:
        shape.append(flag(p.x, p.y))
    link = links.get((node.store, node.id)) or links.get((node.store, node.target))
    if link:
        return el("a", shape, href=link, class_="node", aria_label=described(node, streams))
    # Not on the page: it can be pointed at and read, but leads nowhere.
    return el("g", shape, class_="node", role="img", aria_label=described(node, streams), tabindex=-1)


def is_idle(node: Node) -> bool:
    """Whether it is a retraction or challenge without effect."""
    return not node.lifecycle and not node.target


def symbol(shape: str, x: float, y: float, *, hollow: bool, idle: bool = False) -> Markup:
    """The mark of a memory: filled or ``hollow``, dashed when ``idle``. Unknown shapes are circles."""
    kind = f"mark {shape}{' hollow' if hollow else ''}{' idle' if idle else ''}"
    r = RADIUS
    if shape == "superseded":
        return el("rect", class_=kind, x=x - 5, y=y - 5, width=10, height=10, rx=1.5)
    if shape == "branching":
        return el("path", class_=kind, d=f"M{x:g} {y - 7:g}l7 7-7 7-7-7z")
    if shape == "retracted":
        cross = el("path", class_="cross", d=f"M{x - 3:g} {y - 3:g}l6 6m0-6-6 6")
        return raw(el("circle", class_=kind, cx=x, cy=y, r=r).text + cross.text)
    if shape == "retract":
        return el("path", class_=kind, d=f"M{x - 4:g} {y - 4:g}l8 8m0-8-8 8")
    if shape == "challenge":
        bang = el("path", class_="bang", d=f"M{x:g} {y - 2:g}v3.5m0 2v.4")
        return raw(el("path", class_=kind, d=f"M{x:g} {y - 7:g}l7 12.5h-14z").text + bang.text)
    return el("circle", class_=kind, cx=x, cy=y, r=r)


def flag(x: float, y: float) -> Markup:
    """The mark of a changed source, at the upper right of a memory's own."""
    return el("path", class_="flag", d=f"M{x + 4:g} {y - 4:g}v-9l7 3-7 3")


def described(node: Node, streams: Mapping[str, StreamInfo]) -> str:
    """A memory in words: what a screen reader says and a pointer shows."""
    words = [f"“{node.title}”" if node.title else "no title", report_time.shown(node.timestamp)]
    if node.lifecycle:
        words.append(node.lifecycle)
        words.append(f"left out of recall: {node.left_out}" if node.left_out else "recalled by default")
    else:
        words.insert(0, {"retract": "retraction", "challenge": "challenge"}.get(node.operation, ""))
        words.append("without effect" if is_idle(node) else "")
    if node.challenged:
        words.append("challenged")
    if node.changed:
        words.append("source changed")
    stream = streams.get(node.stream)
    words.append(f"by {stream.actor_name}" if stream else "")
    return ", ".join(word for word in words if word)
