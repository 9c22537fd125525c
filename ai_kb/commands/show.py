"""``,ai-kb show``: one memory of either store, with everything that is known about it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from agent_base.cli import Console
from ai_kb import consent
from ai_kb.capsule import Capsule
from ai_kb.commands import _common, _protocol
from ai_kb.hn import canonical
from ai_kb.hn.commands.show import look

# The lists of a handoff, and what stands above them.
_LISTS = (
    ("completed", "Completed"),
    ("assumptions", "Assumptions"),
    ("blockers", "Blockers"),
    ("nextActions", "Next actions"),
)


def add_parser(subparsers: Any) -> None:
    """The parser of ``,ai-kb show``."""
    summary = "one capsule with everything that is known about it"
    _protocol.add_words(subparsers, "show", summary).set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print one memory: the protocol's answer, and beside it what is ours."""
    if _protocol.wants_help("show", args.words, console):
        return 0
    store, words, rest = _protocol.about("show", args.words, console)
    asked = _protocol.parser_of("show").parse_args(list(rest)).memory
    if len(asked) != 1:
        return _protocol.run_in(store, "show", rest, console)[0]  # says how it is used
    found = look(store.repo, asked[0])
    answer: dict[str, Any] = json.loads(canonical.encode(found.as_object()))
    row = answer.get("projection")
    data = row["data"] if row else None
    paths = [(row["id"], p["path"], p["blob"]) for p in row["anchor"].get("paths") or ()] if row else []
    changed = _protocol.drift(store, paths).get(row["id"], []) if row else []
    capsule = Capsule(data["kind"], data["content"], data["topics"] or ()) if data else None
    approved = answer["memoryId"] in consent.approved(console.env)
    if words.as_json:
        beside: dict[str, object] = {"store": store.name, "source_changed": bool(changed)}
        beside |= {"changed_paths": changed, "approved": approved}
        if capsule is not None:
            beside |= {"capsule_kind": capsule.kind, "scope": capsule.scope, "by": capsule.by}
        console.json({**beside, **answer})
        return 0
    _common.say_lines(console, found.as_text(content=False))
    _common.say(console, f"Store: the {store.described}")
    if data is not None and capsule is not None:
        by = capsule.by + (" (approved)" if approved else "")
        _common.say(console, f"Capsule: {capsule.kind}, scope {capsule.scope or 'not said'}, by {by}")
        _common.say(console, f"Topics: {' '.join(data['topics'] or ())}")
    for name, label in (("projection", "Content"), ("targetProjection", "Content of the target")):
        if answer.get(name):
            _say_data(label, answer[name]["data"], console)
    for path in changed:
        _common.say(console, f"source changed: {path} is no longer what it was when this was signed")
    return 0


def _say_data(label: str, data: Mapping[str, Any], console: Console) -> None:
    """An author's text, indented: no line of it can look like one of those that are generated."""
    lists = data.get("handoff") or {}
    texts = [(label, str(data["content"]).split("\n"))]
    texts += [(heading, [f"- {item}" for item in lists.get(name) or ()]) for name, heading in _LISTS]
    for heading, lines in texts:
        if lines:
            _common.say(console, f"{heading} (inert):")
        for line in lines:
            _common.say(console, f"    {line}".rstrip())
