"""Corrections: what is a reproach of the agent's conduct, and what only looks like one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory import correction_odds
from agent_memory.correction_odds import log_odds, parts
from agent_memory.correction_words import words_of
from agent_memory.corrections import SIGNALS, detect
from agent_memory.prose import LINE_LENGTH, MOST_LINES, user_prose
from hooks import correction_detector
from tests import patient
from tests.conftest import REPOSITORY

EVAL = REPOSITORY / "tests/data/eval"
DEV = json.loads((EVAL / "corrections_dev.json").read_text(encoding="utf-8"))
OWN = json.loads((EVAL / "corrections_blind.json").read_text(encoding="utf-8"))
HELD_OUT = json.loads((EVAL / "corrections_held_out.json").read_text(encoding="utf-8"))


def text_of(item: dict) -> str:  # type: ignore[type-arg]
    if "prompt" in item:
        return str(item["prompt"])
    made = item["gen"]
    repeated = "".join(made["repeat"].replace("{i}", str(k + 1)) for k in range(made["times"]))
    return str(made.get("prefix", "") + repeated + made.get("suffix", ""))


@pytest.fixture(scope="module")
def found() -> dict[str, str | None]:
    return {item["id"]: detect(text_of(item)) for item in DEV + OWN}


def assert_bars(items: list[Any], found: dict[str, str | None], precision: float, recall: float) -> None:
    fired = [item for item in items if found[item["id"]]]
    wrong = [item["id"] for item in fired if item["label"] is None]
    reproaches = [item for item in items if item["label"]]
    missed = [item["id"] for item in reproaches if not found[item["id"]]]
    assert 1 - len(wrong) / len(fired) >= precision, wrong
    assert 1 - len(missed) / len(reproaches) >= recall, missed


def test_precision_and_recall_on_the_labelled_prompts(found: dict[str, str | None]) -> None:
    assert_bars(DEV, found, precision=0.95, recall=0.6)


def test_precision_and_recall_on_our_own_prompts(found: dict[str, str | None]) -> None:
    # What a batch reached before the rules knew it is in tests/data/eval/README.md; less than this.
    assert_bars(OWN, found, precision=0.98, recall=0.85)


def test_what_was_held_out_does_not_get_worse() -> None:
    # Neither rules nor weights were made for these; what they reach is in tests/data/eval/README.md.
    assert_bars(
        HELD_OUT, {item["id"]: detect(text_of(item)) for item in HELD_OUT}, precision=0.9, recall=0.55
    )


@pytest.mark.parametrize("batch", sorted({item["batch"] for item in OWN if item["label"]}))
def test_no_batch_of_our_own_prompts_falls_behind(batch: int, found: dict[str, str | None]) -> None:
    assert_bars([item for item in OWN if item["batch"] == batch], found, precision=0.95, recall=0.75)


@pytest.mark.parametrize("kind", sorted({item["style"][0] for item in OWN if not item["label"]}))
def test_no_kind_of_other_prompt_fires_often(kind: str, found: dict[str, str | None]) -> None:
    of_kind = [item for item in DEV + OWN if not item["label"] and item["style"][0] == kind]
    fired = [item["id"] for item in of_kind if found[item["id"]]]
    assert len(fired) <= 0.03 * len(of_kind), fired


def test_the_signal_of_a_reproach_is_mostly_its_label(found: dict[str, str | None]) -> None:
    hits = [item for item in DEV + OWN if item["label"] and found[item["id"]]]
    right = [item for item in hits if found[item["id"]] in (item["label"], *item["alt"])]
    assert len(right) >= 0.85 * len(hits)


@pytest.mark.parametrize("name", ["prompts_dev.json", "prompts_own.json"])
def test_prompts_that_ask_for_knowledge_fire_nothing(name: str) -> None:
    prompts = json.loads((EVAL / name).read_text(encoding="utf-8"))
    assert [item["id"] for item in prompts if detect(item["prompt"])] == []


# ---------------------------------------------------------------- the prompt as a whole


def test_a_prompt_is_weighed_by_its_words_and_pairs() -> None:
    assert parts([["you", "deleted", "7", "?"], ["no"]]) == {
        "many", "you", "deleted", "#", "?", "no", "^ you", "you deleted", "deleted #", "# ?", "? $", "^ no",
        "no $", "you *ed", "*ed #",
    }  # fmt: skip
    assert parts([]) == set()
    assert len(parts([[f"w{n}" for n in range(1_000)]])) == 40 + 41
    assert log_odds({"a", "b", "c", "d"}, {"a": 300, "b": -100, "z": 900}, 50) == (200 / 2 + 50) / 100
    assert log_odds(set(), {"a": 300}, 50) == 0.5


def test_a_rule_that_holds_is_not_believed_where_the_whole_speaks_against_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompt = "Explain the patch you made as if I had never seen this code"
    assert detect(prompt) is None
    monkeypatch.setattr(correction_odds, "DOUBTED", -100.0)
    assert detect(prompt) == "omission-correction"  # a rule's
    monkeypatch.setattr(correction_odds, "DOUBTED", 100.0)
    assert [prompt for prompt, _ in REPROACHES[:-3] if detect(prompt)] == []
    assert detect("olvidaste las pruebas") == "omission-correction"  # the weights know English


@pytest.mark.parametrize(
    "prompt",
    ["you found the bug", "you made my day", "your turn", "you convinced me", "You closed the tab.",
     "you merged main and the tests pass", "you wanted the schema: it is in db/schema.sql"],
)  # fmt: skip
def test_without_a_rule_nothing_is_a_reproach_however_it_weighs(prompt: str) -> None:
    assert log_odds(parts([words_of(sentence) for sentence in user_prose(prompt)])) > 0
    assert detect(prompt) is None


@pytest.mark.slow
def test_the_weights_are_those_that_the_fitting_gives() -> None:
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts/fit_corrections", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


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


@pytest.mark.timeout(1200)  # work that grows with the square of the text would take hours
@pytest.mark.parametrize("character", ["x", '"', "'", "\n", "“", ">", "`", "you did not ", "you said it, "])
def test_the_work_on_a_very_long_prompt_is_bounded(character: str) -> None:
    prompt = (character * 200_000)[:200_000]
    detect(prompt)
    assert len(user_prose(prompt)) <= 2 * MOST_LINES * LINE_LENGTH


def test_a_reproach_around_a_long_paste_is_still_heard() -> None:
    paste = "\n".join(f"error[E0308]: mismatched types --> src/m{n}.rs:14:9" for n in range(2_000))
    assert detect(f"you forgot the generated files.\n\n{paste}") == "omission-correction"
    assert detect(f"{paste}\n\nyou never ran it, did you") == "guessed-not-tested"


PROMPTS = [
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
]


@pytest.mark.parametrize(("stdin", "answer"), PROMPTS)
def test_the_entry_point_prints_the_signal_and_ends_with_0(stdin: str, answer: str) -> None:
    done = subprocess.run(
        patient.hook("correction_detector", flags=("-I", "-S")),
        input=stdin.encode("utf-8", "surrogateescape"), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.decode().strip(), done.stderr) == (0, answer, b"")


@pytest.mark.parametrize(("stdin", "answer"), PROMPTS)
def test_the_detector_answers_as_in_a_process_of_its_own(
    stdin: str, answer: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data = stdin.encode("utf-8", "surrogateescape")
    monkeypatch.setattr("sys.argv", ["correction_detector.py"])
    monkeypatch.setattr("hooks._entry.read_stdin", lambda: data)
    assert correction_detector.main() == 0
    assert capfd.readouterr() == (answer + "\n", "")


def test_the_detector_takes_the_word_of_an_adapter_for_what_comes(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data = b'{"prompt":"you forgot the tests"}'
    words = ["--harness", "opencode", "--event"]
    for event, signal in (("chat.message", '"omission-correction"'), ("tool.execute.after", "null")):
        assert correction_detector.answer(data, [*words, event]) == f'{{"signal":{signal}}}\n'

    def fails() -> bytes:
        raise MemoryError

    monkeypatch.setattr("hooks._entry.read_stdin", fails)
    assert correction_detector.main() == 0
    assert capfd.readouterr() == (correction_detector.NO_SIGNAL, "")


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


def test_importing_the_detector_loads_no_heavy_module() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from agent_memory.corrections import detect;"
        "print(detect('you forgot the tests'), sorted(sys.modules.keys()"
        " & {'re', 'json', 'typing', 'dataclasses', 'pathlib', 'subprocess', 'datetime', 'argparse'}),"
        " 'agent_memory.correction_foreign' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(REPOSITORY)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "omission-correction [] False"
