"""What no person signs is marked, whichever way it is said, and replaces nothing of another project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_base.cli import string_console
from ai_kb import cli, stores
from tests.kb.kbworld import NOW, PROMPT, World, ids

Git = Callable[..., str]
TEXT = f"Retry only idempotent requests\n\n{PROMPT}"


@pytest.fixture
def world(repository: Path, isolated: dict[str, str]) -> World:
    return World(repository, isolated)


@pytest.fixture
def elsewhere(tmp_path: Path, world: World) -> World:
    """Another project of the same person."""
    path = tmp_path / "elsewhere"
    path.mkdir()
    world.git("init", "-q", cwd=path)
    world.git("commit", "-q", "--allow-empty", "-m", "another root", cwd=path)
    return World(path, world.env)


class Answer:
    def __init__(self, world: World, *argv: str, stdin: object = "", cwd: Path | None = None) -> None:
        text = stdin if isinstance(stdin, str | bytes) else json.dumps(stdin)
        console = string_console(world.env, stdin=text, now=lambda: NOW, cwd=str(cwd or world.workspace))
        self.code = cli.main(list(argv), console)
        self.out: str = console.stdout.getvalue()  # type: ignore[attr-defined]
        self.err: str = console.stderr.getvalue()  # type: ignore[attr-defined]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def request(kind: str, **more: object) -> dict[str, object]:
    value: dict[str, object] = {"version": 0, "kind": kind, "content": TEXT, "evidence": [], **more}
    if kind == "handoff":
        value["handoff"] = {"completed": [], "assumptions": [], "blockers": [], "nextActions": []}
    else:
        value["anchor"] = {"commit": stores.HOME_ROOT}
        value["applicability"] = {"mode": "descendants"}
    return value


UNIVERSAL = ("--topic", "scope/universal")
SUPERSEDE, HANDOFF = ("supersede", "TARGET"), ("handoff", "--store", "home")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        ((*SUPERSEDE, "--kind", "decision", "--content", TEXT, *UNIVERSAL), ""),
        ((*SUPERSEDE, "--input", "-"), request("observation", topics=["scope/universal"])),
        ((*SUPERSEDE, "--input", "-"), request("observation", Topics=["scope/universal"])),
        ((*HANDOFF, "--content", TEXT, *UNIVERSAL), ""),
        ((*HANDOFF, "--input", "-"), request("handoff", topics=["scope/universal"])),
        ((*HANDOFF, "--input", "-"), request("handoff", TOPICS=["scope/universal"])),
    ],
)
def test_a_record_of_the_protocol_that_no_person_signs_waits_for_one(
    world: World, elsewhere: World, words: tuple[str, ...], stdin: object
) -> None:
    target = world.remember("Something else", "About another thing altogether.")
    done = Answer(world, *(target if w == "TARGET" else w for w in words), "--json", stdin=stdin)
    assert done.code == 0, done.err
    shown = Answer(world, "show", done.json["memoryId"], "--json").json
    assert (shown["by"], shown["scope"]) == ("agent", "universal")
    assert elsewhere.prompt() == ""


@pytest.mark.parametrize("scope", ["project", "universal"])
def test_an_agent_says_of_nothing_that_it_belongs_to_another_project(
    world: World, elsewhere: World, scope: str
) -> None:
    root = elsewhere.git("rev-list", "--max-parents=0", "HEAD")
    target = world.remember("Something else", "About another thing altogether.")
    topics = [f"scope/{scope}", f" Project/{root.upper()}"]
    flags = [word for topic in topics for word in ("--topic", topic)]
    machine = request("observation", topics=topics)
    for words, stdin in (
        (("--kind", "decision", "--content", TEXT, *flags), ""),
        (("--input", "-"), machine),
    ):
        done = Answer(world, "supersede", target, *words, "--json", stdin=stdin)
        assert (done.code, done.json["error"]["code"]) == (1, "kb")
        assert "names another project" in done.json["error"]["message"]
    assert elsewhere.prompt() == ""
    own = world.git("rev-list", "--max-parents=0", "HEAD")
    kept = Answer(
        world, "supersede", target, "--kind", "decision", "--content", TEXT, "--topic", f"scope/{scope}",
        "--topic", f"project/{own}", "--json",
    )  # fmt: skip
    assert ids(world.prompt()) == [kept.json["memoryId"]]


def test_a_machine_request_is_found_from_where_it_was_asked_for(world: World) -> None:
    target = world.remember()
    below = world.workspace / "below"
    below.mkdir()
    (below / "new.json").write_text(json.dumps(request("observation", topics=[])))
    done = Answer(world, "supersede", target, "--input", "new.json", "--json", cwd=below)
    assert done.code == 0, done.err
    assert Answer(world, "show", target, "--json").json["projection"]["lifecycle"] == "superseded"


def test_what_belongs_to_another_project_is_not_replaced_by_accident(world: World, elsewhere: World) -> None:
    kept = world.remember()
    for words in (("supersede", kept), ("remember", "--supersedes", kept)):
        done = Answer(elsewhere, *words, "--title", "Retry only GET", "--body", "Another text.")
        assert (done.code, done.out) == (1, "")
        assert "belongs to another project; nothing was changed" in done.err
    assert ids(world.prompt()) == [kept]
    said = ("--title", "Retry only GET", "--body", "Another text.", "--scope", "project", "--json")
    new = Answer(elsewhere, "supersede", kept, *said).json["id"]
    assert Answer(world, "show", new, "--json").json["scope"] == "project"


def test_a_workspace_without_a_repository_is_another_one_too(world: World, tmp_path: Path) -> None:
    kept = world.remember(scope="workspace")
    other = tmp_path / "plain"
    other.mkdir()
    done = Answer(world, "supersede", kept, "--title", "Other", "--body", "Text.", cwd=other)
    assert "belongs to another workspace" in done.err
    assert Answer(world, "supersede", kept, "--title", "Other", "--body", "Text.").code == 0


# ---------------------------------------------------------------- what goes in


def test_a_credential_is_found_however_the_json_of_a_handoff_spells_it(world: World) -> None:
    text = json.dumps(request("handoff", topics=[])).replace("Retry", "\\u0041KIAIOSFODNN7EXAMPL\\u0045")
    done = Answer(world, "handoff", "--input", "-", stdin=text)
    assert done.code == 1
    assert "aws-access-key" in done.err
    assert stores.open_home(world.env) is None


def test_a_credential_in_evidence_that_becomes_a_reference_is_refused(world: World) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = Answer(world, "remember", "--title", "One", "--body", "Two", "--evidence", f"git:{token}")
    assert done.code == 1
    assert "the evidence holds what looks like a credential: github-token" in done.err
    assert token not in done.err + done.out


@pytest.mark.parametrize("verb", ["import", "handoff"])
def test_json_nested_without_end_is_refused_in_one_line(world: World, verb: str) -> None:
    words = ("import", "-") if verb == "import" else ("handoff", "--input", "-")
    done = Answer(world, *words, stdin="[" * 200_000)
    assert done.code == 1
    assert "nested too deeply" in done.err
    assert done.err.count("\n") == 1


def test_a_topic_that_leads_out_of_the_spec_directory_is_no_topic(world: World) -> None:
    for verb in ("handoff", "harvest"):
        done = Answer(world, verb, "--topic", "../../etc/passwd")
        assert (done.code, done.out) == (2, "")
        assert "is no topic name" in done.err


# ---------------------------------------------------------------- flags and words of the protocol's verbs


def test_json_is_asked_for_in_every_spelling_that_the_protocol_takes(world: World) -> None:
    kept = world.remember()
    for flag in ("--json", "-json", "--json=true", "-json=1"):
        assert Answer(world, "recall", flag).json[0]["store"] == "home"
        assert Answer(world, "show", kept, flag).json["memoryId"] == kept
    assert Answer(world, "recall", "--json=false").out.startswith("== home store")
    assert Answer(world, "recall", "-json", "--store", "other").json["error"]["code"] == "usage"


def test_wrong_usage_names_the_command_that_was_used(world: World) -> None:
    world.remember()
    for words in (("grep",), ("grep", "a", "b"), ("recall", "word"), ("challenge",)):
        done = Answer(world, *words)
        assert done.code == 2
        assert f"usage: ,ai-kb {words[0]}" in done.err, done.err
