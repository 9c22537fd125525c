"""How well reproaches are told from other prompts: the figures of scripts/eval, by list of prompts.

A prompt counts as found whatever signal it gets; which signal it was is a figure of its own
(``right signal``: the label or one of its alternatives, among the reproaches found).
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from agent_memory.corrections import detect

LISTS = {"dev": "corrections_dev.json", "own": "corrections_blind.json"}
# What neither the rules nor the weights were made for: no bar, and nothing is to be changed for it.
HELD_OUT = {"held out": "corrections_held_out.json"}
# figure → (bar, whether more is better)
BARS = {
    f"{name} {figure}": (bar, True)
    for name in LISTS
    for figure, bar in (("precision", 0.95), ("recall", 0.6))
}


def text_of(item: dict) -> str:
    """The prompt of ``item``, or the long one that its ``gen`` describes."""
    if "prompt" in item:
        return item["prompt"]
    made = item["gen"]
    repeated = "".join(made["repeat"].replace("{i}", str(k + 1)) for k in range(made["times"]))
    return made.get("prefix", "") + repeated + made.get("suffix", "")


def figures_of(items: list[dict], found: dict[str, str | None]) -> dict[str, float]:
    """Precision, recall, right signal, and the share of each kind of other prompt that fired."""
    hits = [item for item in items if item["label"] and found[item["id"]]]
    reproaches = sum(item["label"] is not None for item in items)
    others = [item for item in items if item["label"] is None]
    fired = [item for item in others if found[item["id"]]]
    right = sum(found[item["id"]] in (item["label"], *item["alt"]) for item in hits)
    figures = {
        "reproaches": float(reproaches),
        "other prompts": float(len(others)),
        "precision": _share(len(hits), len(hits) + len(fired)),
        "recall": _share(len(hits), reproaches),
        "right signal": _share(right, len(hits)),
    }
    for kind in sorted({item["style"][0] for item in others}):
        of_kind = sum(item["style"][0] == kind for item in others)
        wrong = sum(item["style"][0] == kind for item in fired)
        if wrong:
            figures[f"false, {kind} ({of_kind})"] = _share(wrong, of_kind)
    return figures


def measure(directory: Path) -> tuple[dict[str, float], dict[str, str | None]]:
    """The figures of every list in ``directory``, and the signal of every prompt by its id."""
    figures: dict[str, float] = {}
    found: dict[str, str | None] = {}
    spent = 0.0
    for name, file in (LISTS | HELD_OUT).items():
        items = json.loads((directory / file).read_text(encoding="utf-8"))
        texts = [text_of(item) for item in items]
        started = time.perf_counter()
        signals = [detect(text) for text in texts]
        spent += time.perf_counter() - started
        found.update(zip((item["id"] for item in items), signals, strict=True))
        figures.update({f"{name} {figure}": value for figure, value in figures_of(items, found).items()})
    figures["milliseconds for one prompt"] = 1000 * spent / len(found)
    return figures, found


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
