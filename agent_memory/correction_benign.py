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
    "i still had", "i needed to pull", "was not you", "and not you", ", not you", "i did not explain", "i explained it badly", "i was unclear", "i overlooked",
    "i deleted", "i never committed", "i never pushed", "i had a typo", "i typed", "i meant thursday", "but i meant",
    "and i meant", "i changed my mind", "i misremembered", "i wrote it wrong", "i told you the wrong", "i thought you had",
    "changed their mind", "that was wrong", "i messed up", "i screwed up", "on my side", "on my end", "my own mistake",
)  # fmt: skip
# Nothing is held against the agent.
FRIENDLY = (
    "just curious", "only curious", "out of curiosity", "out of interest", "love it", "love that", "love them", "i like it",
    "i like that", "keep it", "that is fine", "it is fine", "that is ok", "that is okay", "it is okay", "it is ok",
    "no worries", "no problem", "not a problem", "no complaint", "no complaints", "happy with", "you are right",
    "you were right", "nailed it", "good that", "glad that", "glad you", "relax", "fair enough", "makes sense",
    "thank you for", "thanks for", "good catch", "works now", "all good", "well done", "for telling me", "no need to apologize",
    "no hard feelings", "even better", "is better", "you did what i", "you did exactly what", "no objection", "good job",
    "not wrong , leave", "leave it as it is", "nothing wrong with", "you did not break", "well spotted",
)  # fmt: skip
_HOWEVER = frozenset("but however though although except yet still".split())
_PLANS = (
    "from now on", "going forward", "in future", "in the future", "next time", "from here on", "for the rest of",
    "in this repo", "as always", "rule :", "for the next", "before you start", "make sure", "please do not",
)  # fmt: skip
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
    return False


def speaks_of_plans(words: list[str]) -> bool:
    """Whether the sentence says how later work has to be done."""
    if words[0] == "only" and not {"you", "thee", "i", "we"} & set(words):
        return True
    if words[0] in _RULES or (words[0] == "do" and words[1:2] == ["not"]):
        return True
    text = f" {' '.join(words)} "
    return any(f" {mark} " in text for mark in _PLANS)
