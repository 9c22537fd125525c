"""A prompt beside a capsule, in numbers: what the relevance gate weighs.

``Query`` is a prompt met with a collection: its tokens with their rarity there, words that may
stand for them, and misspelt words put right. ``describe`` gives the candidates of a query
with their features. The numbers mean the same in a store of one capsule and of 100,000: rarity
comes from general lists as well as from the store, and is bounded. Work is bounded by ``search``.

Standard library only; hooks import this.
"""

from __future__ import annotations

from math import log, log1p

from ai_kb.relevance_lists import TOOLS
from ai_kb.relevance_words import RELATED_WEIGHT, is_function_word, is_listed, prior, rarity, related
from ai_kb.search import MAX_LOOKED_UP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ai_kb.relevance_prompt import Prompt
    from ai_kb.search import Collection, Document, Source

# In the order of the weights in ``relevance``.
FEATURES = (
    "bm25",  # ln(1 + BM25), words that stand for one another included
    "prompt_covered",  # share of what the prompt is about that the capsule holds
    "title_covered",  # share of what the title says that the prompt holds
    "related_covered",  # share of what the prompt is about that only related words cover
    "tool_differs",  # 1: the prompt names tools, the capsule others
    "lead",  # ln of BM25 over that of the best other candidate
    "above_background",  # ln of BM25 over that of candidates further down
    "turn",  # 1: the prompt has a word such as "but"
    "asking",  # 1: it is a question, or an errand that ends in text
    "changing",  # 1: it is an errand that changes something
)

_FEWEST_SHARED = 2  # distinct tokens; one word in common is chance
_CONSIDERED = 12  # candidates that are described, best BM25 first
_BACKGROUND = slice(3, 8)  # ranks whose mean BM25 is what chance gives
_TITLE_PRIOR = 8.0  # rarity that every title is taken to hold besides: a short one is no proof
_CHANCE = 0.25  # BM25 of candidates further down, as a share of what the prompt is about
_MASS_TOKENS = 12  # the rarest tokens of a prompt are what it is about
_FULL_WEIGHT = 0.6  # tokens from lines that count fully, parts and pairs included
_RELATED_LOOKED_UP = 90
_RELATED_GAIN = 0.5  # of a related word in BM25
_BODY_COVERS = 0.8  # what a related word outside the title counts
_MAX_JOINED = 60
_MAX_MISSPELT = 4
_SHORTEST_MISSPELT = 5
_MISSPELT_WEIGHT = 0.8
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


class Query:
    """A prompt met with a collection.

    Attributes:
        prompt: what was read.
        value: token of the prompt that the collection knows → weight times rarity.
        related: token of the prompt → words known to the collection that may stand for it, with value.
        gain: what ``bm25`` adds up: ``value`` and the values of related words, lessened.
        mass: what the prompt is about: the values of its rarest tokens, unknown ones included.
        frequency: token → records that hold it.
        tools: well-known tools that the prompt names, and names that may stand for them; none when it
            names none.
    """

    __slots__ = ("_records", "frequency", "gain", "mass", "prompt", "related", "tools", "value")

    def __init__(self, prompt: Prompt, collection: Collection) -> None:
        self.prompt = prompt
        self._records = collection.records
        weights = _bounded(prompt.weights)
        standing_for = _standing_for(weights)
        joined = _joined(prompt.neighbours, weights)
        wanted = {*weights, *joined}
        for others in standing_for.values():
            wanted.update(others)
        frequency = collection.frequencies(wanted)
        fixed = _misspelt(weights, frequency, collection)
        weights.update({token: weight for token, weight in joined.items() if token in frequency})
        weights.update(fixed)
        self.frequency = frequency
        values = {token: weight * self.rarity(token) for token, weight in weights.items()}
        self.value = {token: value for token, value in values.items() if token in frequency}
        self.mass = sum(sorted(values.values(), reverse=True)[:_MASS_TOKENS]) or 1.0
        self.related: dict[str, dict[str, float]] = {}
        self.gain = dict(self.value)
        for token, others in standing_for.items():
            known = {
                other: RELATED_WEIGHT * min(values[token], weights[token] * self.rarity(other))
                for other in others
                if other in frequency
            }
            if known:
                self.related[token] = known
            for other, value in known.items():
                self.gain[other] = max(self.gain.get(other, 0.0), _RELATED_GAIN * value)
        self.tools = {t for t, weight in prompt.weights.items() if weight >= _FULL_WEIGHT and t in TOOLS}
        if self.tools:
            self.tools.update(o for others in standing_for.values() for o in others if o in TOOLS)

    def rarity(self, token: str) -> float:
        """Inverse document frequency of any token in this collection, bounded."""
        return rarity(token, self.frequency.get(token, 0), self._records)


def _bounded(weights: dict[str, float]) -> dict[str, float]:
    """The tokens worth a look-up: all, or those that are heaviest and rarest by the lists."""
    if len(weights) <= MAX_LOOKED_UP:
        return dict(weights)
    ranked = sorted(weights, key=lambda token: (-weights[token] * (1 - prior(token)), token))
    return {token: weights[token] for token in ranked[:MAX_LOOKED_UP]}


def _standing_for(weights: dict[str, float]) -> dict[str, list[str]]:
    """Words that may stand for a token of a line that counts fully, by token."""
    found: dict[str, list[str]] = {}
    left = _RELATED_LOOKED_UP
    for token, weight in weights.items():
        if weight >= _FULL_WEIGHT and left > 0:
            others = [other for other in related(token) if other not in weights][:left]
            if others:
                found[token] = others
                left -= len(others)
    return found


def _joined(neighbours: Iterable[tuple[str, str]], weights: dict[str, float]) -> dict[str, float]:
    """``config map`` as ``configmap``, with the weight of the lighter half."""
    found: dict[str, float] = {}
    for first, second in sorted(neighbours)[: 4 * _MAX_JOINED]:
        token = first + second
        weight = min(weights.get(first, 0.0), weights.get(second, 0.0))
        if weight >= _FULL_WEIGHT and token.isalpha() and token not in weights and len(found) < _MAX_JOINED:
            found[token] = weight
    return found


def _misspelt(
    weights: dict[str, float], frequency: dict[str, int], collection: Collection
) -> dict[str, float]:
    """Known words one edit away from words that neither the collection nor the lists know.

    Their frequencies are added to ``frequency``.
    """
    unknown = [
        token
        for token, weight in weights.items()
        if weight >= _FULL_WEIGHT
        and token not in frequency
        and len(token) >= _SHORTEST_MISSPELT
        and token.isascii()
        and token.isalpha()
        and not is_listed(token)
    ]
    found: dict[str, float] = {}
    for token in unknown[:_MAX_MISSPELT]:
        known = collection.frequencies(_one_edit_away(token))
        if known:
            best = max(known, key=lambda word: (known[word], word))
            found[best] = _MISSPELT_WEIGHT * weights[token]
            frequency[best] = known[best]
    return {token: weight for token, weight in found.items() if token not in weights}


def _one_edit_away(word: str) -> set[str]:
    """Words that differ from ``word`` by one letter left out, put in, exchanged or swapped."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {a + b[1:] for a, b in cuts if b}
    found.update(a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1)
    for letter in _ALPHABET:
        found.update(a + letter + b for a, b in cuts)
        found.update(a + letter + b[1:] for a, b in cuts if b)
    found.discard(word)
    return found


class Candidate:
    """A record beside a prompt: where it is, and its features in the order of ``FEATURES``."""

    __slots__ = ("features", "number", "source")

    def __init__(self, source: str, number: int, features: tuple[float, ...]) -> None:
        self.source = source
        self.number = number
        self.features = features


def describe(prompt: Prompt, collection: Collection) -> list[Candidate]:
    """The records that share most with ``prompt``, best BM25 first, at most 12."""
    query = Query(prompt, collection)
    scored = [
        (collection.bm25(query.gain, document), source, document)
        for source, document in collection.candidates(query.gain, query.frequency)
    ]
    # Of equals the newer one; of stores the first.
    order = {source.name: place for place, source in enumerate(collection.sources)}
    scored.sort(key=lambda entry: (-entry[0], order[entry[1].name], -entry[2].number))
    scored = _distinct(scored)[:_CONSIDERED]
    if not scored:
        return []
    best = scored[0][0]
    second = scored[1][0] if len(scored) > 1 else 0.0
    # Where few records share a word, what a store of some hundred would share by chance stands in.
    others = [score for score, _, _ in scored[_BACKGROUND]]
    places = _BACKGROUND.stop - _BACKGROUND.start
    chance = _CHANCE * query.mass
    background = (sum(others) + chance * (places - len(others))) / places
    second = max(second, chance)
    signs = prompt.signs
    about_prompt = (float(signs.turn), float(signs.asking), float(signs.changing))
    return [
        Candidate(
            source.name,
            document.number,
            (
                log1p(score),
                *_shared(query, document),
                log((score + 2) / ((best if place else second) + 2)),
                log((score + 2) / (background + 2)),
                *about_prompt,
            ),
        )
        for place, (score, source, document) in enumerate(scored)
        if len(document.counts(query.gain)) >= _FEWEST_SHARED
    ]


def _distinct(scored: list[tuple[float, Source, Document]]) -> list[tuple[float, Source, Document]]:
    """The first of each text: a capsule that both stores hold is one candidate, not its own rival."""
    found: dict[str, tuple[float, Source, Document]] = {}
    for entry in scored:
        document = entry[2]
        found.setdefault(" ".join([*document.title, "\n", *document.body]), entry)
    return list(found.values())


def _shared(query: Query, document: Document) -> tuple[float, float, float, float]:
    """Features 2 to 5: what the prompt and one document share."""
    value = query.value
    title = set(document.title)
    everything = title.union(document.body, document.topics)
    covered = sum(value[token] for token in everything if token in value)
    title_mass = title_shared = 0.0
    for token in title:
        if not is_function_word(token):
            telling = query.rarity(token)
            title_mass += telling
            if token in value:
                title_shared += telling
    by_related = 0.0
    for token, others in query.related.items():
        if token not in everything:
            found = (v if o in title else _BODY_COVERS * v for o, v in others.items() if o in everything)
            by_related += max(found, default=0.0)
    return (
        covered / query.mass,
        title_shared / (title_mass + _TITLE_PRIOR),
        by_related / query.mass,
        float(bool(query.tools) and not everything.isdisjoint(TOOLS) and everything.isdisjoint(query.tools)),
    )
