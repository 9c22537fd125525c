"""Whether a prompt reproaches the agent for what it did, and of which kind.

``detect`` looks at the user's own words only (``prose``), word by word (``correction_words``), with
the phrases of ``correction_rules`` and the combinations of ``correction_facts``; where one holds, the prompt
as a whole must not speak against it (``correction_odds``). Precision comes first: a directive for no reason
costs the agent's attention at every prompt. Pure, bounded, standard library only, never raises on any string.

Source: Hook memory, Harvest and corrections ("fires on narrow conduct patterns").
"""

from __future__ import annotations

from agent_memory import correction_facts as facts
from agent_memory import correction_vocabulary as vocabulary
from agent_memory.correction_benign import excuses, is_order, praises, speaks_of_plans
from agent_memory.correction_rules import STRONG, WEAK
from agent_memory.correction_words import (
    ADDRESS,
    ADVERBS,
    CONDITIONS,
    THEE,
    YE,
    YOU,
    is_number,
    is_ordinal,
    is_past,
    is_word,
    words_of,
)
from agent_memory.phrases import Phrase, possible
from agent_memory.prose import user_prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_memory.phrases import Classes

    Table = tuple[tuple[str, str], ...]

SIGNALS = (
    vocabulary.UNREQUESTED,
    vocabulary.OMISSION,
    vocabulary.UNVERIFIED,
    vocabulary.GUESSED,
    vocabulary.REPEAT,
)

_MOST_SENTENCES = 40
# Facts that stand further apart than this many sentences are not taken together.
_NEIGHBOURS = 3
_CLASSES: Classes = {
    "past": is_past,
    "adverb": ADVERBS,
    "ordinal": is_ordinal,
    "any": is_word,
    "num": is_number,
    "notfine": lambda word: is_word(word) and word not in vocabulary.FINE_IF_NOT,
    "you": frozenset({YOU, THEE}),
    "test": vocabulary.TEST_VERBS,
    "destroyed": vocabulary.DESTROYED,
    "overdid": vocabulary.OVERDID,
    "forgot": vocabulary.FORGOT,
    "product": vocabulary.PRODUCT,
    "claimed": vocabulary.CLAIMED,
    "asked": vocabulary.ASKED,
    "same": vocabulary.SAME,
    "errors": vocabulary.ERRORS,
}
_ENGLISH = frozenset("the and you your this that with please not".split())
_ADVERSE = frozenset(
    "not no nothing never without wrong missing broken instead still only neither nowhere none although "
    "though despite".split()
)
# A sentence with one of these speaks of what the agent did.
_AGREE = ([",", "right"], [",", "correct"], [",", "yes"])
_NAMED = ADDRESS - {YE}
_RULES = frozenset("always if unless whenever".split())
_OUTSIDE = frozenset(", : but and although though yet while when".split())
_CONTRARY = frozenset("but though although yet and even not never nothing".split())
# "I don't see it" does deny it.
_PERCEIVED = frozenset("see find approve".split())
_SAYS = frozenset("says said claims claimed states stated mentions lists reads".split())
# "you wrote that …" claims something, "you wrote a test" does not.
_CONTENT = frozenset("that quoted in , : it there this everything all done as i the".split())
_OF_THINGS = frozenset({facts.LACKS, facts.FAILS, facts.SURPRISE, facts.DAMAGE})
_NOT_ORDERED = _OF_THINGS | {facts.ONCE_MORE, facts.DENIED, facts.AGAIN}
_RELATIVE = frozenset("that which who whose where if when until unless whenever while".split())
_TOLD_BY_QUESTIONS = frozenset(
    {facts.WHY, facts.SURPRISE, facts.WHERE, facts.OVERDID, facts.ACCESS, facts.CLAIM, facts.WHERE_FROM}
)
_compiled: dict[str, Phrase] = {}


def detect(prompt: str) -> str | None:
    """The signal (one of ``SIGNALS``) that ``prompt`` gives, or None.

    Work is bounded whatever the length of the prompt.
    """
    prose = user_prose(prompt)[:_MOST_SENTENCES]
    sentences = [words for sentence in prose if (words := words_of(sentence))]
    whole = {word for words in sentences for word in words}
    foreign = _foreign(prose)
    if not sentences or excuses(sentences):
        return foreign
    strong = _first(STRONG, sentences, whole)
    if strong is None and foreign is not None:
        return foreign
    signal = strong if strong is not None or praises(sentences) else _by_context(sentences, whole)
    if signal is None:
        return None
    # Imported when it is needed: in most prompts no rule holds.
    from agent_memory.correction_odds import is_doubted

    return foreign if is_doubted(sentences) else signal


def _by_context(sentences: list[list[str]], whole: set[str]) -> str | None:
    """What is a reproach together with its neighbours, or in a prompt that praises nothing."""
    stated = [words for words in sentences if words[-1] != "?" or "ya" in words]
    return _together(sentences, whole) or _first(
        WEAK, [words for words in stated if not speaks_of_plans(words)], whole
    )


def _foreign(prose: list[str]) -> str | None:
    if any(not _ENGLISH.isdisjoint(sentence.split()) for sentence in prose):
        return None
    # Imported when it is needed: most prompts are English.
    from agent_memory.correction_foreign import foreign_signal

    return foreign_signal(prose)


def _phrases(table: Table, whole: set[str]) -> Iterator[tuple[str, Phrase]]:
    """The phrases of ``table``, with their labels, that a prompt of these words can have."""
    for label, text in table:
        if possible(text, whole, _CLASSES):
            phrase = _compiled.get(text)
            if phrase is None:
                phrase = _compiled[text] = Phrase(text, _CLASSES)
            yield label, phrase


def _first(table: Table, sentences: list[list[str]], whole: set[str]) -> str | None:
    somebody_else = not whole.isdisjoint(vocabulary.OTHERS)
    for label, phrase in _phrases(table, whole):
        for words in sentences:
            at = phrase.search(words)
            if at < 0 or _hypothetical(words, at) or _asks_only(words):
                continue
            if _NAMED.isdisjoint(words) and (somebody_else or _speaks_of_things(words, at)):
                continue
            return label
    return None


def _asks_only(words: list[str]) -> bool:
    """A statement that asks to be confirmed: "…, right?", "you have not pushed yet, have you?"."""
    return words[-1] == "?" and (words[-3:-1] in _AGREE or "yet" in words)


def _speaks_of_things(words: list[str], at: int) -> bool:
    """Whether a sentence that addresses nobody is a rule, or describes a thing: "what was not requested"."""
    # What a rule forbids later is no reproach, unless the phrase is the rule: "don't say it's done when …".
    if at > 1 and speaks_of_plans(words):
        return True
    return not _RULES.isdisjoint(words) or not _RELATIVE.isdisjoint(words[max(1, at - 2) : at])


def _hypothetical(words: list[str], at: int) -> bool:
    """What follows is a condition, or what somebody else or a program says."""
    before = words[:at]
    if not CONDITIONS.isdisjoint(before[-2:]):
        return True
    if words[at] not in ADDRESS:
        return False
    # "the error says: you did not …"; but "the docs say a, you wrote b" is the user's.
    if not vocabulary.LABELS.isdisjoint(before[-1:] if before[-1:] != [":"] else before[-2:-1]):
        return True
    for position in range(at - 1, 0, -1):
        if before[position] == ",":
            return False
        if before[position] in vocabulary.SPEAKING:
            return ADDRESS.isdisjoint(before[:position]) and "i" not in before[:position]
    return False


def _together(sentences: list[list[str]], whole: set[str]) -> str | None:
    """Facts in neighbouring sentences that are a reproach together."""
    phrases = list(_phrases(facts.FACTS, whole))
    found = [_facts_of(words, phrases) for words in sentences]
    near = [set().union(*found[index : index + _NEIGHBOURS]) for index in range(len(found))]
    for label, wanted in facts.TOGETHER:
        if any(there.issuperset(wanted) for there in near):
            return label
    return None


def _facts_of(words: list[str], phrases: list[tuple[str, Phrase]]) -> set[str]:
    plans = speaks_of_plans(words) or (words[0] in CONDITIONS and words[0] != "what")
    order = is_order(words)
    found: set[str] = set()
    for fact, phrase in phrases:
        if fact in found or (plans and fact != facts.FORBID) or (order and fact in _NOT_ORDERED):
            continue
        at = phrase.search(words)
        if at >= 0 and not _hypothetical(words, at) and not _describes(fact, words, at):
            found.add(fact)
    question = words[-1] == "?"
    for index, word in enumerate(words):
        if word in {YOU, THEE} and not _hypothetical(words, index):
            found |= _told_of_the_agent(words, index, question)
        elif word == "your" and not question and words[_verb(words, index)] in vocabulary.PRODUCT:
            if not _SAYS.isdisjoint(words[index + 2 : index + 5]):
                found.add(facts.CLAIM)
    if {facts.CLAIM, facts.DENIED} <= found and not _denied_after_claim(words, phrases):
        found.discard(facts.DENIED)
    if question and "!!" not in words:
        found &= _TOLD_BY_QUESTIONS
    return found


def _denied_after_claim(words: list[str], phrases: list[tuple[str, Phrase]]) -> bool:
    """Whether something is denied outside of what the agent said: "that it is not used" denies nothing."""
    start = min(words.index(word) for word in (YOU, THEE, "your", "quoted") if word in words)
    for at in range(start + 1, len(words)):
        if words[at] in _OUTSIDE:
            rest = words[at:]
            return any(fact == facts.DENIED and phrase.search(rest) >= 0 for fact, phrase in phrases)
    return False


def _told_of_the_agent(words: list[str], index: int, question: bool) -> set[str]:
    """What the clause says that the agent did, whose subject ``you`` stands at ``index``."""
    verb = _verb(words, index)
    done = words[verb]
    if done == "quoted" or (
        done in vocabulary.CLAIMED and (index == 0 or not question) and _claims(words, index, verb)
    ):
        return {facts.CLAIM}
    if words[index] == THEE or not is_past(done) or done in vocabulary.WELCOME:
        return set()
    if (
        done == "did"
        and words[verb + 1 : verb + 2] == ["not"]
        and words[_verb(words, verb + 1)] in vocabulary.FINE_IF_NOT
    ):
        return set()
    told = {facts.ACTED}
    if not question and _is_adverse(words[verb:]):
        told.add(facts.ADVERSE)
    if done in vocabulary.OVERDID:
        told.add(facts.OVERDID)
    if any(word == "time" and at and is_ordinal(words[at - 1]) for at, word in enumerate(words)):
        told.add(facts.NTH)
    return told


def _is_adverse(words: list[str]) -> bool:
    """Whether the clause that begins these words, or a "but" after it, denies or restricts."""
    clause = 0
    while clause < len(words) and words[clause] not in {",", ":"}:
        clause += 1
    if not _ADVERSE.isdisjoint(words[:clause]):
        return True
    then = words[clause + 1 :]
    return then[:1] != [] and then[0] in _CONTRARY and not _ADVERSE.isdisjoint(then)


def _verb(words: list[str], index: int) -> int:
    """Index of the word after the adverbs that follow ``index``; the last word when there is none."""
    position = index + 1
    while position < len(words) - 1 and words[position] in ADVERBS:
        position += 1
    return min(position, len(words) - 1)


def _claims(words: list[str], index: int, verb: int) -> bool:
    """Whether the agent says something there, rather than writes or names a thing."""
    if words[verb] in vocabulary.SAID:
        # what the agent was told by its own words to do is no claim
        return words[verb + 1 : verb + 4] not in (
            ["me", "not", "to"],
            ["me", "to", "do"],
            ["us", "not", "to"],
        )
    if words[index] != YOU or verb + 1 >= len(words):
        return False
    return words[verb + 1] in _CONTENT or words[verb + 2 : verb + 3] == ["as"]


def _describes(fact: str, words: list[str], at: int) -> bool:
    """Whether what lacks or fails is told of a thing that is only named: "files that are not covered".

    Nor is "I don't have it" a denial of what the agent said.
    """
    first_person = "i" in words[max(0, at - 2) : at] and words[at] in {"not", "do", "did", "have"}
    if fact in {facts.DENIED, facts.LACKS} and first_person:
        return _PERCEIVED.isdisjoint(words[at : at + 4])
    return fact in _OF_THINGS and not _RELATIVE.isdisjoint(words[max(1, at - 3) : at])
