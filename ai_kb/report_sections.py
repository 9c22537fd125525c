"""The sections of a report's page but the graph and the capsules: judgments, stores, drift, sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ai_kb import report_parts as parts
from ai_kb.report_data import LedgerEntry, Report, SessionInfo, StoreInfo
from ai_kb.report_html import Child, Markup, el, joined
from ai_kb.report_parts import Links, cell, count_cell, icon, identifier, text, when

# Why default recall passes a record over, for a person.
REASONS = {
    "superseded": "its author replaced it",
    "retracted": "its author withdrew it",
    "branching": "its author replaced it more than once, in different ways",
    "dependency-missing": "it replaces something that is not in this store",
    "policy-missing": "the policy of this store says nothing of memory",
    "actor-untrusted": "the policy does not list its author",
    "kind-untrusted": "the policy does not list its kind",
    "inapplicable": "it speaks of another state of the code than the one checked out",
    "anchor-missing": "the commit it speaks of is not in this clone",
    "anchor-invalid": "what it says about the commit it speaks of is not so",
    "evidence-missing": "something it names as evidence is not in this store",
    "evidence-invalid": "something it names as evidence is not what it should be",
}
# (field of a store, what it is called, which class counts for recall, what it says)
_JUDGMENTS = (
    ("lifecycle", "Lifecycle", ("active",), "what its author did with it since"),
    ("trust", "Trust", ("qualified",), "whether the policy lists its author and kind"),
    ("applicability", "Applicability", ("applicable",), "whether it speaks of the code that is here"),
    ("evidence", "Evidence", ("resolved",), "whether what it refers to is here"),
    ("source", "Source", ("unchanged", "none"), "whether the files it was read from are the same"),
)


# ---------------------------------------------------------------- at a glance


def glance(report: Report) -> Markup:
    """Problems, then the counts that a person looks for first."""
    stores = report.stores
    recalled = sum(store.recalled for store in stores)
    drifted = sum(store.source.get("changed", 0) for store in stores)
    shown = sum(session.injections_total for session in report.sessions)
    waiting = sum(store.waiting for store in stores)
    challenged = sum(store.challenged for store in stores)
    left_out = report.capsules_total - recalled
    tiles = [
        _tile(report.capsules_total, "capsules", "in " + parts.plural(len(stores), "store")),
        _tile(recalled, "recalled by default", "may be injected", good=recalled > 0),
        _tile(left_out, "left out of recall", "see why, below"),
        _tile(drifted, "source changed", "the file is no longer what it was", look=True),
        _tile(challenged, "challenged", "another actor disputes them", look=True),
        _tile(waiting, "waiting for approval", "made by an agent for everywhere", look=True),
        _tile(shown, "injections here", "in " + parts.plural(report.sessions_total, "session")),
        _tile(report.open_failures, "open failures", "in the error ledger", look=True),
    ]
    children: list[Child] = [_problems(report), el("ul", tiles, class_="tiles")]
    if report.waiting_for_policy:
        records = parts.plural(report.waiting_for_policy, "record")
        children.append(
            el(
                "p",
                icon("clock"),
                f"Not injected until a person accepts the policy of the repository’s store: {records}. ",
                el("code", ",ai-kb policy accept"),
            )
        )
    if not report.capsules_total and not report.problems:
        children.append(_empty())
    return parts.section("glance", "At a glance", children)


def _tile(count: int, name: str, about: str, *, good: bool = False, look: bool = False) -> Markup:
    look = look and count > 0
    class_ = "tile good" if good else "tile look" if look else "tile"
    words = [el("span", name), el("small", about + (" — have a look" if look else ""))]
    return el("li", el("b", parts.number(count)), words, class_=class_)


def _problems(report: Report) -> list[Markup]:
    return [
        el(
            "div",
            el("p", el("strong", f"The {problem.what} could not be read."), " ", text(problem.message)),
            el("p", text(problem.hint)) if problem.hint else None,
            class_="alert",
            role="note",
        )
        for problem in report.problems
    ]


def _empty() -> Markup:
    return el(
        "div",
        el("p", el("strong", "Nothing is remembered yet.")),
        el(
            "p",
            "A capsule is one thing that proved true, signed. ",
            el("code", ",ai-kb harvest"),
            " proposes some from a session’s worklog, ",
            el("code", ",ai-kb remember"),
            " signs one. Nothing gets in by itself.",
        ),
        class_="empty",
    )


# ---------------------------------------------------------------- judgments


def judgments(report: Report) -> Markup:
    """The five judgments, store by store, and why records are left out."""
    children: list[Child] = [
        parts.note(
            "Five judgments, each on its own. None of them says that a capsule is true. A record is recalled "
            "by default when the first four hold; a changed source is only said along with it."
        )
    ]
    for store in report.stores:
        if not store.records:
            children.append(el("p", f"The {parts.store_name(store.store)} has no records.", class_="soft"))
            continue
        caption = f"The {parts.store_name(store.store)}: " + parts.plural(store.records, "record")
        heads = ("Judgment", "Holds", "Records by class", "What it asks")
        label = f"Judgments, {parts.store_name(store.store)}"
        children.append(parts.table(caption, heads, _judged(store), label, "judged"))
        if store.left_out:
            why = f"Why default recall leaves {parts.plural(store.records - store.recalled, 'record')} out"
            children.append(_why(store, why))
    return parts.section("judgments", "Trust, applicability and the other judgments", children)


def _judged(store: StoreInfo) -> Iterable[list[Markup]]:
    for field, name, good, about in _JUDGMENTS:
        counts: Mapping[str, int] = getattr(store, field)
        holds = sum(counts.get(one, 0) for one in good)
        said = joined(" · ", [f"{parts.number(n)} {_class(field, c)}" for c, n in counts.items()])
        yield [
            el("th", name, scope="row", class_="nowrap"),
            cell(
                _meter(holds, store.records),
                f"{parts.number(holds)} of {parts.number(store.records)}",
                class_="nowrap",
            ),
            cell(said, class_="wide"),
            cell(about, class_="wide soft"),
        ]


def _class(field: str, name: str) -> str:
    return "without a source" if (field, name) == ("source", "none") else name


def _meter(part: int, whole: int) -> Markup:
    width = 142 * part / whole if whole else 0
    return el(
        "svg",
        el("rect", class_="part", x=1, y=1, width=width, height=10) if part else None,
        el("rect", x=0.5, y=0.5, width=143, height=11, rx=2),
        class_="meter",
        viewBox="0 0 144 12",
        aria_hidden="true",
        focusable="false",
    )


def _why(store: StoreInfo, caption: str) -> Markup:
    rows = [
        [el("th", reason, scope="row"), count_cell(count), cell(REASONS.get(reason, ""), class_="wide soft")]
        for reason, count in store.left_out.items()
    ]
    return parts.table(caption, ("Reason", "#Records", "Which means"), rows, caption)


# ---------------------------------------------------------------- stores


def stores(report: Report) -> Markup:
    """Who signs, who is trusted, and every stream."""
    children: list[Child] = [_store(store) for store in report.stores]
    if not report.stores:
        children.append(el("p", "There is no store yet.", class_="soft"))
    return parts.section("stores", "Stores and streams", children)


def _store(store: StoreInfo) -> Markup:
    home = store.store == "home"
    accepted = (
        "needs none: it is yours alone" if home else "accepted" if store.accepted else "not accepted yet"
    )
    facts: list[tuple[str, Child]] = [
        ("Where", el("code", text(store.path))),
        ("Own actor", identifier(store.actor) if store.actor else "none yet"),
        ("Policy", identifier(store.policy) if store.policy else "none"),
        ("Acceptance", accepted),
        ("Trusted actors", _trusted(store)),
        ("Trusted kinds", ", ".join(store.trusted_kinds) or "none"),
    ]
    rows: list[Markup] = []
    for name, value in facts:
        rows += [el("dt", name), el("dd", value)]
    caption = parts.plural(store.streams_total, "stream")
    if store.streams_total > len(store.streams):
        caption += f", the {len(store.streams)} longest"
    heads = (
        "Actor (the name is a claim)",
        "From",
        "Trusted",
        "#Memories",
        "#Records",
        "First (UTC)",
        "Last (UTC)",
    )
    streams = [
        [
            el(
                "th",
                parts.actor(stream.actor_name, stream.actor),
                " (this one)" if stream.own else "",
                scope="row",
            ),
            cell(", ".join(stream.names)),
            cell("yes" if stream.trusted else "no"),
            count_cell(stream.memories),
            count_cell(stream.records),
            cell(when(stream.first)),
            cell(when(stream.last)),
        ]
        for stream in store.streams
    ]
    return el(
        "div",
        el("h3", "Home store" if home else "This repository’s store"),
        el("dl", rows, class_="facts"),
        parts.table(caption, heads, streams, f"Streams of the {parts.store_name(store.store)}")
        if streams
        else None,
        class_="store",
    )


def _trusted(store: StoreInfo) -> Child:
    items: list[Child] = [identifier(actor) for actor in store.trusted_actors.items]
    if store.trusted_actors.more:
        items.append(f"{parts.number(store.trusted_actors.more)} more")
    return joined(", ", items) if items else "none"


# ---------------------------------------------------------------- drift and relations


def drift(report: Report, links: Links) -> Markup:
    """Anchored files that are no longer what they were."""
    rows = [
        [
            cell(el("code", text(change.path)), class_="wide"),
            cell(icon("flag"), change.state, class_="nowrap"),
            cell(links.to(change.store, change.id, change.title), class_="wide"),
            cell(change.store),
        ]
        for change in report.changed
    ]
    caption = _caption(len(rows), report.changed_total, "file", "newest capsules first")
    heads = ("File", "Now", "Capsule", "Store")
    return parts.section(
        "drift",
        "Source drift",
        parts.note(
            "A capsule that names a file is bound to that file’s exact content. When the file is another one "
            "now, the capsule may still be right, but nobody has looked."
        ),
        parts.table(caption, heads, rows, "Source drift")
        if rows
        else el("p", "Every file that a capsule names is what it was.", class_="soft"),
    )


_NO_EFFECT = {
    "target-unavailable": "none: what it names is not here",
    "actor-mismatch": "none: it is another author’s",
    "self-target": "none: it names itself",
    "wrong-target-kind": "none: what it names is no record",
}
_OPERATIONS = {"supersede": "replaces", "retract": "retracts", "challenge": "challenges"}


def relations(report: Report, links: Links) -> Markup:
    """Replacements, retractions and challenges."""
    rows = []
    for relation in report.relations:
        mark = "line-supersede" if relation.operation == "supersede" else relation.operation
        target = links.to(relation.store, relation.target, relation.target_title)
        rows.append(
            [
                cell(when(relation.timestamp)),
                cell(icon(mark), _OPERATIONS.get(relation.operation, relation.operation), class_="nowrap"),
                cell(target, class_="wide"),
                cell(
                    links.to(relation.store, relation.source)
                    if relation.operation == "supersede"
                    else text(relation.reason),
                    class_="wide",
                ),
                cell(parts.actor(relation.actor_name, relation.actor)),
                cell(_NO_EFFECT.get(relation.effect, relation.effect) or "counts"),
            ]
        )
    caption = _caption(len(rows), report.relations_total, "relation", "newest first")
    heads = ("When (UTC)", "What", "Which capsule", "By which one, or why", "Who", "Effect")
    return parts.section(
        "relations",
        "Replaced, retracted, challenged",
        parts.note("Only its own author can replace or retract a capsule; anybody can challenge one."),
        parts.table(caption, heads, rows, "Relations")
        if rows
        else el("p", "No capsule was replaced, retracted or challenged.", class_="soft"),
    )


def _caption(shown: int, total: int, one: str, order: str) -> str:
    if shown < total:
        return f"{shown} of {parts.plural(total, one)}, {order}; the rest is left out"
    return f"{parts.plural(total, one)}, {order}"


# ---------------------------------------------------------------- sessions


def injected(report: Report, links: Links) -> Markup:
    """What went into which session when."""
    shown = len(report.sessions)
    children: list[Child] = [
        parts.note(
            "From the seen state of this workspace’s sessions, which is kept for seven days. No capsule is "
            "injected twice while it is still in a session’s context."
        )
    ]
    children += [_session(session, links, number == 0) for number, session in enumerate(report.sessions)]
    if shown < report.sessions_total:
        rest = parts.plural(report.sessions_total - shown, "older session")
        children.append(parts.note(f"Left out: {rest}."))
    if not shown:
        children.append(el("p", "Nothing was injected into a session of this workspace.", class_="soft"))
    return parts.section("injected", "What was injected when", children)


def _session(session: SessionInfo, links: Links, is_open: bool) -> Markup:
    rows = [
        [
            cell(when(injection.at)),
            cell(links.to("", injection.id, injection.title), class_="wide"),
            cell("yes" if injection.in_context else "no longer"),
        ]
        for injection in session.injections
    ]
    count = session.injections_total
    caption = _caption(len(rows), count, "injection", "newest first")
    topic: list[Child] = [", topic ", text(session.topic)] if session.topic else []
    return el(
        "details",
        el(
            "summary",
            "Session ",
            el("code", session.session_key[:36]),
            topic,
            f": {parts.plural(count, 'injection')}, last change ",
            when(session.changed_at),
        ),
        parts.table(
            caption, ("When (UTC)", "Capsule", "In its context"), rows, f"Session {session.session_key[:36]}"
        ),
        open=is_open,
    )


def failures(report: Report) -> Markup:
    """The error ledger, and the dispatcher's last failure."""
    rows = [_failure(entry) for entry in report.ledger]
    caption = _caption(len(rows), report.ledger_total, "entry", "newest first").replace("entrys", "entries")
    heads = ("When (UTC)", "What", "State", "Message", "Session")
    return parts.section(
        "failures",
        "What failed meanwhile",
        parts.note(
            "A hook that fails says nothing to the agent; it leaves an entry here. ",
            el("code", ",agent-memory doctor --repair"),
            " marks them as seen.",
        ),
        parts.table(caption, heads, rows, "Error ledger")
        if rows
        else el("p", "The error ledger is empty.", class_="soft"),
    )


def _failure(entry: LedgerEntry) -> Sequence[Markup]:
    what = f"{entry.kind} (nothing injected)" if entry.injecting else entry.kind
    return [
        cell(when(entry.at)),
        cell(text(what)),
        cell("seen" if entry.resolved else "open"),
        cell(text(entry.message), class_="wide"),
        cell(el("code", text(entry.session_key[:36])) if entry.session_key else ""),
    ]
