"""The gate before injection: the figures on the evaluation prompts, and what must hold in any store."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_kb import relevance, relevance_features, relevance_lists
from ai_kb.relevance import Selected, select_relevant
from ai_kb.relevance_features import FEATURES, Query, describe
from ai_kb.relevance_prompt import MAX_READ, MAX_TOKENS, read_prompt
from ai_kb.relevance_words import prior, rarity, related
from ai_kb.search import MAX_LOOKED_UP, Collection
from tests.kb.capsule_stores import EVAL, Store, evaluation_capsules, record

ROOT = Path(__file__).resolve().parent.parent.parent

LOCK = (
    "Set lock_timeout before any ALTER TABLE",
    "An ALTER TABLE that waits behind one long SELECT queues for ACCESS EXCLUSIVE, and every later query "
    "queues behind it. Begin each migration with `SET lock_timeout = '3s'`.",
    "postgres",
    "migrations",
)
WAITS = "the migration hangs: ALTER TABLE orders waits behind a long SELECT and now every query queues"
UNRELATED = "the hydration of the checkout page fails because the server renders another date than the client"


def script(name: str) -> ModuleType:
    """A script of scripts/ as a module."""
    loader = importlib.machinery.SourceFileLoader(f"script_{name}", str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


def chosen(store: Store, prompt: str, **more: Any) -> list[int]:
    return [selected.number for selected in select_relevant(prompt, [store.source()], **more)]


def prompts(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((EVAL / f"prompts_{name}.json").read_text(encoding="utf-8"))
    return found


# ---------------------------------------------------------------- the figures


@pytest.mark.parametrize("name", ["dev", "own", "blind"])
def test_the_bars_are_reached_on_the_evaluation_prompts(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = script("eval")
    out = tmp_path / "out.json"
    arguments = ["recall", "--json", "--output", str(out), "--prompts", str(EVAL / f"prompts_{name}.json")]
    assert evaluate.main(arguments) == 0
    figures = json.loads(capsys.readouterr().out)["recall"]["figures"]
    # The same figures, counted again from what was selected.
    selected = json.loads(out.read_text())["recall"]
    shares, fired, right, shown = [], 0, 0, 0
    asked = prompts(name)
    for prompt in asked:
        got = selected[prompt["id"]]
        assert len(got) <= relevance.SHOWN
        grades = {gold["id"]: gold["grade"] for gold in prompt["gold"]}
        right += sum(capsule in grades for capsule in got)
        shown += len(got)
        must = [capsule for capsule, grade in grades.items() if grade == 2]
        if must:
            shares.append(sum(capsule in got for capsule in must) / len(must))
        else:
            fired += bool(got)
    negatives = sum(prompt["type"] == "negative" for prompt in asked)
    counted = {
        "must recall@3": sum(shares) / len(shares),
        "false": fired / negatives,
        "precision": right / shown,
    }
    assert {name: figures[name] for name in counted} == pytest.approx(counted)
    assert counted["must recall@3"] >= 0.75
    assert counted["false"] <= 0.05
    assert counted["precision"] >= 0.8


def test_eval_fails_below_the_bars(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = script("eval")
    monkeypatch.setattr(relevance, "THRESHOLD", 0.0)
    monkeypatch.setattr(relevance, "FURTHER_THRESHOLD", 0.0)
    assert evaluate.main(["recall"]) == 1
    out = capsys.readouterr().out
    assert "precision" in out
    assert "MISSED" in out
    monkeypatch.setattr(relevance, "THRESHOLD", 1.1)
    assert evaluate.main(["recall", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["recall"]["missed"] == ["must recall@3", "precision"]
    with pytest.raises(SystemExit) as ended:
        evaluate.main(["nothing"])
    assert ended.value.code == 2


@pytest.mark.slow
def test_the_weights_are_those_that_the_fitting_gives() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/fit_relevance", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_the_word_lists_are_those_of_the_text_file() -> None:
    words = script("make_word_lists")
    text = (ROOT / "scripts/data/words.txt").read_text(encoding="utf-8")
    assert (ROOT / "ai_kb/relevance_lists.py").read_text(encoding="utf-8") == words.module(text)


# ---------------------------------------------------------------- any store


def test_every_feature_has_a_weight() -> None:
    assert tuple(relevance.WEIGHTS) == FEATURES


def test_nothing_is_selected_from_nothing() -> None:
    assert select_relevant(WAITS, []) == []
    assert chosen(Store(), WAITS) == []
    assert select_relevant(WAITS, [Store.of(LOCK).source(0)]) == []


@pytest.mark.parametrize(
    "prompt", ["", " \n ", "lock_timeout", "ALTER TABLE", "😀" * 40, "\x00" * 40, "the of and to it is"]
)
def test_a_prompt_that_says_nothing_selects_nothing(prompt: str) -> None:
    assert chosen(Store.of(LOCK), prompt if len(prompt) != 12 else prompt[:11]) == []


def test_the_single_capsule_of_a_store_is_selected_when_it_answers_and_only_then() -> None:
    store = Store.of(LOCK)
    assert chosen(store, WAITS) == [0]
    for prompt in (
        UNRELATED,
        "rename the variable total to sum in invoice.py",
        "which migrations ran on staging yesterday?",
        "write a haiku about postgres and friendship",
        "add a column for the price to the orders table of the admin page",
        "what do you think about it, is that good enough?",
        "explain what the select element in the signup form does",
    ):
        assert chosen(store, prompt) == [], prompt


def test_few_capsules_behave_like_many() -> None:
    """Every second evaluation prompt, in stores of ten capsules with and without the one that answers."""
    capsules = {c["id"]: c for c in evaluation_capsules()}
    rng = random.Random(4)
    found, silent, asked = 0, 0, 0
    for prompt in prompts("dev")[::2]:
        ids = {gold["id"] for gold in prompt["gold"]}
        others = rng.sample(sorted(capsules.keys() - ids), 10)
        texts = [
            (capsules[i]["title"], capsules[i]["body"], *capsules[i]["topics"])
            for i in [*sorted(ids), *others]
        ]
        with_answer, without = Store.of(*texts), Store.of(*texts[len(ids) :])
        silent += not chosen(without, prompt["prompt"])
        if ids:
            asked += 1
            found += any(number < len(ids) for number in chosen(with_answer, prompt["prompt"]))
    assert found >= 0.75 * asked
    assert silent >= 0.9 * len(prompts("dev")[::2])


def test_the_order_of_records_and_their_store_change_nothing() -> None:
    texts = [(c["title"], c["body"], *c["topics"]) for c in evaluation_capsules()[:60]]
    texts.append(LOCK)
    whole = Store.of(*texts)
    reverse = Store.of(*texts[::-1])
    first, second = Store.of(*texts[:30], name="home"), Store.of(*texts[30:], name="repo")
    (one,) = select_relevant(WAITS, [whole.source()])
    (other,) = select_relevant(WAITS, [reverse.source()])
    (split,) = select_relevant(WAITS, [first.source(), second.source()])
    assert (one.number, other.number, split.source, split.number) == (60, 0, "repo", 30)
    assert one.score == pytest.approx(other.score) == pytest.approx(split.score)


def test_what_may_not_be_shown_is_not_selected_and_the_rest_is() -> None:
    twin = ("Use SET lock_timeout before each ALTER TABLE", *LOCK[1:])
    store = Store.of(LOCK, twin)
    both = select_relevant(WAITS, [store.source()])
    assert {selected.number for selected in both} == {0, 1}
    assert [selected.number for selected in select_relevant(WAITS, [store.source(0b10)])] == [1]


def test_at_most_as_many_as_asked_for_best_first() -> None:
    store = Store.of(*[(f"{LOCK[0]} ({n} of 8)", *LOCK[1:]) for n in range(8)])
    found: list[Selected] = select_relevant(WAITS, [store.source()], limit=5)
    assert 1 < len(found) <= 5
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
    assert len(chosen(store, WAITS)) <= relevance.SHOWN
    assert len(chosen(store, WAITS, limit=1)) == 1


def test_a_capsule_that_both_stores_hold_is_selected_once() -> None:
    home, repo = Store.of(LOCK, name="home"), Store.of(LOCK, name="repo")
    (alone,) = select_relevant(WAITS, [home.source()])
    (found,) = select_relevant(WAITS, [home.source(), repo.source()])
    assert (found.source, found.number) == ("home", 0)
    assert found.score == pytest.approx(alone.score, abs=0.05)


def test_a_larger_crowd_asks_for_more_evidence() -> None:
    features = [0.0] * len(FEATURES)
    assert relevance.probability(features, 400) == relevance.probability(features)
    assert relevance.probability(features, 100_000) < relevance.probability(features, 4_000)


def test_a_spec_is_read_as_written_by_hand() -> None:
    spec = "topic: orders\n\n" + "\n\n".join(
        ["summary: an extra column for orders", "target: the orders service", "plan", "first the schema",
         "then the code", WAITS, "after that the admin page", "later: docs", "open questions", "who reviews"]
    )  # fmt: skip
    assert chosen(Store.of(LOCK), spec, prose=True) == [0]


def test_misspelt_joined_and_related_words_are_met() -> None:
    store = Store.of(
        ("Restart after a ConfigMap change", "Deployments keep the old environment."), ("other", "thing")
    )
    collection = Collection([store.source()])

    def known(prompt: str) -> set[str]:
        query = Query(read_prompt(prompt), collection)
        return set(query.gain)

    assert "deployment" in known("my deplyment forgets things")
    assert "configmap" in known("the config map was changed")
    assert "env" in related("environment")
    assert "environment" in known("the env is old")
    assert "restart" in known("it needs a reboot")


# ---------------------------------------------------------------- words


def test_rarity_is_bounded_and_means_the_same_in_small_and_large_stores() -> None:
    assert rarity("xyzzy", 1, 1) < rarity("xyzzy", 1, 100_000) <= 6.0
    assert rarity("the", 0, 100_000) < 1.0
    assert rarity("green", 0, 100_000) < 3.0  # an everyday word does not become telling
    assert rarity("xyzzy", 0, 0) > 5.0
    assert rarity("xyzzy", 500, 1_000) < 1.5
    assert prior("docker") > prior("xyzzy")


def test_related_words_stand_for_each_other() -> None:
    for word in relevance_lists.RELATED:
        assert word not in related(word)
        for other in related(word):
            assert word in related(other)


# ---------------------------------------------------------------- work and surprises


def test_work_is_bounded_whatever_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.of(LOCK, *[(f"note {n}", f"about thing{n}") for n in range(50)])
    asked: list[int] = []
    plain = Collection.frequencies

    def counting(self: Collection, tokens: Any) -> dict[str, int]:
        wanted = list(tokens)
        asked.append(len(wanted))
        return plain(self, wanted)

    monkeypatch.setattr(Collection, "frequencies", counting)
    log = "\n".join(f"[{n}] worker{n} did thing{n % 50} in {n} ms via src/mod{n}.py" for n in range(4_000))
    prompt = f"{WAITS}\n\n{log}\n\nwhat now?"
    assert len(prompt) > 200_000
    assert 0 in chosen(store, prompt)
    most_looked_up = MAX_LOOKED_UP + relevance_features._RELATED_LOOKED_UP + relevance_features._MAX_JOINED
    edits = relevance_features._MAX_MISSPELT * 54 * 65
    assert sum(asked) <= most_looked_up + edits
    assert len(read_prompt(prompt).weights) <= MAX_TOKENS
    wide = "\n".join(" ".join(f"w{line}x{n}" for n in range(100)) for line in range(5))
    asked.clear()
    chosen(store, f"{WAITS}\n{wide}", prose=True)
    assert sum(asked) <= most_looked_up
    assert len(read_prompt("x" * 10 * MAX_READ).weights) == 0
    assert len(read_prompt("word " * MAX_READ).weights) == 1


@given(st.text(st.characters(), max_size=400))
def test_no_prompt_makes_it_fail(prompt: str) -> None:
    store = Store.of(LOCK, ("环境变量", "tmux 会话"), ("détachée", "clone"))
    for selected in select_relevant(prompt + " lock_timeout 环境变量", [store.source()]):
        assert 0.0 <= selected.score <= 1.0


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_no_capsule_makes_it_fail(text: str) -> None:
    store = Store([record(0, text or "x", text), record(1, *LOCK[:2])])
    for candidate in describe(read_prompt(f"{text} {WAITS}"), Collection([store.source()])):
        assert len(candidate.features) == len(FEATURES)


def test_its_imports_are_light() -> None:
    code = (
        "import sys, sqlite3; before = set(sys.modules); import ai_kb.relevance as r, ai_kb.search as s;"
        "c = sqlite3.connect(':memory:'); s.EXTENSION.create(c);"
        "r.select_relevant('a prompt with some words', [s.Source('home', c, 1)]);"
        "print(' '.join(m for m in set(sys.modules) - before if not m.startswith(('ai_kb', 'agent_base'))))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(done.stdout.split()) <= {"__future__", "math"}
