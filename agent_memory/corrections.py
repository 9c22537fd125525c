"""Whether a prompt reproaches the agent for what it did, and of which kind.

``detect`` looks at the user's own words only (``prose``), word by word (``phrases``), with the
rules of ``correction_rules`` and ``correction_facts``. Precision comes first: a directive for no
reason costs the agent's attention at every prompt. Pure, bounded, standard library only, never
raises on any string.

Source: Hook memory, Harvest and corrections ("fires on narrow conduct patterns").
"""

from __future__ import annotations

from agent_memory import correction_facts as facts
from agent_memory import correction_rules as rules
from agent_memory import correction_words as words_
from agent_memory.correction_benign import excuses, speaks_of_plans
from agent_memory.correction_foreign import foreign_signal
from agent_memory.phrases import Phrase
from agent_memory.prose import user_prose

SIGNALS = (rules.UNREQUESTED, rules.OMISSION, rules.UNVERIFIED, rules.GUESSED, rules.REPEAT)

_MOST_SENTENCES = 40
_NEIGHBOURS = 3
# A prompt without any of these reproaches nobody; most tasks end here.
_CONCERNS = words_.ADDRESS | frozenset(
    "asked ask told said wrong mistake guess guessing request requested guesswork again times undo revert agreed "
    "wanted approved same identical nobody stop lie lying bullshit nonsense creep clear explicitly vu here time "
    "ticket spec wrote still attempt once true false hallucination fabrication fabricate exist "
    "theory random dark guessed evidence measurement never ordered allowed list instructions instruction tried "
    "numbers brief part nothing change compiled tested run who message task described requirement citations hell "
    "i we my error makes earth learn theorise theorize theorising guesses facts probably back quoted missing count".split()
)
_CLASSES = {
    "past": words_.is_past,
    "adverb": words_.ADVERBS,
    "ordinal": words_.is_ordinal,
    "any": words_.is_word,
    "num": words_.is_number,
    "notfine": lambda word: words_.is_word(word) and word not in rules.FINE_IF_NOT,
    "you": frozenset({words_.YOU, words_.THEE}),
    "test": rules.TEST_VERBS,
    "destroyed": rules.DESTROYED,
    "overdid": rules.OVERDID,
    "forgot": rules.FORGOT,
    "product": rules.PRODUCT,
    "claimed": rules.CLAIMED,
    "asked": rules.ASKED,
    "same": rules.SAME,
    "errors": rules.ERRORS,
}
_compiled: dict[str, list[Phrase]] = {}


def detect(prompt: str) -> str | None:
    """The signal (one of ``SIGNALS``) that ``prompt`` gives, or None.

    Work is bounded whatever the length of the prompt.
    """
    sentences = user_prose(prompt)[:_MOST_SENTENCES]
    if not sentences:
        return None
    foreign = foreign_signal(sentences)
    told = [words_.words_of(sentence) for sentence in sentences]
    all_words = {word for words in told for word in words}
    if all_words.isdisjoint(_CONCERNS):
        return foreign
    if excuses(told):
        return None
    strong = _first("strong", rules.STRONG, told, all_words)
    if strong is not None:
        return strong
    if foreign is not None:
        return foreign
    if _praises(told):
        return None
    statements = [words for words in told if not speaks_of_plans(words)]
    return _together(told, all_words) or _first(
        "weak", rules.WEAK, [words for words in statements if words[-1:] != ["?"] or "ya" in words], all_words
    )


def _phrases(name: str, table: tuple[tuple[str, str], ...]) -> list[Phrase]:
    if name not in _compiled:
        _compiled[name] = [Phrase(text, label, _CLASSES) for label, text in table]
    return _compiled[name]


def _first(
    name: str, table: tuple[tuple[str, str], ...], sentences: list[list[str]], all_words: set[str]
) -> str | None:
    somebody_else = not all_words.isdisjoint(rules.OTHERS)
    for phrase in _phrases(name, table):
        if not phrase.possible(all_words):
            continue
        for words in sentences:
            at = phrase.search(words)
            if at < 0 or _hypothetical(words, at):
                continue
            if somebody_else and words_.ADDRESS.isdisjoint(words):
                continue
            return phrase.label
    return None


def _hypothetical(words: list[str], at: int) -> bool:
    """What follows is a condition, or what somebody else or a program says."""
    before = words[:at]
    if not words_.CONDITIONS.isdisjoint(before[-2:]):
        return True
    if words[at] not in words_.ADDRESS or not words_.ADDRESS.isdisjoint(before) or "i" in before:
        return False
    # "the error says: you did not …"; but "the docs say a, you wrote b" is the user's.
    if not rules.LABELS.isdisjoint(before[-1:] if before[-1:] != [":"] else before[-2:-1]):
        return True
    for word in reversed(before):
        if word == ",":
            return False
        if word in rules.SPEAKING:
            return True
    return False


def _praises(sentences: list[list[str]]) -> bool:
    start = " ".join(word for word in sentences[0][:4] if word != ",")
    if not start.startswith(rules.PRAISE):
        return False
    return not any(words[0] in words_.CONTRASTS or words_.CONTRASTS & set(words) for words in sentences)


def _together(sentences: list[list[str]], all_words: set[str]) -> str | None:
    """Facts in neighbouring sentences that are a reproach together."""
    phrases = [phrase for phrase in _phrases("facts", facts.FACTS) if phrase.possible(all_words)]
    found = [_facts_of(words, phrases) for words in sentences]
    for label, wanted in facts.TOGETHER:
        for index in range(len(found)):
            near = set().union(*found[index : index + _NEIGHBOURS])
            if near.issuperset(wanted):
                return label
    return None


def _facts_of(words: list[str], phrases: list[Phrase]) -> set[str]:
    if speaks_of_plans(words):
        phrases = [phrase for phrase in phrases if phrase.label == facts.FORBID]
    found: set[str] = set()
    for phrase in phrases:
        if phrase.label in found:
            continue
        at = phrase.search(words)
        if at >= 0 and not _hypothetical(words, at):
            found.add(phrase.label)
    question = words[-1:] == ["?"]
    for index, word in enumerate(words):
        if word not in {words_.YOU, words_.THEE} or _hypothetical(words, index):
            continue
        done = _after_adverbs(words, index + 1)
        if done == "quoted" or (done in rules.CLAIMED and not question and _claims(words, index)):
            found.add(facts.CLAIM)
        elif word == words_.THEE:
            continue
        elif words_.is_past(done) and done not in rules.WELCOME:
            found.add(facts.ACTED)
            if not question and not _ADVERSE.isdisjoint(words):
                found.add(facts.ADVERSE)
            if done in rules.OVERDID:
                found.add(facts.OVERDID)
            if any(w == "time" and words_.is_ordinal(words[at - 1]) for at, w in enumerate(words) if at):
                found.add(facts.NTH)
    for index, word in enumerate(words[:-1]):
        if word == "your" and _after_adverbs(words, index + 1) in rules.PRODUCT and not question:
            if not _SAYS.isdisjoint(words[index + 2 : index + 5]):
                found.add(facts.CLAIM)
    if question and "!!" not in words:
        found &= _TOLD_BY_QUESTIONS
    return found


_TOLD_BY_QUESTIONS = frozenset({facts.WHY, facts.SURPRISE, facts.WHERE, facts.OVERDID, facts.ACCESS})
_SAYS = frozenset("says said claims claimed states stated mentions lists reads".split())


def _claims(words: list[str], index: int) -> bool:
    """Whether ``you`` at ``index`` says something, rather than writes or names a thing."""
    position = index + 1
    while words[position] in words_.ADVERBS:
        position += 1
    if words[position] in rules.SAID:
        return True
    return words[index] == words_.YOU and words[position + 1 : position + 2] != [] and (
        words[position + 1] in _CONTENT or words[position + 2 : position + 3] == ["as"]
    )


_ADVERSE = frozenset("not no nothing never without wrong missing broken instead still only neither nowhere".split())
_CONTENT = frozenset("that quoted in , : it there this everything all done as i the".split())


def _after_adverbs(words: list[str], position: int) -> str:
    while position < len(words) and words[position] in words_.ADVERBS:
        position += 1
    return words[position] if position < len(words) else ""
