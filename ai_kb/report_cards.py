"""Capsules on a report's page: one card each, and the filter above them.

A card shows what a person scans for (title, state, the beginning of the text) and holds the rest folded:
the whole text as far as the report has it, every judgment, provenance and relations. What a field is
called here is what ``,ai-kb show`` calls it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ai_kb import inject_text
from ai_kb import report_parts as parts
from ai_kb.report_data import CapsuleInfo, Listed, Report
from ai_kb.report_html import Child, Markup, el, joined
from ai_kb.report_parts import Links, fragment, icon, identifier, text, when

EXCERPT = 280  # characters of a body that are shown unfolded

# What the filter offers, in words; a card carries the names.
STATES = {
    "recalled": "recalled by default",
    "left-out": "left out of recall",
    "changed": "source changed",
    "challenged": "challenged",
    "waiting": "waits for approval",
    "injected": "injected here",
}


def card(capsule: CapsuleInfo, links: Links) -> Markup:
    """One capsule."""
    name = fragment(capsule.store, capsule.id)
    excerpt = inject_text.shorten(capsule.body, EXCERPT)
    return el(
        "li",
        el("h3", el("bdi", capsule.title or "(no title)"), id=f"{name}-t"),
        el("ul", _tags(capsule), class_="tags"),
        el("p", excerpt, class_="text", dir="auto") if excerpt else None,
        el(
            "details",
            el("summary", "Everything about it", aria_describedby=f"{name}-t"),
            _facts(capsule, links),
        ),
        id=name,
        class_="card",
        tabindex=-1,
        aria_labelledby=f"{name}-t",
        data_state=" ".join(_states(capsule)),
        data_store=capsule.store,
        data_kind=capsule.kind,
    )


def _states(capsule: CapsuleInfo) -> list[str]:
    marks = (
        ("recalled", not capsule.left_out),
        ("left-out", bool(capsule.left_out)),
        ("changed", capsule.source_changed),
        ("challenged", bool(capsule.challengers.items)),
        ("waiting", capsule.waiting),
        ("injected", capsule.injected > 0),
    )
    return [name for name, holds in marks if holds]


def _tags(capsule: CapsuleInfo) -> list[Markup]:
    mark = parts.lifecycle_icon(capsule.lifecycle, capsule.left_out)
    if capsule.left_out:
        state = el("li", mark, f"left out: {capsule.left_out}", class_="out")
    else:
        state = el("li", mark, "recalled", class_="ok")
    tags = [state]
    if capsule.challengers.items:
        tags.append(el("li", icon("challenge"), "challenged", class_="look"))
    if capsule.source_changed:
        tags.append(el("li", icon("flag"), "source changed", class_="look"))
    if capsule.waiting:
        tags.append(el("li", icon("clock"), "waits for approval", class_="look"))
    by = f"by {capsule.by}" + (", approved" if capsule.approved else "")
    scope = (f"scope {capsule.scope}",) if capsule.scope else ()
    tags += [el("li", words) for words in (capsule.kind, *scope, parts.store_name(capsule.store), by)]
    tags.append(el("li", when(capsule.timestamp)))
    if capsule.injected:
        tags.append(el("li", icon("injected"), "injected into " + parts.plural(capsule.injected, "session")))
    return tags


def _facts(capsule: CapsuleInfo, links: Links) -> list[Child]:
    whole: list[Child] = []
    if capsule.body.strip() and inject_text.shorten(capsule.body, EXCERPT) != capsule.body:
        whole.append(el("p", capsule.body, class_="whole", dir="auto", tabindex=0))
    if capsule.body_more:
        command = el("code", f",ai-kb show {capsule.id.removeprefix('sha256:')[:12]}")
        more = parts.number(capsule.body_more)
        whole.append(parts.note(f"{more} more characters are not on this page: ", command))
    rows: list[Markup] = []
    for name, value in _rows(capsule, links):
        rows += [el("dt", name), el("dd", value)]
    return [*whole, el("dl", rows, class_="facts")]


def _rows(capsule: CapsuleInfo, links: Links) -> Iterable[tuple[str, Child]]:
    yield "Id", el("code", capsule.id)
    yield "Signed", [when(capsule.timestamp), " UTC, as the author claims"]
    yield "By", [*parts.actor(capsule.actor_name, capsule.actor), f", {capsule.by}"]
    yield "Stream", [identifier(capsule.stream), f", number {parts.number(capsule.sequence)}"]
    yield "Kind", f"{capsule.kind} (record: {capsule.record_kind})"
    if capsule.outcome:
        yield "Outcome", text(capsule.outcome)
    yield "Lifecycle", capsule.lifecycle
    yield "Trust", capsule.trust
    subject: list[Child] = [", subject ", text(capsule.subject)] if capsule.subject else []
    yield (
        "Applies",
        [f"{capsule.applicability} ({capsule.mode} of ", identifier(capsule.anchor), subject, ")"],
    )
    yield "Evidence", _or_none(capsule.evidence_details, capsule.evidence)
    if capsule.sources:
        yield "Sources", _sources(capsule)
    yield from _relations(capsule, links)
    for name, value in capsule.trailers:
        yield name, text(value)
    if capsule.topics.items:
        yield "Topics", joined(", ", [el("code", text(topic)) for topic in _with_more(capsule.topics)])
    for name, entries in capsule.handoff:
        yield name.capitalize(), parts.listed(entries)
    if capsule.injected:
        last: Child = [", last ", when(capsule.last_injected)] if capsule.last_injected else None
        yield "Injected", ["into " + parts.plural(capsule.injected, "session"), " of this workspace", last]
    if capsule.waiting:
        yield (
            "Approval",
            [
                "an agent made it for more than its project; it stays there until ",
                el("code", f",ai-kb approve {capsule.id.removeprefix('sha256:')[:12]}"),
            ],
        )


def _with_more(entries: Listed) -> list[str]:
    return [*entries.items, f"… {parts.number(entries.more)} more"] if entries.more else list(entries.items)


def _or_none(details: Listed, state: str) -> Child:
    return [state, parts.listed(details, code=True)] if details.items else "none given"


def _sources(capsule: CapsuleInfo) -> Markup:
    rows = []
    for source in capsule.sources:
        mark = None if source.state == "unchanged" else icon("flag")
        rows.append(el("li", mark, el("code", text(source.path)), f": {source.state}"))
    if capsule.sources_more:
        rows.append(el("li", f"and {parts.number(capsule.sources_more)} more", class_="soft"))
    return el("ul", rows)


def _relations(capsule: CapsuleInfo, links: Links) -> Iterable[tuple[str, Child]]:
    if capsule.supersedes:
        yield "Replaces", links.to(capsule.store, capsule.supersedes)
    for name, ids in (
        ("Replaced by", capsule.successors),
        ("Challenged by", capsule.challengers),
        ("Retracted by", capsule.retractions),
    ):
        if ids.items:
            more = f", and {parts.number(ids.more)} more" if ids.more else None
            yield name, [joined(", ", [links.to(capsule.store, memory_id) for memory_id in ids.items]), more]


# ---------------------------------------------------------------- the section


def capsules(report: Report, cards: list[Markup]) -> Markup:
    """The section: filter, what was found, cards."""
    shown, total = len(cards), report.capsules_total
    what = parts.plural(total, "capsule")
    said = f"{what}, newest first." if shown == total else f"The newest {parts.number(shown)} of {what}."
    children: list[Child] = [_filter(report), el("p", said, class_="found", aria_live="polite")]
    if shown < total:
        command = ",ai-kb list --lifecycle all --limit "
        rest = parts.plural(total - shown, "older capsule")
        children.append(
            parts.note(f"Left out of this page: {rest}. ", el("code", f"{command}{total}"), " lists all.")
        )
    children.append(el("ol", cards, class_="cards") if cards else el("p", "There are none.", class_="soft"))
    return parts.section("capsules", "Capsules", children)


def _filter(report: Report) -> Markup:
    kinds = sorted({capsule.kind for capsule in report.capsules})
    stores = sorted({capsule.store for capsule in report.capsules})
    box = el("input", type="search", autocomplete="off", spellcheck="false", maxlength=200)
    return el(
        "div",
        el("label", "Words that a capsule has", box, class_="grow"),
        _choice("State", "state", STATES),
        _choice("Kind", "kind", {kind: kind for kind in kinds}),
        _choice("Store", "store", {store: store for store in stores}),
        el("button", "Show all", type="button"),
        class_="filter",
        role="search",
        aria_label="Filter the capsules",
        hidden=True,
    )


def _choice(label: str, name: str, choices: dict[str, str]) -> Markup:
    options = [el("option", words, value=value) for value, words in choices.items()]
    return el("label", label, el("select", el("option", "any", value=""), options, name=name))
