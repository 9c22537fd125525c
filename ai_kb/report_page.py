"""A report as one self-contained page.

Guarantees: no network (a content security policy in the page forbids everything but its own style and
script, each by its digest); every text of an author is text (``report_html``); bounded (``PAGE_LIMIT``,
and ``report_data``), saying what is left out; readable and usable without the script, with a keyboard,
with a screen reader, in light and dark, printed.

Not: that what capsules say is true or harmless to follow. The page says so.
"""

from __future__ import annotations

import base64
import hashlib
import os

from ai_kb import inject_text, report_cards, report_sections, report_timeline
from ai_kb import report_parts as parts
from ai_kb.report_data import Report
from ai_kb.report_html import Child, Markup, el, raw, render
from ai_kb.report_parts import Links

# Cards stop before this many bytes of them; everything else of a page is bounded by its numbers.
CARDS_LIMIT = 3_000_000
PAGE_LIMIT = 8_000_000
# By this a page of ours is recognised, and by nothing else overwritten without being asked.
MARK = '<!DOCTYPE html>\n<html lang="en" data-made-by=",ai-kb report">'

_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


def is_report(beginning: bytes) -> bool:
    """Whether a file that begins with ``beginning`` is such a page."""
    return beginning.startswith(MARK.encode())


def page(report: Report) -> bytes:
    """The page."""
    cards, links = _cards(report)
    sections: list[tuple[str, str, Markup]] = [
        ("glance", "At a glance", report_sections.glance(report)),
        ("graph", "Over time", report_timeline.timeline(report, links)),
        ("judgments", "Judgments", report_sections.judgments(report)),
        ("drift", "Source drift", report_sections.drift(report, links)),
        ("relations", "Replaced, challenged", report_sections.relations(report, links)),
        ("injected", "Injected", report_sections.injected(report, links)),
        ("failures", "Failures", report_sections.failures(report)),
        ("stores", "Stores", report_sections.stores(report)),
        ("capsules", "Capsules", report_cards.capsules(report, cards)),
    ]
    if not report.stores:
        sections = [entry for entry in sections if entry[0] != "judgments"]
    style, script = _asset("report.css"), _asset("report.js")
    head = el("head", _head(report, style, script))
    places = [el("li", el("a", name, href=f"#{key}")) for key, name, _ in sections]
    body = el(
        "body",
        el("a", "Skip to the content", href="#main", class_="skip"),
        parts.sprite(),
        _top(report),
        el("nav", el("ul", places, class_="places"), class_="bar-nav", aria_label="Sections"),
        el("main", [section for _, _, section in sections], id="main", tabindex=-1),
        _foot(report, len(cards)),
        el("script", raw(script)),
    )
    return f"{MARK}\n{render(head)}\n{render(body)}\n</html>\n".encode()


def _cards(report: Report) -> tuple[list[Markup], Links]:
    """The cards that there is room for, and links to exactly those."""
    known = {(c.store, c.id): inject_text.shorten(c.title, 120) for c in report.capsules}
    links = Links(known)
    room = CARDS_LIMIT
    cards: list[Markup] = []
    for capsule in report.capsules:
        made = report_cards.card(capsule, links)
        room -= len(made.text.encode())
        if room < 0:
            # A link to what is left out would lead nowhere: made again without those.
            kept = report.capsules[: len(cards)]
            links = Links({(c.store, c.id): known[c.store, c.id] for c in kept})
            return [report_cards.card(c, links) for c in kept], links
        cards.append(made)
    return cards, links


def _asset(name: str) -> str:
    with open(os.path.join(_DATA, name), encoding="utf-8") as file:
        return file.read()


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _head(report: Report, style: str, script: str) -> list[Child]:
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return [
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="robots", content="noindex"),
        el("title", f"What the agents know: {os.path.basename(report.workspace) or report.workspace}"),
        el("style", raw(style)),
    ]


def _top(report: Report) -> Markup:
    return el(
        "header",
        el("h1", "What the agents know"),
        el(
            "p",
            "Workspace ",
            el("code", parts.text(report.workspace)),
            ", as it was on ",
            parts.when(report.generated),
            " UTC",
            class_="kicker",
        ),
        el("p", inject_text.WARNING, class_="note"),
        class_="top",
    )


def _foot(report: Report, cards: int) -> Markup:
    left_out: list[tuple[int, tuple[str, ...]]] = [
        (report.capsules_total - cards, ("capsule",)),
        (report.nodes_total - len(report.nodes), ("memory", "memories")),
        (report.relations_total - len(report.relations), ("relation",)),
        (report.changed_total - len(report.changed), ("changed file",)),
        (report.sessions_total - len(report.sessions), ("session",)),
        (report.ledger_total - len(report.ledger), ("ledger entry", "ledger entries")),
    ]
    said = [parts.plural(count, *names) for count, names in left_out if count > 0]
    where = "the graph leaves out memories, the list capsules; " if said else ""
    return el(
        "footer",
        el("p", f"Left out of this page to keep it small ({where}the newest are shown): {', '.join(said)}.")
        if said
        else el("p", "Nothing is left out but the ends of long texts, which say so."),
        el(
            "p",
            "A picture of one moment, made by ",
            el("code", ",ai-kb report"),
            ". It loads nothing and sends nothing. It holds what this machine’s stores hold: give it away "
            "only as you would give those.",
        ),
    )
