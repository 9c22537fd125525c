"""The words of one sentence, as the rules of the correction detector compare them.

Lower case, contractions written out, commas and end marks as words of their own. Whom ``you``
stands for is told apart here, once, so that no rule has to:

    you     the subject of a statement about the agent, or an object: "you removed it", "I told you"
    ya      the subject of a question: "did you remove it"
    thee    inside a description of a thing: "the button you added"
    ye      not something that happened: "if you removed it", "make sure you removed it"

Data and pure functions; no regular expressions.
"""

from __future__ import annotations

MOST_WORDS = 80

YOU, YA, THEE, YE = "you", "ya", "thee", "ye"
ADDRESS = frozenset({YOU, YA, THEE, YE, "your", "yours", "yourself"})

CONTRACTIONS = {
    "u": "you", "ya": "you", "ur": "your", "youre": "you are", "youve": "you have", "youd": "you had",
    "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not", "wasnt": "was not",
    "arent": "are not", "werent": "were not", "havent": "have not", "hasnt": "has not", "hadnt": "had not",
    "wont": "will not", "wouldnt": "would not", "cant": "can not", "cannot": "can not", "couldnt": "could not",
    "shouldnt": "should not", "thats": "that is", "whats": "what is", "wheres": "where is", "theres": "there is",
    "ive": "i have", "im": "i am", "its": "its", "can't": "can not", "won't": "will not", "let's": "let us",
    "gonna": "going to", "noone": "nobody", "till": "until", "no-one": "nobody", "could've": "could have",
    "should've": "should have", "would've": "would have", "must've": "must have", "couldve": "could have",
    "shouldve": "should have", "wouldve": "would have", "w/o": "without", "why'd": "why did", "y'all": "you",
    "ain't": "is not", "yep": "yes", "pls": "please", "plz": "please", "tho": "though", "cuz": "because",
    "coz": "because", "bc": "because", "b4": "before", "tbh": "honestly", "rn": "now", "smth": "something",
    "wtf": "what the hell", "ffs": "seriously", "where'd": "where did", "how'd": "how did", "whod": "who did",
    "who'd": "who did", "whos": "who is", "yall": "you", "wth": "what the hell", "omg": "seriously",
}  # fmt: skip
_SUFFIXES = (
    ("n't", " not"), ("'re", " are"), ("'ve", " have"), ("'d", " had"), ("'ll", " will"), ("'m", " am"), ("'s", " is"),
)  # fmt: skip

# Said beside a verb without changing who did what.
ADVERBS = frozenset(
    "just also even again already simply still only then now obviously clearly apparently evidently "
    "actually literally basically really definitely certainly totally completely entirely probably maybe "
    "once have had has ever always constantly quietly silently somehow accidentally happily blindly "
    "randomly suddenly yourself both all confidently explicitly specifically repeatedly knowingly "
    "deliberately honestly first seriously twice anyway instead quite explicitely so merely plainly "
    "conveniently secretly needlessly unnecessarily wrongly falsely partly partially half fully "
    "cheerfully casually proudly boldly recklessly sneakily stubbornly yet well nicely too very pretty".split()
)

# Past forms that do not end in -ed.
_IRREGULAR = frozenset(
    "did made ran read wrote took put set went came gave got broke built chose cut drew drove fell felt found "
    "forgot forgotten grew held hid hit kept knew left lost meant met paid quit said saw sent shut spent split "
    "stole stuck swore threw told thought understood undid undone wiped won reran rewrote rewritten overwrote "
    "overwritten redid rebuilt reset misread misunderstood overrode overridden done gone written chosen broken "
    "taken given thrown let began begun brought caught dealt spun swapped sneaked snuck slipped shipped blew "
    "bought bet flung dug hardcoded kicked led laid sped tore wound withdrew unset ditched".split()
)
_NOT_PAST = frozenset(
    "need feed speed embed exceed proceed indeed hundred red shed seed bed sacred shared weed breed bleed "
    "succeed supposed allowed embedded nested".split()
)
_ORDINALS = frozenset(
    "second third fourth fifth sixth seventh eighth ninth tenth hundredth nth umpteenth thousandth millionth".split()
)
_NUMBERS = frozenset("one two three four five six seven eight nine ten half some most several".split())

# "you" after these is the subject of a main clause.
_MAIN_BEFORE = frozenset(
    ", : and but or so then because cause as though although while whereas even yet why how where no nope ok "
    "okay well hey lol wow do does did have has had are were was can could should would will might must is shall "
    "yes yeah nah "
    "again still also more today yesterday instead first second time here there ago fact claude dude bro "
    "overnight tonight man mate copilot codex agent bot gemini buddy friend please sorry thanks not seriously "
    "quoted hmm hm huh ah oh ugh argh sigh honestly look listen wait btw plus means mean meant see saw seeing noticed "
    "notice think believe feel say says said know knew guess seems appears looks bet swear understand understood suspect fear worry "
    "realize realise realized realised annoying afterwards meanwhile nevertheless however except minutes seconds "
    "hours anyway apparently obviously clearly evidently obvious clear sad weird odd funny crazy interesting now already just only really actually literally "
    "earlier later sometimes too either otherwise morning evening afternoon somehow got !!".split()
)
_AUXILIARIES = frozenset(
    "do does did have has had are were was is can could would should will might must shall may".split()
)
_MODALS = frozenset("can could would should will might must shall may".split())
_WONDERING = frozenset("how why what where who not".split())
# "I told you", "quoting you": the agent is spoken to, or of.
_RECEIVING = frozenset(
    "told telling reminding asking correcting asked tell ask gave give given sent send warned reminded remind want wanted need let allowed allow thank "
    "quoting quote showed trust trusted handed corrected instructed order ordered made make".split()
)
# A time or place set before the clause: "in your last commit you removed it".
_OPENINGS = frozenset(
    "in at on with for during from last this previously yesterday one two three five ten".split()
)
_OCCASIONS = frozenset(
    "message messages round turn step commit reply answer response run session week day patch fix change attempt "
    "try iteration version summary report diff pr plan task request prompt instructions instruction refactor rewrite "
    "point moment stage beginning start end place file".split()
)
# "… that you": a clause about the agent after these, else a description of a thing.
_OPINIONS = frozenset(
    "see saw noticed notice fact annoying annoys shows showed show means like because now so way given is was "
    "believe think thought appears seems disappointed disappointing sure clear obvious funny strange weird sad bad "
    "frustrating told said say says know knew prove proves proof bothers hate dislike impression wrong found "
    "admit pity shame evidence sign odd again problem issue unacceptable".split()
)
CONDITIONS = frozenset("if when whenever unless until before after whether whoever since either what".split())
_DOUBTS = frozenset("perhaps maybe likely possibly".split())
_CHECKS = frozenset(
    "sure ensure check verify confirm case assume assumed thought hope hoped hoping expected".split()
)
_FREE = frozenset("anything something everything whatever any wherever whichever whoever however".split())
_THINGS = frozenset("which all nothing none everyone one those".split())

_BOUNDARIES = str.maketrans(
    {"(": " , ", ")": " , ", '"': " , ", "…": " , ", "—": " , ", "–": " , ", ",": " , "}
)


def words_of(sentence: str) -> list[str]:
    """The words of ``sentence``, at most about ``MOST_WORDS``, with every ``you`` told apart."""
    words = _split(sentence)
    for index, word in enumerate(words):
        if word == YOU:
            words[index] = _whose(words, index)
    return words


def is_past(word: str) -> bool:
    """``removed``, ``wrote``: the form of something that happened."""
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST)


def is_ordinal(word: str) -> bool:
    """``third``, ``3rd``."""
    return word in _ORDINALS or (word[:1].isdigit() and word.endswith(("nd", "rd", "th")))


def is_number(word: str) -> bool:
    """``7``, ``seven``, ``half``."""
    return word.isdigit() or word in _NUMBERS


def is_word(word: str) -> bool:
    """Anything but a boundary."""
    return word not in {",", ":", "?", "!!"}


def _split(sentence: str) -> list[str]:
    out: list[str] = []
    sentence = sentence.translate(_BOUNDARIES)
    for raw in sentence.split():
        word = raw.strip("!?.*_~")
        if word.endswith(":") and len(word) > 1:
            _write_out(word[:-1], out)
            out.append(":")
        elif word in {"", "-", "--", "->"}:
            out.append(",")
        else:
            _write_out(word, out)
        if len(out) > MOST_WORDS:
            break
    tail = sentence[-4:]
    if "!!" in tail or "??" in tail or "?!" in tail or "!?" in tail:
        out.append("!!")
    if "?" in tail:
        out.append("?")
    while out and out[0] == ",":
        del out[0]
    return out


def _write_out(word: str, out: list[str]) -> None:
    if word in CONTRACTIONS:
        out.extend(CONTRACTIONS[word].split())
        return
    for suffix, full in _SUFFIXES:
        if word.endswith(suffix) and len(word) > len(suffix):
            out.extend((word[: -len(suffix)] + full).split())
            return
    out.append(word)


def _whose(words: list[str], index: int) -> str:
    """Which of ``you``, ``thee``, ``ye`` the word at ``index`` is."""
    start = index
    while start and words[start - 1] not in {",", ":"}:
        start -= 1
    before = words[start:index]
    for distance, word in enumerate(reversed(before[-6:])):
        if word == YE and distance:
            return YE
        if word in {YOU, YA, THEE} and distance:
            break
        if word in CONDITIONS or word in _FREE or word == "soon":
            return YE
        if word in _CHECKS and distance <= 1:
            return YE
    if not before:
        return YOU
    if before[0] == "once" and before[1:2] not in (["more"], ["again"]):
        return YE
    last = before[-1]
    if last == "where":
        return YE
    if last == "time" and "the" in before:
        return YE
    if last in _AUXILIARIES or (last == "not" and len(before) > 1 and before[-2] in _AUXILIARIES):
        return YE if last in _MODALS and (len(before) == 1 or before[-2] not in _WONDERING) else YA
    if last in _RECEIVING:
        return YOU
    if last in _DOUBTS or before[-2:] == ["i", "know"] or (last == "or" and "either" in words[:index]):
        return YE
    if last == "that":
        return YOU if len(before) == 1 or before[-2] in _OPINIONS else THEE
    if last in _THINGS:
        return THEE
    if last in _MAIN_BEFORE:
        return YOU
    if is_ordinal(last) or (last in _OCCASIONS and before[0] in _OPENINGS) or last in ADVERBS:
        return YOU
    return THEE
