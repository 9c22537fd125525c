"""Whether a prompt reproaches the agent for what it did, and of which kind.

``detect`` looks at the user's own words only (``prose``), word by word (``phrases``), with the
rules of ``correction_rules``. Precision comes first: a directive for no reason costs the agent's
attention at every prompt. Pure, bounded, standard library only, never raises on any string.

Source: Hook memory, Harvest and corrections ("fires on narrow conduct patterns").
"""

from __future__ import annotations

from agent_memory import correction_rules as rules
from agent_memory.phrases import Phrase
from agent_memory.prose import user_prose

SIGNALS = (rules.UNREQUESTED, rules.OMISSION, rules.UNVERIFIED, rules.GUESSED, rules.REPEAT)

_MOST_SENTENCES = 40
_MOST_WORDS = 80
_AGENT = frozenset({"you", "your", "yours", "yourself"})
_CONCERNS = frozenset(
    "asked ask told said wrong mistake guess guessing request requested guesswork again times undo "
    "revert agreed "
    "wanted approved same nobody stop lie lying bullshit nonsense creep clear explicitly vu here".split()
)
_ORDINALS = frozenset(
    "second third fourth fifth sixth seventh eighth ninth tenth hundredth nth umpteenth".split()
)
_CONDITIONS = frozenset("if when whenever unless once until before after while".split())
_AUXILIARY = frozenset(
    "do did does can could would will should may might must shall have are were is".split()
)


def detect(prompt: str) -> str | None:
    """The signal (one of ``SIGNALS``) that ``prompt`` gives, or None.

    Work is bounded whatever the length of the prompt.
    """
    sentences = user_prose(prompt)[:_MOST_SENTENCES]
    if not sentences:
        return None
    foreign = _foreign(sentences)
    words = [_words(sentence) for sentence in sentences]
    whole = [word for sentence in words for word in sentence]
    if not _concerns_the_agent(whole):
        return foreign
    text = " ".join(whole)
    if any(mark in f" {text} " for mark in _self_marks()):
        return None
    strong = _first(_strong(), words)
    if strong is not None:
        return strong
    if foreign is not None:
        return foreign
    if _praises(whole):
        return None
    return _composed(words, whole) or _first(_weak(), [s for s in words if s[-1:] != ["?"]])


def _concerns_the_agent(words: list[str]) -> bool:
    """Cheap test that lets most prompts go: nobody is addressed, nothing is repeated."""
    return not _AGENT.isdisjoint(words) or not _CONCERNS.isdisjoint(words)


def _self_marks() -> list[str]:
    return [f" {mark} " for mark in rules.SELF]


def _words(sentence: str) -> list[str]:
    """Lower-case words with contractions written out; commas and the question mark are words."""
    out: list[str] = []
    for char in ',()":…—':
        sentence = sentence.replace(char, " , ")
    question = sentence.endswith("?")
    for raw in sentence.split():
        word = raw.strip("!?.*_~")
        if not word:
            continue
        if word in rules.CONTRACTIONS:
            out.extend(rules.CONTRACTIONS[word].split())
            continue
        for suffix, full in rules.SUFFIXES:
            if word.endswith(suffix) and len(word) > len(suffix):
                out.extend((word[: -len(suffix)] + full).split())
                break
        else:
            out.append(word)
        if len(out) > _MOST_WORDS:
            break
    if question:
        out.append("?")
    return out


def _is_past(word: str) -> bool:
    return word in rules.IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in rules.NOT_PAST)


def _is_ordinal(word: str) -> bool:
    return word in _ORDINALS or (word[:1].isdigit() and word.endswith(("nd", "rd", "th")))


def _is_number(word: str) -> bool:
    return word.isdigit() or word in rules.NUMBERS


def _any(word: str) -> bool:
    return word not in {",", "?"}


_CLASSES = {
    "past": _is_past,
    "adverb": rules.ADVERBS.__contains__,
    "ordinal": _is_ordinal,
    "any": _any,
    "num": _is_number,
    "test": rules.TEST_VERBS.__contains__,
    "destroyed": rules.DESTROYED.__contains__,
    "forgot": rules.FORGOT.__contains__,
    "product": rules.PRODUCT.__contains__,
    "claimed": rules.CLAIMED.__contains__,
    "asked": rules.ASKED.__contains__,
}
_compiled: dict[str, list[Phrase]] = {}


def _phrases(name: str, table: tuple[tuple[str, str], ...]) -> list[Phrase]:
    if name not in _compiled:
        _compiled[name] = [Phrase(text, label, _CLASSES) for label, text in table]
    return _compiled[name]


def _strong() -> list[Phrase]:
    return _phrases("strong", rules.STRONG)


def _weak() -> list[Phrase]:
    return _phrases("weak", rules.WEAK)


def _first(phrases: list[Phrase], sentences: list[list[str]]) -> str | None:
    for phrase in phrases:
        for words in sentences:
            at = phrase.search(words)
            if at >= 0 and not _hypothetical(words, at):
                return phrase.label
    return None


def _hypothetical(words: list[str], at: int) -> bool:
    """What follows is a condition or a plan, not something that happened."""
    before = words[:at]
    if not _CONDITIONS.isdisjoint(before[-2:]):
        return True
    # "the error says: you did not …" is somebody else speaking.
    return not rules.SPEAKERS.isdisjoint(before) and _AGENT.isdisjoint(before) and "i" not in before


def _acts(words: list[str]) -> bool:
    """The sentence tells of something the agent did: "you (adverb) past form"."""
    for index, word in enumerate(words):
        if word != "you" or _hypothetical(words, index) or (index and words[index - 1] in _AUXILIARY):
            continue
        position = index + 1
        while position < len(words) and words[position] in rules.ADVERBS:
            position += 1
        if position < len(words) and _is_past(words[position]):
            return True
    return False


def _claims(words: list[str]) -> int:
    """Index after "you said" or "your summary says", or -1."""
    for index, word in enumerate(words[:-1]):
        if word not in {"you", "your"} or _hypothetical(words, index):
            continue
        if index and words[index - 1] in _AUXILIARY:
            continue
        tail = [w for w in words[index + 1 : index + 5] if w not in rules.ADVERBS]
        if word == "you" and tail and tail[0] in rules.CLAIMED:
            return index + 2
        if word == "your" and tail and tail[0] in rules.PRODUCT:
            if any(
                w in {"says", "said", "claims", "claimed", "states", "stated", "mentions"} for w in tail[1:4]
            ):
                return index + 3
    return -1


def _asked(words: list[str]) -> bool:
    """ "I asked", "we said", "I only wanted"."""
    for index, word in enumerate(words):
        if word in {"i", "we"} and not _hypothetical(words, index):
            tail = [w for w in words[index + 1 : index + 4] if w not in rules.ADVERBS]
            if tail and tail[0] in rules.ASKED:
                return True
    return False


def _contradicts(words: list[str]) -> bool:
    """ ", the report says 61": after a boundary, a source that says something else."""
    boundary = words.index(",") if "," in words else len(words)
    later = words[boundary:]
    sources = {"shows", "says", "lists", "prints", "reads", "returns", "finds", "found", "counts", "gives"}
    return not sources.isdisjoint(later)


def _checked(words: list[str]) -> bool:
    """ "I ran it", "I just checked"."""
    for index, word in enumerate(words):
        if word == "i":
            tail = [w for w in words[index + 1 : index + 4] if w not in rules.ADVERBS]
            if tail and tail[0] in {
                "ran",
                "checked",
                "tested",
                "tried",
                "looked",
                "called",
                "opened",
                "counted",
            }:
                return True
    return False


def _composed(sentences: list[list[str]], whole: list[str]) -> str | None:
    """Two facts, possibly in two sentences, that are a reproach together."""
    statements = [words for words in sentences if words[-1:] != ["?"]]
    for index, words in enumerate(statements):
        start = _claims(words)
        if start >= 0:
            after = words[start:] + [w for later in statements[index + 1 :] for w in [",", *later]]
            if not rules.NEGATIVE.isdisjoint(after) or _contradicts(after):
                return rules.UNVERIFIED
            if _checked(whole) and not rules.NEGATIVE.isdisjoint(whole):
                return rules.UNVERIFIED
    acted = any(_acts(words) for words in sentences)
    asked = any(_asked(words) for words in sentences)
    joined = f" {' '.join(whole)} "
    if acted and any(word == "time" and _is_ordinal(whole[at - 1]) for at, word in enumerate(whole) if at):
        return rules.REPEAT
    if acted and any(
        f" who {verb} " in joined for verb in ("asked", "told", "wanted", "ordered", "requested")
    ):
        return rules.UNREQUESTED
    if asked and any(words[0] == "where" and words[-1] == "?" for words in sentences):
        return rules.OMISSION
    if " why did you " in joined and any("only" in words for words in statements):
        return rules.UNREQUESTED
    if asked and (" why did you " in joined or " what are the other " in joined or " doing there " in joined):
        return rules.UNREQUESTED
    if acted and asked:
        limits = {"only", "just", "not", "never", "no", "anyway", "instead", "although", "but"}
        return rules.UNREQUESTED if not limits.isdisjoint(whole) else rules.OMISSION
    if asked and "your" in whole and not rules.NEGATIVE.isdisjoint(whole):
        return rules.OMISSION
    undone = {"undo", "revert", "restore", "rollback"} & set(whole) or _puts_back(whole)
    forbidden = " do not " in joined and (" unless i " in joined or " until i " in joined)
    if undone and (acted or asked or forbidden):
        return rules.UNREQUESTED
    return None


def _puts_back(words: list[str]) -> bool:
    """ "put it all back", "change that back"."""
    for index, word in enumerate(words):
        if (
            word in {"put", "change", "turn", "roll", "switch", "take", "set"}
            and "back" in words[index + 1 : index + 5]
        ):
            return True
    return False


def _praises(words: list[str]) -> bool:
    start = " ".join(words[:4])
    return start.startswith(rules.PRAISE)


def _foreign(sentences: list[str]) -> str | None:
    """A reproach in another language: a fixed wording and, after ``|``, one of several beside it."""
    text = " \n ".join(sentences)
    if text.isascii() and "you" in text:
        return None
    padded = f" {text} "
    for label, entry in rules.FOREIGN:
        wording, _, beside = entry.partition("|")
        if wording in padded and (not beside or any(part in padded for part in beside.split(","))):
            return label
    return None
