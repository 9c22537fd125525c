"""A prompt as a query: what of a long paste counts, and what kind of prompt it is."""

from __future__ import annotations

import pytest

from ai_kb.relevance_prompt import MAX_READ, MAX_TOKENS, read_prompt

TRACE = """deploy of the app is down:

Internal Server Error: /
Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/django/core/handlers/base.py", line 220, in _get_response
    response = response.render()
  File "/usr/lib/python3.12/site-packages/django/template/response.py", line 114, in render
    self.content = self.rendered_content
/src/internal/session/store.go:47 +0x7d
    at handler (/srv/app/index.js:12:4)
INFO nothing of note in this heartbeat
ValueError: Missing staticfiles manifest entry for 'img/logo.svg'

since the upgrade of whitenoise"""


def test_of_a_paste_the_error_and_what_was_written_around_it_count_most() -> None:
    weights = read_prompt(TRACE).weights
    assert weights["whitenois"] == weights["deploy"] == 1.0
    assert weights["staticfil"] == weights["manifest"] == 0.9
    assert (
        max(weights[word] for word in ("heartbeat", "self_rendered_content", "sess", "index", "handler"))
        < 0.3
    )


def test_a_short_prompt_counts_whole_and_parts_of_a_compound_less() -> None:
    weights = read_prompt("retry fails in src/loader.py\nafter the upgrade").weights
    assert weights["retri"] == weights["upgrad"] == weights["src_loader_py"] == 1.0
    assert weights["loader"] < 1.0
    assert "the" not in weights


def test_repeated_lines_are_read_once() -> None:
    lines = "\n".join(f"[12:00:{n:02}] job {n} failed with status 429" for n in range(50))
    once = read_prompt(f"why?\n\n{lines}\nlast words here").weights
    assert once["429"] == 0.9
    assert not {"7", "17"} & once.keys()


def test_both_ends_of_a_huge_prompt_are_read() -> None:
    filler = "\n".join(f"plain line number {n} of a list of words" for n in range(20_000))
    weights = read_prompt(f"opening zebra\n\n{filler}\n\nclosing giraffe").weights
    assert len(filler) > 10 * MAX_READ
    assert weights["zebra"] == weights["giraff"] == 1.0


def test_a_wide_prompt_is_read_up_to_a_bound() -> None:
    lines = [" ".join(f"w{line}x{n}" for n in range(100)) for line in range(15)]
    assert len(read_prompt("\n".join(lines), prose=True).weights) == MAX_TOKENS


def test_of_many_error_lines_the_first_and_the_last_count() -> None:
    words = [f"{a}{b}k" for a in ("am", "bri", "ced", "del", "emb", "fjo", "gro") for b in ("or", "ul", "ex")]
    errors = [f"error in {word}" for word in words]
    weights = read_prompt("look\n\n" + "\n".join(errors) + "\n\nplease").weights
    assert weights[words[0]] == weights[words[-1]] == 0.9
    assert words[len(words) // 2] not in weights


def test_in_prose_every_line_counts() -> None:
    animals = "zebra lion giraffe panda koala otter badger heron".split()
    text = "\n\n".join(f"paragraph about a {animal}" for animal in animals)
    assert read_prompt(text).weights["panda"] < 1.0
    assert read_prompt(text, prose=True).weights["panda"] == 1.0


@pytest.mark.parametrize(
    "prompt",
    [
        "which services use redis?",
        "what's the default port of redis",
        "please list all celery tasks",
        "can you explain this regex",
        "i want you to translate the readme",
        "Rename the package foo to bar",
        "ok, now write a test for it",
        "all green, just tell me how many ran",
        "zeige mir die letzten commits",
        "montre-moi ça, explique le code",
        "explica este código",
        "draw it",
    ],
)
def test_questions_and_errands_that_end_in_text_are_told(prompt: str) -> None:
    assert read_prompt(prompt).signs.asking


@pytest.mark.parametrize(
    "prompt",
    [
        "add a column to the table",
        "upload logo.png to the bucket",
        "update LICENSE to MIT",
        "the image is old, bump the tag",
        "we need to drop the field from the message",
        "could you please add a retry",
        "füge eine zeile ein",
        "ajoute un bouton",
        "добавь комментарий",
    ],
)
def test_errands_that_change_something_are_told(prompt: str) -> None:
    signs = read_prompt(prompt).signs
    assert signs.changing
    assert not signs.asking


@pytest.mark.parametrize(
    "prompt",
    [
        "the build fails on ci but not here",
        "renamed Button.tsx to button.tsx, linux cannot find it",
        "search box shows results of an older query",
        "plan errors: the set includes values derived from it",
        "document isn't found right after indexing",
        "we see a few 502s each time we roll out",
        "added a header and now the others are gone",
        "i have to resolve the same conflicts again",
        "ValueError: no such thing",
        "",
        ",;!",
        "i",
    ],
)
def test_reports_are_neither(prompt: str) -> None:
    signs = read_prompt(prompt).signs
    assert not signs.asking
    assert not signs.changing


def test_a_turn_of_the_sentence_is_told() -> None:
    assert read_prompt("it is declared but ignored").signs.turn
    assert not read_prompt("it is declared and used").signs.turn
