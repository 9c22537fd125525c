"""Corrections: what is a reproach of the agent's conduct, and what only looks like one."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory.corrections import SIGNALS, detect
from agent_memory.phrases import Phrase
from agent_memory.prose import LINE_LENGTH, MOST_LINES, user_prose
from tests.conftest import REPOSITORY

LABELLED = json.loads((REPOSITORY / "tests/data/eval/corrections_dev.json").read_text())


def text_of(item: dict) -> str:  # type: ignore[type-arg]
    if "prompt" in item:
        return str(item["prompt"])
    made = item["gen"]
    repeated = "".join(made["repeat"].replace("{i}", str(k + 1)) for k in range(made["times"]))
    return str(made.get("prefix", "") + repeated + made.get("suffix", ""))


def test_precision_and_recall_on_the_labelled_prompts() -> None:
    fired = [(detect(text_of(x)), x["label"]) for x in LABELLED]
    right = sum(bool(got) and bool(label) for got, label in fired)
    wrong = [x["prompt"] for x, (got, label) in zip(LABELLED, fired, strict=True) if got and not label]
    assert right / (right + len(wrong)) >= 0.95, wrong
    assert right / sum(bool(label) for _, label in fired) >= 0.6


REPROACHES = [
    ("you renamed the class in one place and left the rest as it was", "omission-correction"),
    ("no. i said python, you wrote javascript", "unrequested-action"),
    ("that function does not exist in numpy, you made it up", "unverified-claim"),
    ("you're assuming the db is postgres. check the config before answering", "guessed-not-tested"),
    ("this is the third time you give me code that doesn't compile", "repeat-failure"),
    ("the tests are still red although you told me they pass", "unverified-claim"),
    ("you went ahead and committed to main", "unrequested-action"),
    ("I asked for a summary in 5 sentences and got 3 pages", "omission-correction"),
    ("you didn't even run it", "guessed-not-tested"),
    ("niemand hat dich gebeten, das zu löschen", "unrequested-action"),
    ("olvidaste las pruebas", "omission-correction"),
    ("你忘了更新文档", "omission-correction"),
]


@pytest.mark.parametrize(("prompt", "label"), REPROACHES)
def test_a_reproach_gives_its_signal(prompt: str, label: str) -> None:
    assert detect(prompt) == label


ORDINARY = [
    "can you tell me which files you changed and why?",
    "thanks, you fixed it. now add a test for the empty case",
    "when the user clicks twice the dialog says you have no access. fix that",
    "the error says: you did not set AWS_REGION. what do i do?",
    "i asked the team and we prefer option b. please implement it",
    "run it again with --verbose",
    "same thing for the admin page please",
    "you said we could use sqlite; let's go with that",
    "sorry, i was unclear: i want the list sorted by date",
    "if you guessed, say so",
    "add a message \"you have already voted\" when the user votes again",
    "translate: you forgot to attach the file again",
    "> you said it was fixed\n> it is not\n\nwhich version do they use?",
    "what does this mean?\n\n```\nyou did not run the tests\n```",
    "why did you choose a queue instead of a cron job?",
    "",
]  # fmt: skip


@pytest.mark.parametrize("prompt", ORDINARY)
def test_an_ordinary_prompt_gives_none(prompt: str) -> None:
    assert detect(prompt) is None


@given(st.text(max_size=600))
def test_it_never_raises_and_gives_a_known_signal_or_none(prompt: str) -> None:
    assert detect(prompt) in {*SIGNALS, None}


@pytest.mark.parametrize("character", ["x", '"', "'", "\n", "“", ">", "`", "you did not ", "you said it, "])
def test_the_work_on_a_very_long_prompt_is_bounded(character: str) -> None:
    prompt = (character * 200_000)[:200_000]
    start = time.process_time()
    detect(prompt)
    assert len(user_prose(prompt)) <= 2 * MOST_LINES * LINE_LENGTH
    assert time.process_time() - start < 60  # not a speed: quadratic work would take hours


def test_a_reproach_around_a_long_paste_is_still_heard() -> None:
    paste = "\n".join(f"error[E0308]: mismatched types --> src/m{n}.rs:14:9" for n in range(2_000))
    assert detect(f"you forgot the generated files.\n\n{paste}") == "omission-correction"
    assert detect(f"{paste}\n\nyou never ran it, did you") == "guessed-not-tested"


def test_what_stands_in_quotations_code_and_logs_is_not_what_the_user_says() -> None:
    said = user_prose(
        'look: "you lied" and `you guessed` — fine\n\n$ echo you forgot\n12:01 bob: you forgot it'
    )
    assert not any(word in " ".join(said) for word in ("lied", "guessed", "forgot"))


def test_an_apostrophe_in_a_word_does_not_open_a_quotation() -> None:
    assert user_prose("you didn't do the users' list, that's it") == [
        "you didn't do the users' list, that's it"
    ]


def classes() -> dict:  # type: ignore[type-arg]
    return {"adverb": {"just", "even"}.__contains__, "digit": str.isdigit}


@pytest.mark.parametrize(
    ("phrase", "words", "at"),
    [
        ("you @@ ran", "so you just even ran", 1),
        ("you ~ ran", "you a b c ran", 0),
        ("you ~ ran", "you a b c d ran", -1),
        ("^ ran ?it", "ran", 0),
        ("^ ran", "you ran", -1),
        ("@digit *ing|guess*", "3 running", 0),
        ("@digit *ing|guess*", "3 guessed", 0),
        ("?the end end", "end end", 0),
        ("@@ just", "just even just", 0),
    ],
)
def test_phrases_match_as_their_notation_says(phrase: str, words: str, at: int) -> None:
    assert Phrase(phrase, "x", classes()).search(words.split()) == at


@pytest.mark.parametrize(
    ("stdin", "answer"),
    [
        ("you forgot the tests", '{"signal":"omission-correction"}'),
        ('{"prompt": "you forgot the tests"}', '{"signal":"omission-correction"}'),
        ('{"prompt": 3}', '{"signal":null}'),
        ("{broken", '{"signal":null}'),
        ("\udcff\udcfe", '{"signal":null}'),
        ('{"a":' * 100_000, '{"signal":null}'),
        (
            '{"hook_event_name":"beforeSubmitPrompt","prompt":"you forgot the tests"}',
            '{"signal":"omission-correction"}',
        ),
        ('{"agent_id":"a","prompt":"you forgot the tests"}', '{"signal":null}'),
    ],
)
def test_the_entry_point_prints_the_signal_and_ends_with_0(stdin: str, answer: str) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(REPOSITORY / "hooks/correction_detector.py")],
        input=stdin.encode("utf-8", "surrogateescape"), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.decode().strip(), done.stderr) == (0, answer, b"")


@pytest.mark.parametrize(
    ("streams", "out"), [("<&-", '{"signal":null}\n'), (">&-", ""), ("<&- >&- 2>&-", "")]
)
def test_the_entry_point_ends_with_0_whatever_its_streams_are(streams: str, out: str) -> None:
    script = f'exec "$@" {streams}'
    hook = str(REPOSITORY / "hooks/correction_detector.py")
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-I", "-S", hook], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, out, b"")
