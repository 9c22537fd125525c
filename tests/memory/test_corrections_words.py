"""What the correction detector is made of: prose, words, phrases, and the tables of phrases."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory import corrections
from agent_memory.correction_benign import excuses, is_order, praises, speaks_of_plans
from agent_memory.correction_facts import FACTS, TOGETHER
from agent_memory.correction_foreign import FOREIGN, foreign_signal
from agent_memory.correction_rules import STRONG, WEAK
from agent_memory.correction_words import MOST_WORDS, is_number, is_ordinal, is_past, words_of
from agent_memory.phrases import Phrase, possible
from agent_memory.prose import user_prose
from tests.conftest import REPOSITORY

PHRASES = sorted({text for _, text in (*STRONG, *WEAK, *FACTS)})
OWN = json.loads((REPOSITORY / "tests/data/eval/corrections_blind.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------- prose


def test_what_stands_in_quotations_code_and_logs_is_not_what_the_user_says() -> None:
    said = user_prose(
        'look: "you lied" and `you guessed` — fine\n\n$ echo you forgot\n12:01 bob: you forgot it'
    )
    assert not any(word in " ".join(said) for word in ("lied", "guessed", "forgot"))


def test_an_apostrophe_in_a_word_does_not_open_a_quotation() -> None:
    assert user_prose("you didn't do the users' list, that's it") == [
        "you didn't do the users' list, that's it"
    ]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("", []),
        ("> you said it\n> it is not", []),
        ("```\nyou forgot\n```\nwhat is this?", ["what is this?"]),
        ("```\nyou forgot", []),
        ("see\n\n    you forgot\n\nfix it", ["see", "fix it"]),
        ("translate: you forgot", []),
        ("please now summarize this\n\nyou forgot", []),
        ("please don't\nyou forgot", ["please don't", "you forgot"]),
        ("mypy says\n\nyou forgot a type\n\nfix it", ["mypy says", "fix it"]),
        ("two things:\n\nyou forgot a\nyou forgot b", ["two things:", "you forgot a", "you forgot b"]),
        ("hi,\n\nthe log is wrong", ["hi,", "the log is wrong"]),
        ("stderr:\nyou have no token\nrun login", []),
        ("here is the mail:\nyou forgot me", ["here is the mail:"]),
        ("a user wrote: you forgot me", ["a user wrote:"]),
        ("flag sentences like you forgot it", ["flag sentences"]),
        ("I need a version of: you forgot it", ["i need a version of:"]),
        ("ValueError: you forgot it", []),
        ("wait: you forgot it", ["wait: you forgot it"]),
        ("error You forgot it", []),
        ("error you forgot it", ["error you forgot it"]),
        ("ERROR42 [3] you forgot", []),
        ("AGAIN", ["again"]),
        ("not ok 3 - you forgot", []),
        ("what is this\n\nFoo: a\nBar: b\nBaz: c\nqux\n\nthanks", ["what is this", "thanks"]),
        ("a1  b1\na2  b2\na3  b3\n\nthanks", ["a1  b1", "thanks"]),
        ("look\n\nyou forgot\n\n\x1b[31m", ["look", "you forgot"]),
        ("say it. now!? yes; ok", ["say it.", "now!?", "yes;", "ok"]),
        ("the “tests” and «docs» of it’s", ["the  quoted  and  quoted  of it's"]),
        ("it's 'fine' then", ["it's  quoted  then"]),
        ("a \"quotation that never ends", ['a "quotation that never ends']),
    ],
)  # fmt: skip
def test_the_users_own_sentences_are_told_from_the_rest(prompt: str, said: list[str]) -> None:
    assert user_prose(prompt) == said


def test_lines_that_start_alike_are_a_list_and_not_prose() -> None:
    lines = "\n".join(f"line {n}: you forgot the tests" for n in range(200))
    assert user_prose(f"{lines}\ncount them, please now") == ["count them, please now"]


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("you didn't do it", "you did not do it"),
        ("the button you added is blue", "the button thee added is blue"),
        ("the file that you wrote", "the file that thee wrote"),
        ("i see that you wrote it", "i see that you wrote it"),
        ("if you added it, you can stop", "if ye added it , you can stop"),
        ("make sure you added it", "make sure ye added it"),
        ("tell me everything you did", "tell me everything ye did"),
        ("as soon as you notice that you erred", "as soon as ye notice that ye erred"),
        ("what you did", "what ye did"),
        ("where you left off", "where ye left off"),
        ("the second time you open it", "the second time ye open it"),
        ("this is the third time you broke it", "this is the third time ye broke it"),
        ("did you run it?", "did ya run it ?"),
        ("why didn't you run it?", "why did not ya run it ?"),
        ("can you run it?", "can ye run it ?"),
        ("how can you say so??", "how can ya say so !! ?"),
        ("i told you", "i told you"),
        ("in your last commit you broke it", "in your last commit you broke it"),
        ("the third you broke", "the third you broke"),
        ("once you finished, stop", "once ye finished , stop"),
        ("once more you forgot", "once more you forgot"),
        ("perhaps you forgot", "perhaps ye forgot"),
        ("i know you did", "i know ye did"),
        ("either you ran it or you did not", "either ye ran it or ye did not"),
        ("u r right - dont", "you r right , do not"),
        ("(note: you) said", "note : you , said"),
        ("all you did", "all thee did"),
        ("***", ""),
    ],
)
def test_whom_you_stands_for_is_told_apart(sentence: str, words: str) -> None:
    assert " ".join(words_of(sentence)) == words


@given(st.text(max_size=2_000))
def test_a_sentence_has_a_bounded_number_of_words(sentence: str) -> None:
    assert len(words_of(sentence)) <= MOST_WORDS + 8


def test_the_forms_of_words() -> None:
    assert [w for w in ("wrote", "removed", "need", "red", "write") if is_past(w)] == ["wrote", "removed"]
    assert [w for w in ("third", "3rd", "x3rd", "three") if is_ordinal(w)] == ["third", "3rd"]
    assert [w for w in ("7", "seven", "x") if is_number(w)] == ["7", "seven"]


# ---------------------------------------------------------------- what takes a reproach back


def sentences(text: str) -> list[list[str]]:
    return [words_of(sentence) for sentence in user_prose(text)]


@pytest.mark.parametrize(
    "text",
    [
        "my bad, you forgot nothing",
        "you did not ask, but that is fine. thanks",
        "you changed it, good",
        "you went ahead, i love it",
        "you did more than i asked, all of it is useful. thanks!",
    ],
)
def test_an_excuse_and_thanks_take_a_reproach_back(text: str) -> None:
    assert excuses(sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        "keep it simple, you forgot the docs",
        "that is fine, but you forgot the docs",
        "you forgot the docs. thanks",
        "is that nice?",
        "thanks",
    ],
)
def test_a_but_and_mere_politeness_take_nothing_back(text: str) -> None:
    assert not excuses(sentences(text))


def test_orders_plans_and_praise_are_told() -> None:
    assert is_order(words_of("please now add a test"))
    assert not is_order(words_of("the test is missing"))
    assert not is_order(words_of("please"))
    assert speaks_of_plans(words_of("please don't touch it"))
    assert speaks_of_plans(words_of("from now on, tests first"))
    assert speaks_of_plans(words_of("never push"))
    assert speaks_of_plans(words_of("only do what is asked"))
    assert not speaks_of_plans(words_of("please don't, and put it back"))
    assert not speaks_of_plans(words_of("i don't see it"))
    assert praises(sentences("ok great, it works"))
    assert not praises(sentences("great, but you forgot the docs"))


# ---------------------------------------------------------------- phrases


def classes() -> dict:  # type: ignore[type-arg]
    return {"adverb": {"just", "even"}.__contains__, "digit": str.isdigit, "kin": frozenset({"ann", "bob"})}


@pytest.mark.parametrize(
    ("phrase", "words", "at"),
    [
        ("you @@ ran", "so you just even ran", 1),
        ("you ~ ran", "you a b c ran", 0),
        ("you ~ ran", "you a b c d ran", -1),
        ("you ~ ran", "you a , ran", -1),
        ("you ~ , ran", "you a , ran", 0),
        ("you .. ran", "you a b c d ran", 0),
        ("you .. ran", "you a so ran", -1),
        ("you .. ran", "you a", -1),
        ("you ~~ ran", "you a , so ran", 0),
        ("^ ran ?it", "ran", 0),
        ("^ ran", "you ran", -1),
        ("ran $", "you ran", 1),
        ("ran $", "you ran it", -1),
        ("ran it|$", "you ran", 1),
        ("ran it|$ ,", "you ran it ,", 1),
        ("ran it|$", "you ran that", -1),
        ("ran ,", "ran :", 0),
        ("ran :", "ran ,", -1),
        ("ran ?", "ran ?", 0),
        ("@digit *ing|guess*", "3 running", 0),
        ("@digit *ing|guess*", "3 guessed", 0),
        ("@kin|me ran", "bob ran", 0),
        ("?the end end", "end end", 0),
        ("@@ just", "just even just", 0),
        ("=ran it", "ran it", 0),
    ],
)
def test_phrases_match_as_their_notation_says(phrase: str, words: str, at: int) -> None:
    assert Phrase(phrase, classes()).search(words.split()) == at


@pytest.mark.parametrize(
    ("phrase", "words", "answer"),
    [
        ("you ran", "", True),
        ("you =ran|run it", "run", True),
        ("you =ran|run it", "you it", False),
        ("you =ran", "you", False),
        ("=@kin ran", "ann", True),
        ("=@kin ran", "ran", False),
        ("=@digit ran", "ran", True),
    ],
)
def test_a_phrase_is_possible_when_a_word_that_it_needs_is_there(
    phrase: str, words: str, answer: bool
) -> None:
    assert possible(phrase, set(words.split()), classes()) is answer


def test_the_mark_of_a_phrase_stands_at_words_that_it_cannot_do_without() -> None:
    for text in PHRASES:
        marked = [part for part in text.split() if part.startswith("=")]
        assert len(marked) <= 1, text
        for part in marked:
            assert not set(part) & set("?*$~^"), text
            assert "@" not in part or (part[1] == "@" and "|" not in part), text


def test_no_phrase_that_matches_is_thought_impossible() -> None:
    compiled = [(text, Phrase(text, corrections._CLASSES)) for text in PHRASES]
    for item in OWN[::29]:
        for sentence in user_prose(item.get("prompt", "")):
            words = words_of(sentence)
            for text, phrase in compiled:
                if phrase.search(words) >= 0:
                    assert possible(text, set(words), corrections._CLASSES), (text, words)


def test_every_fact_that_a_combination_names_can_be_found() -> None:
    # what the words around "you" tell is found without a phrase
    told = {"acted", "overdid", "adverse", "nth", "claim"}
    known = {fact for fact, _ in FACTS} | told
    assert {fact for _, wanted in TOGETHER for fact in wanted} <= known
    assert {fact for fact, _ in FACTS} <= {fact for _, wanted in TOGETHER for fact in wanted} | told


def test_no_phrase_stands_twice_in_a_table() -> None:
    for table in (STRONG, WEAK, FACTS):
        assert len({text for _, text in table}) == len(table)


# ---------------------------------------------------------------- other languages


def test_a_wording_in_another_language_needs_what_stands_beside_it() -> None:
    assert foreign_signal(["du hast schon wieder die falsche datei geändert."]) == "repeat-failure"
    assert foreign_signal(["die anmeldung geht schon wieder nicht."]) is None
    assert foreign_signal(["du hast das vergessen!"]) == "omission-correction"
    assert foreign_signal([]) is None
    assert all(wording[:1].strip() for _, entry in FOREIGN for wording in entry.replace("|", ",").split(","))
