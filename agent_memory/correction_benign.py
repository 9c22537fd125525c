"""What takes a reproach back: thanks, the user's own mistake, plans for later work.

Data and pure functions, used by ``corrections``.
"""

from __future__ import annotations

# The user speaks of a mistake of her own.
SELF = (
    "my bad", "my mistake", "my fault", "my error", "my apologies", "i forgot", "i mixed", "i misread", "i misspoke",
    "i was wrong", "i broke", "turns out", "never mind", "nevermind", "ignore what i", "forget what i", "i should have",
    "ignore my", "sorry i", "sorry , i", "oops", "ups ,", "i meant to", "not your fault", "i confused", "i misunderstood",
    "i keep forgetting", "scratch that", "false alarm", "it was me", "was my local", "that was me", "that was mine",
    "let me rephrase", "i rephrase", "i take that back", "apologies", "i pasted the", "i made the", "i made a", "i made that",
    "by accident", "accidentally", "i assumed", "i guess i", "i guess my", "i asked for the wrong", "i gave you the wrong",
    "i sent you the wrong", "i was looking at the wrong", "wrong window", "wrong chat", "wrong tab", "i had not", "i had still",
    "i still had", "i needed to pull", "was not you", "and not you", ", not you", "i did not explain", "i explained it badly", "i was unclear", "badly phrased", "badly worded", "i misphrased", "confusion , i", "i overlooked",
    "i deleted", "i never committed", "i never pushed", "i had a typo", "i typed", "i meant thursday", "but i meant",
    "and i meant", "changed my mind", "my last message was", "my request was", "my question was", "my message was", "my description was", "i misremembered", "i wrote it wrong", "i told you the wrong", "i thought you had",
    "changed their mind", "that was wrong", "i messed up", "i screwed up", "on my side", "on my end", "my own mistake",
)  # fmt: skip
# Nothing is held against the agent.
FRIENDLY = (
    "just curious", "only curious", "out of curiosity", "out of interest", "love it", "love that", "love them", "i like it",
    "i like that", ", keep it", "just keep it", "keep it for now", "that is fine", "it is fine", "that is ok", "that is okay", "it is okay", "it is ok",
    "no worries", "no problem", "not a problem", "no complaint", "no complaints", "happy with", "you are right",
    "you were right", "nailed it", "good that", "glad that", "glad you", "relax", "fair enough", "fine with me", "assumed correctly", "assumed right", "guessed right", "guessed correctly", "guess was right", "gave me what i", "being asked , thanks", "being asked , great", "being asked , nice", ", i have added", ", i have edited", ", i have updated", ", i have changed", ", i edited", ", i updated", "but fine", "let us take", "let us keep", "let us use", "let us leave", "let us go with", "but ok", "but okay", "but that is ok", "fine by me", "fine for me", "ok with me", "okay with me", "i see what you did", "that is what i meant", "that is what i wanted", "that is what i asked", "is exactly what i wanted", "is exactly what i needed", "is exactly what i meant", "is exactly what i asked", "is exactly what i had", "is all i wanted", "is what i wanted", "is what i asked for", "exactly what i asked", "exactly what i wanted", "exactly what i needed", "everything works", "works fine", "works great", "you could not know", "you could not have known", "makes sense",
    "thank you for", "thanks for", "good catch", "works now", "all good", "well done", "for telling me", "no need to apologize",
    "no hard feelings", "even better", "is better", "you did what i", "you did exactly what i asked", "you did exactly what i wanted", "you did exactly what i meant", "no objection", "good job",
    "not wrong , leave", "leave it as it is", "nothing wrong with", "you did not break", "well spotted",
    "forgot nothing", "missed nothing", "great job", "nice work", "good work", "well played", "impressive",
)  # fmt: skip
_INTERJECTIONS = frozenset(", ok okay ah oh yes hey".split())
_TAKES_BACK = frozenset("but however except yet".split())
_PRAISE = (
    "thanks", "thank you", "great", "perfect", "awesome", "nice", "excellent", "lovely", "brilliant", "good job",
    "well done", "exactly", "cool", "good catch", "good point", "amazing", "good", "wow", "sweet", "super", "haha", "yay",
    "lgtm", "sounds good",
)  # fmt: skip
_PLEASED = frozenset(
    "useful helpful great nice perfect love loved impressive clever brilliant amazing awesome relieved "
    "impressed grateful".split()
)
_DISPLEASED = frozenset("not no never nothing if would wrong missing why".split())
_HOWEVER = frozenset("but however though although except yet still".split())
_PLANS = (
    "from now on", "going forward", "in future", "in the future", "next time", "from here on", "for the rest of",
    "in this repo", "as always", "rule :", "for the next", "before you start", "make sure",
)  # fmt: skip
_ORDERS = frozenset(
    "add adapt adjust apply build bump change check clean close combine compare compile complete configure continue "
    "convert copy create cut debug delete deploy describe disable document draft drop enable exclude expand explain "
    "export extend extract fill find finish fix format generate give group implement import improve include increase "
    "install investigate keep let limit list log look make mark merge migrate mock move open optimise optimize "
    "parse pin plan port prepare print put raise read rebase reduce refactor release remove rename render reorder "
    "repeat replace reply report rerun reset restart restore resolve return review rewrite run search send "
    "set shorten show simplify skip sort speed split squash start stop store summarise summarize switch tag take "
    "tell test throw translate try turn undo unify update upgrade use validate verify wait wire wrap write".split()
)
_BEFORE_ORDERS = frozenset(
    "please now then and so just also ok okay next first let us can could would will ye you again hey hi , : let's".split()
)
_RULES = frozenset("never always avoid ensure remember whenever".split())


def excuses(sentences: list[list[str]]) -> bool:
    """Whether the user blames herself, or thanks or reassures without a "but" after it."""
    text = " " + " ".join(word for words in sentences for word in words) + " "
    if any(f" {mark} " in text for mark in SELF):
        return True
    for mark in FRIENDLY:
        at = text.find(f" {mark} ")
        if at >= 0 and _HOWEVER.isdisjoint(text[at + len(mark) :].split()):
            return True
    return _ends_pleased(sentences)


def _ends_pleased(sentences: list[list[str]]) -> bool:
    """The last clause that is more than thanks praises: "but all of it is useful. Thanks!"."""
    for words in reversed(sentences):
        start = max((at + 1 for at, word in enumerate(words[:-1]) if word == ","), default=0)
        clause = set(words[start:])
        if clause <= {"thanks", "thank", "you", "please", "cheers"}:
            continue
        if clause <= {"good", "ok", "okay", "fine", "cool"}:
            return True
        return not clause.isdisjoint(_PLEASED) and clause.isdisjoint(_DISPLEASED) and words[-1] != "?"
    return False


def praises(sentences: list[list[str]]) -> bool:
    """Whether the prompt starts with praise and takes nothing of it back."""
    start = " ".join(word for word in sentences[0][:5] if word not in _INTERJECTIONS)
    return start.startswith(_PRAISE) and not any(not _TAKES_BACK.isdisjoint(words) for words in sentences)


def is_order(words: list[str]) -> bool:
    """Whether the sentence tells the agent to do something: "add …", "please find …"."""
    for word in words[:4]:
        if word in _ORDERS:
            return True
        if word not in _BEFORE_ORDERS:
            return False
    return False


def speaks_of_plans(words: list[str]) -> bool:
    """Whether the sentence says how later work has to be done."""
    if words[0] == "only" and not {"you", "thee", "i", "we"} & set(words):
        return True
    if words[0] in _RULES:
        return True
    forbids = words[1:] if words[0] == "please" else words
    # "please don't, and put it back" looks back
    if forbids[:2] == ["do", "not"] and forbids[2:3] not in ([], [","]):
        return True
    text = f" {' '.join(words)} "
    return any(f" {mark} " in text for mark in _PLANS)
