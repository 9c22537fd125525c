"""The section of a report's page that shows memory over time: activity, the graph, the same as a table."""

from __future__ import annotations

from ai_kb import report_graph
from ai_kb import report_parts as parts
from ai_kb.report_data import Bin, Node, Report, StreamInfo
from ai_kb.report_html import Child, Markup, el
from ai_kb.report_parts import Links, cell, icon, text, when

_LEGEND = (
    ("active", "recalled by default"),
    ("active-hollow", "active, but left out of recall (hollow)"),
    ("superseded-hollow", "superseded"),
    ("retracted-hollow", "retracted"),
    ("branching-hollow", "replaced in several ways"),
    ("dependency-missing-hollow", "replaces something that is not here"),
    ("challenge", "a challenge"),
    ("challenge-idle", "a challenge without effect"),
    ("retract", "a retraction"),
    ("retract-idle", "a retraction without effect"),
    ("flag", "its source changed"),
    ("line-supersede", "replaces"),
    ("line-retract", "retracts"),
    ("line-challenge", "challenges"),
)
_BARS_WIDTH = 960.0
_BARS_HEIGHT = 110.0


def timeline(report: Report, links: Links) -> Markup:
    """The section."""
    if not report.nodes:
        return parts.section(
            "graph", "Memory over time", el("p", "There is nothing to draw yet.", class_="soft")
        )
    streams = {stream.key: stream for store in report.stores for stream in store.streams}
    order = sorted(
        dict.fromkeys(node.stream for node in report.nodes),
        key=lambda key: (-sum(node.stream == key for node in report.nodes), key),
    )
    # The home store's lanes stand first, as everywhere.
    order.sort(key=lambda key: not key.startswith("home:"))
    drawing = report_graph.layout(report.nodes, order)
    children: list[Child] = [
        parts.note(
            "One lane for each actor’s stream, times as their authors claim them (UTC), pauses shortened. "
            "Filled: recalled by default. Hollow: left out. The shape says what became of it."
        )
    ]
    if len([column for column in report.bins if _total(column)]) > 2:
        children.append(_activity(report))
    children += [
        _left_out(report, drawing),
        el("ul", [el("li", icon(name), words) for name, words in _legend(report.nodes)], class_="legend"),
        _graph(report, drawing, streams, links),
        el(
            "p",
            "Point at a mark to read what it is. With the keyboard: Tab goes into the graph, the arrow keys "
            "from memory to memory, Enter to its capsule.",
            class_="readout soft",
        ),
        _table(report, streams, links),
    ]
    return parts.section("graph", "Memory over time", children)


def _legend(nodes: tuple[Node, ...]) -> list[tuple[str, str]]:
    """What of the legend the graph needs."""
    there = {("flag", True) for node in nodes if node.changed}
    there |= {(node.lifecycle, bool(node.left_out)) for node in nodes if node.lifecycle}
    there |= {
        (f"{node.operation}{'-idle' if report_graph.is_idle(node) else ''}", False)
        for node in nodes
        if not node.lifecycle
    }
    there |= {(f"line-{node.operation}", False) for node in nodes if node.target}
    names = {f"{name}-hollow" if hollow and name != "flag" else name for name, hollow in there}
    return [(name, words) for name, words in _LEGEND if name in names]


def _left_out(report: Report, drawing: report_graph.Drawing) -> Markup | None:
    said: list[str] = []
    missing = report.nodes_total - len(report.nodes)
    if missing:
        said.append(
            f"The graph shows {len(report.nodes)} of {parts.number(report.nodes_total)} memories, the newest."
        )
    if drawing.cut_edges:
        said.append(f"{parts.plural(drawing.cut_edges, 'relation')} to older ones cannot be drawn.")
    if report.in_future:
        claim = "claims" if report.in_future == 1 else "claim"
        said.append(f"{parts.plural(report.in_future, 'memory', 'memories')} {claim} a time in the future.")
    return parts.note(" ".join(said)) if said else None


# ---------------------------------------------------------------- graph


def _graph(
    report: Report, drawing: report_graph.Drawing, streams: dict[str, StreamInfo], links: Links
) -> Markup:
    lanes = [_lane(streams.get(key), key) for key in drawing.lanes]
    names = el("ol", lanes, class_="lanes", aria_label="Lanes of the graph, from the top")
    title = el("p", "Graph: memories over time", class_="vh", id="chart-title")
    about = el(
        "p",
        f"{len(report.nodes)} memories in {parts.plural(len(drawing.lanes), 'lane')}. "
        "The same as a table follows.",
        class_="vh",
        id="chart-about",
    )
    chart = report_graph.svg(drawing, streams, links.fragments())
    return el(
        "div",
        title,
        about,
        el("div", names, chart, class_="graph", role="region", aria_label="Graph", tabindex=0),
    )


def _lane(stream: StreamInfo | None, key: str) -> Markup:
    if stream is None:  # beyond the streams that are listed
        return el("li", el("b", key.partition(":")[2][:12]))
    trusted = "trusted" if stream.trusted else "not trusted"
    what = f"{trusted}, {parts.store_name(stream.store)}"
    return el("li", el("b", text(stream.actor_name), title=stream.actor_name), el("small", what))


def _table(report: Report, streams: dict[str, StreamInfo], links: Links) -> Markup:
    by_id = {(node.store, node.id): node for node in report.nodes}
    rows = []
    for node in reversed(report.nodes):
        stream = streams.get(node.stream)
        rows.append(
            [
                cell(when(node.timestamp)),
                cell(text(stream.actor_name) if stream else node.stream[:20]),
                cell(node.operation),
                cell(_titled(node, links), class_="wide"),
                cell(_state(node)),
                cell(_does(node, by_id, links), class_="wide"),
            ]
        )
    heads = ("When (UTC)", "Actor", "Operation", "Title or reason", "State", "Does to")
    return el(
        "details",
        el("summary", f"The graph as a table ({parts.plural(len(rows), 'row')})"),
        parts.table("The memories of the graph, newest first", heads, rows, "The graph as a table"),
    )


def _titled(node: Node, links: Links) -> Markup:
    return links.to(node.store, node.id, node.title) if node.lifecycle else text(node.title)


def _state(node: Node) -> Child:
    if not node.lifecycle:
        return "no effect" if report_graph.is_idle(node) else "counts"
    words = [f"left out: {node.left_out}" if node.left_out else "recalled"]
    words += ["challenged"] if node.challenged else []
    words += ["source changed"] if node.changed else []
    return [parts.lifecycle_icon(node.lifecycle, node.left_out), ", ".join(words)]


def _does(node: Node, by_id: dict[tuple[str, str], Node], links: Links) -> Child:
    if not node.target:
        return ""
    target = by_id.get((node.store, node.target))
    to = links.to(node.store, node.target, target.title if target else "")
    return [report_graph.WORDS[node.operation], " ", to]


# ---------------------------------------------------------------- activity


def _total(column: Bin) -> int:
    return column.recalled + column.left_out + column.other


def _activity(report: Report) -> Markup:
    """Columns of all memories by calendar; the numbers are in the table below it."""
    most = max(_total(column) for column in report.bins)
    step = _BARS_WIDTH / len(report.bins)
    bars: list[Markup] = []
    for number, column in enumerate(report.bins):
        y = _BARS_HEIGHT
        for class_, count in (
            ("recalled", column.recalled),
            ("left-out", column.left_out),
            ("other", column.other),
        ):
            if count:
                height = max(1.0, (_BARS_HEIGHT - 8) * count / most)
                y -= height
                x, width = step * number + 1, max(1.0, min(step - 2, 40))
                bars.append(
                    el(
                        "rect",
                        class_=class_,
                        x=round(x, 1),
                        y=round(y, 1),
                        width=round(width, 1),
                        height=round(height, 1),
                    )
                )
    base = el("line", class_="base", x1=0, x2=_BARS_WIDTH, y1=_BARS_HEIGHT, y2=_BARS_HEIGHT)
    sums = [
        sum(getattr(column, name) for column in report.bins) for name in ("recalled", "left_out", "other")
    ]
    said = (
        f"All memories by {report.bin_unit}: {parts.number(sums[0])} recalled by default (filled), "
        f"{parts.number(sums[1])} left out (hollow), {parts.number(sums[2])} retractions and challenges "
        "(hatched, on top). "
        f"At most {parts.number(most)} in one {report.bin_unit}."
    )
    if report.outside_bins:
        claims = parts.plural(report.outside_bins, "memory", "memories")
        said += f" {claims} of another time, as claimed, are not in the chart."
    hatch = el(
        "pattern", el("path", d="M0 6 6 0", class_="hatch"), id="hatch", width=6, height=6,
        patternUnits="userSpaceOnUse",
    )  # fmt: skip
    chart = el(
        "svg", el("defs", hatch), bars, base, class_="bars", role="img", aria_label=said,
        viewBox=f"0 0 {_BARS_WIDTH:g} {_BARS_HEIGHT + 2:g}", preserveAspectRatio="none",
    )  # fmt: skip
    ends = el(
        "p",
        el("span", report.bins[0].label),
        el("span", report.bins[-1].label),
        class_="ends",
        aria_hidden="true",
    )
    rows = [
        [el("th", c.label, scope="row"), *(parts.count_cell(n) for n in (c.recalled, c.left_out, c.other))]
        for c in reversed(report.bins)
        if _total(c)
    ]
    heads = (report.bin_unit.capitalize(), "#Recalled", "#Left out", "#Retractions, challenges")
    same = parts.table("Memories by " + report.bin_unit, heads, rows, "Activity")
    return el(
        "figure", chart, ends, el("figcaption", said),
        el("details", el("summary", "The chart as a table"), same),
        class_="activity",
    )  # fmt: skip
