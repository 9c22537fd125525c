"""The hook of every prompt: what it injects for whom, what it costs, and its silence under every fault."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_memory import ledger
from agent_memory.topics import State
from ai_kb import consent, injection
from ai_kb.inject_text import WARNING
from ai_kb.search import Found, Source, search
from ai_kb.seen import seen_ids
from hooks import _entry, perturn_recall, session_context
from tests import patient
from tests.conftest import PATIENCE, REPOSITORY
from tests.kb.kbworld import BODY, NOW, PROMPT, SESSION, TITLE, World, context_of, git_log, ids

PAYLOADS = REPOSITORY / "tests/data/payloads"
CORRECTION = (
    "I didn't ask you to touch the config files. Revert those changes, "
    "you were only supposed to fix the test."
)


@pytest.fixture
def world(repository: Path, isolated: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which everything that shares a word is relevant."""

    def select(prompt: str, sources: list[Source], *, limit: int, prose: bool = False) -> list[Found]:
        return search(sources, prompt, limit=limit)

    monkeypatch.setattr("ai_kb.relevance.select_relevant", select)
    return World(repository, isolated)


@pytest.fixture
def both(world: World) -> World:
    """A record in each store, the repository's policy accepted, both indexes warm."""
    world.trust_this_clone()
    world.accept()
    world.remember("Retry with a budget", "Of the repository.")
    world.remember(store="home")
    assert len(ids(world.prompt(session="warm"))) == 2
    return world


# ---------------------------------------------------------------- what is injected


def test_a_matching_prompt_gets_the_capsule_once_per_session(world: World) -> None:
    memory = world.remember()
    context = world.prompt()
    assert WARNING in context
    (line,) = [line for line in context.split("\n") if line.startswith("{")]
    value = json.loads(line)
    assert value == {
        "id": memory, "kind": "gotcha", "title": TITLE, "body": BODY, "trust": "qualified",
        "age": "today", "by": "agent",
    }  # fmt: skip
    assert world.prompt() == ""
    assert ids(world.prompt(session="another")) == [memory]
    assert seen_ids(str(world.spec_dir), SESSION) == [memory]


def test_the_real_gate_lets_a_match_through_and_nothing_else(
    repository: Path, isolated: dict[str, str]
) -> None:
    world = World(repository, isolated)
    memory = world.remember(
        f"{TITLE}: a POST that timed out may have been carried out", "Noted in src/retry.py."
    )
    assert ids(world.prompt()) == [memory]
    assert world.prompt("please rename the colour theme in the settings dialog", session="b") == ""


def test_prompts_and_session_starts_show_a_capsule_once_between_them(world: World) -> None:
    memory = world.remember()
    spec = f"topic: fix-retries\nsummary: {PROMPT}\n"
    state = State.of(world.env, str(world.workspace), hook=False)
    state.ensure()
    state.write_spec("fix-retries", spec)
    for session in ("first", "second"):
        state.bind(session, "fix-retries")

    def start(session: str) -> list[str]:
        data = world.payload(session=session, hook_event_name="SessionStart", source="startup")
        out, err = _entry.run(
            "session_context", session_context.work, ["--harness", "claude"],
            env=world.env, stdin=data, cwd=str(world.workspace), now=NOW.timestamp(),
        )  # fmt: skip
        assert err == ""
        return ids(context_of(out))

    assert start("first") == [memory]
    assert world.prompt(session="first") == ""
    assert ids(world.prompt(session="second")) == [memory]
    assert start("second") == []


def test_depth_says_how_many(world: World) -> None:
    for number in range(7):
        world.remember(f"Retry timeout number {number}", f"Body {number * 7919} of {number * 104729}.")
    assert len(ids(world.prompt(session="a"))) == 3
    world.env["AI_AGENT_DEPTH"] = "deep"
    assert len(ids(world.prompt(session="b"))) == 5
    world.env["AI_AGENT_DEPTH"] = "bogus"
    assert len(ids(world.prompt(session="c"))) == 3
    world.env["AI_AGENT_DEPTH"] = " FAST "
    assert world.prompt(session="d") == ""


def test_the_body_is_longer_at_depth_deep(world: World) -> None:
    world.remember(TITLE, "word " * 200)

    def body(session: str) -> str:
        line = next(line for line in world.prompt(session=session).split("\n") if line.startswith("{"))
        return str(json.loads(line)["body"])

    assert 235 <= len(body("a")) <= 240
    world.env["AI_AGENT_DEPTH"] = "deep"
    assert 355 <= len(body("b")) <= 360


def test_a_short_prompt_recalls_nothing(world: World) -> None:
    world.remember()
    assert world.prompt("retry POST") == ""
    assert world.prompt("   retry it   ") == ""
    assert world.prompt("retry a POST") != ""


def test_a_challenged_capsule_says_so(world: World, tmp_path: Path) -> None:
    from ai_kb.hn.identity import Keyring
    from ai_kb.hn.prefixes import PrefixStore
    from ai_kb.hn.streams import append

    world.trust_this_clone()
    world.accept()
    memory = world.remember()
    clone = tmp_path / "clone"
    world.git("clone", "-q", str(world.workspace), str(clone))
    other = World(clone, world.env)
    other.git("fetch", "-q", "origin", "refs/hn/memory/*:refs/hn/remotes/origin/memory/*")
    store = other.repo()
    Keyring.of(store.repo).init("Bob")
    with store.repo.objects() as reader, PrefixStore.open(store.repo) as prefixes:
        append(store.repo, reader, store.identity(), operation="challenge", now=NOW, target=memory,
               reason="evidence-mismatch", prefixes=prefixes)  # fmt: skip
    world.git("fetch", "-q", str(clone), "refs/hn/memory/*:refs/hn/remotes/bob/memory/*")
    assert '"challenged":true' in world.prompt()


def test_without_a_session_id_nothing_is_remembered_as_seen(world: World) -> None:
    memory = world.remember()
    for _ in range(2):
        assert ids(world.run(world.payload(session=""))) == [memory]
    assert not list(world.spec_dir.glob(".recall-seen-*"))


# ---------------------------------------------------------------- corrections


def test_a_correction_gets_the_directive_once_per_prompt(world: World) -> None:
    context = world.prompt(CORRECTION)
    assert f"note anti_pattern TEXT --workspace {world.workspace} --session-id {SESSION}" in context
    assert "`,ai-kb remember` for it only after you have verified it" in context
    assert world.prompt(CORRECTION) == ""  # the same event, delivered under another name
    assert "anti_pattern" in world.prompt(CORRECTION, session="other")
    assert "anti_pattern" in world.run(world.payload(CORRECTION, session=""))


def test_a_correction_is_seen_at_depth_fast_too_and_beside_recall(world: World) -> None:
    memory = world.remember("Config files belong to the test team", "Ask before you touch them.")
    context = world.prompt(CORRECTION)
    assert "anti_pattern" in context
    assert ids(context) == [memory]
    world.env["AI_AGENT_DEPTH"] = "fast"
    assert "anti_pattern" in world.prompt(CORRECTION, session="b")


# ---------------------------------------------------------------- when there is silence


def test_prompts_that_are_not_the_users_trigger_nothing(world: World) -> None:
    world.remember(scope="universal", by_agent=False, domains=("http",))
    note = json.loads((PAYLOADS / "claude/UserPromptSubmit.task-notification.json").read_text())
    note["cwd"] = str(world.workspace)
    note["prompt"] += f" {PROMPT} {CORRECTION}"
    assert world.run(json.dumps(note).encode()) == ""
    for harness, name in (
        ("codex", "UserPromptSubmit.in-subagent"),
        ("copilot", "userPromptSubmitted.in-subagent"),
    ):
        value = json.loads((PAYLOADS / f"{harness}/{name}.json").read_text())
        value["cwd"] = str(world.workspace)
        value["prompt"] = f"{PROMPT} {CORRECTION}"
        assert world.run(json.dumps(value).encode(), harness) == ""


def test_other_events_and_no_payload_at_all_are_silent(world: World) -> None:
    world.remember()
    assert world.run(world.payload(hook_event_name="PostToolUse")) == ""
    assert world.run(b"") == ""
    assert world.run(b"not json") == ""
    assert world.err == ""


@pytest.mark.parametrize("value", ["0", "false", "NO", "off", "disabled"])
def test_injection_can_be_turned_off_by_a_variable(world: World, value: str) -> None:
    world.remember()
    world.env["AGENT_HOOK_CONTEXT"] = value
    assert world.prompt() == ""
    assert world.prompt(CORRECTION) == ""


@pytest.mark.parametrize("name", ["_no_session_context", f"session-{SESSION}.no_context"])
def test_injection_can_be_turned_off_by_a_sentinel(world: World, name: str) -> None:
    world.remember()
    assert world.prompt(session="before") != ""
    (world.spec_dir / name).touch()
    assert world.prompt() == ""
    assert world.prompt(CORRECTION) == ""


def test_a_review_recalls_nothing_but_corrections_count(world: World) -> None:
    world.remember()
    world.prompt(session="makes the directory")
    binding = world.spec_dir / f".session-topic-{SESSION}.txt"
    binding.write_text("pr-12\n")
    binding.chmod(0o600)
    spec = world.spec_dir / "pr-12.txt"
    spec.write_text("target: PR #12\n")
    spec.chmod(0o600)
    assert world.prompt() == ""
    assert "anti_pattern" in world.prompt(CORRECTION)
    spec.write_text("target: the retries\n")
    assert world.prompt() != ""


# ---------------------------------------------------------------- harnesses


@pytest.mark.parametrize(
    ("harness", "name"),
    [("claude", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("copilot", "userPromptSubmitted"),
     ("copilot", "PascalCase.UserPromptSubmit"), ("opencode", "chat.message"),
     ("cursor", "engine.beforeSubmitPrompt"), ("gemini", "BeforeAgent.interactive")],
)  # fmt: skip
def test_every_harness_gets_its_shape(world: World, harness: str, name: str) -> None:
    memory = world.remember()
    value = json.loads((PAYLOADS / harness / f"{name}.json").read_text())
    if "output" in value:
        value["output"]["parts"][0]["text"] = PROMPT
        value["input"]["directory"] = str(world.workspace)
    else:
        value["prompt"] = PROMPT
        value["cwd"] = str(world.workspace)
        value.pop("workspace_roots", None)
    out, err = _entry.run(
        "perturn_recall", perturn_recall.work, ["--harness", harness],
        env=world.env, stdin=json.dumps(value).encode(), cwd=str(world.workspace), now=NOW.timestamp(),
    )  # fmt: skip
    assert err == ""
    parsed = json.loads(out)
    if harness in ("claude", "codex", "gemini"):
        assert set(parsed) == {"hookSpecificOutput"}
        assert set(parsed["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    elif harness == "cursor":
        assert set(parsed) == {"additional_context"}
    else:
        assert set(parsed) == {"additionalContext"}
    assert ids(context_of(out)) == [memory]


def test_geminis_start_context_rides_on_its_first_prompt(world: World) -> None:
    value = json.loads((PAYLOADS / "gemini/BeforeAgent.interactive.json").read_text())
    value.update(prompt="hello there, what is this project about?", cwd=str(world.workspace))
    first = world.run(json.dumps(value).encode(), "gemini")
    assert "## Session memory" in first
    assert "## Session memory" not in world.run(json.dumps(value).encode(), "gemini")


# ---------------------------------------------------------------- what it costs


def test_at_most_three_git_processes_and_none_at_fast(both: World, tmp_path: Path) -> None:
    log = git_log(both, tmp_path / "bin")
    assert len(ids(both.prompt())) == 2
    warm = log.read_text().splitlines()
    assert 1 <= len(warm) <= 3, warm
    for call in warm:
        assert "safe.bareRepository=explicit" in call
        assert "retry" not in call.lower()  # the query is in no argument
    log.write_text("")
    both.env["AI_AGENT_DEPTH"] = "fast"
    both.prompt(session="fast")
    both.prompt(CORRECTION, session="fast")
    assert log.read_text() == ""


def test_after_a_new_record_it_is_still_three(
    both: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ai_kb.remember.keep_index_current", lambda store: None)
    both.remember("A third retry", "In the home store.", store="home")
    both.remember("A fourth retry", "In the repository's.")
    log = git_log(both, tmp_path / "bin")
    assert len(ids(both.prompt())) == 3
    assert len(log.read_text().splitlines()) <= 3, log.read_text()


def test_what_remember_signs_is_in_the_index_before_the_next_prompt(both: World, tmp_path: Path) -> None:
    memory = both.remember("A third retry", "In the home store.", store="home")
    log = git_log(both, tmp_path / "bin")
    assert memory in ids(both.prompt())
    assert "home.git" not in log.read_text()


def test_nothing_of_an_unaccepted_repository_is_opened(world: World, tmp_path: Path) -> None:
    world.trust_this_clone()
    world.remember()
    forget_indexes(world)
    log = git_log(world, tmp_path / "bin")
    assert world.prompt() == ""
    assert "for-each-ref" not in log.read_text()
    assert not list((Path(world.env["XDG_CACHE_HOME"]) / "agent-hook-suite").glob("index/*.sqlite"))


HEAVY = set(
    "argparse asyncio dataclasses datetime email enum filelock git hashlib inspect json logging "
    "nacl numpy orjson pathlib rank_bm25 re re2 shutil signal socket subprocess tempfile threading tomllib "
    "typing urllib uuid".split()
)


def modules(world: World, prompt: str, folder: Path, session: str = SESSION) -> set[str]:
    """Top-level modules that the hook's process had imported at its end."""
    folder.mkdir(exist_ok=True)
    listed = folder / "modules"
    hook = str(REPOSITORY / "hooks/perturn_recall.py")
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"sys.argv = [{hook!r}, '--harness', 'claude']\n"
        f"sys.path.insert(0, {str(REPOSITORY)!r})\n"
        f"import ai_kb.injection\nai_kb.injection.DEADLINE['balanced'] = {PATIENCE}\n"
        "try:\n"
        f"    exec(compile(open({hook!r}).read(), {hook!r}, 'exec'))\n"
        "except SystemExit as leave:\n"
        "    assert leave.code == 0\n"
        f"open({str(listed)!r}, 'w').write('\\n'.join(set(sys.modules) - before))\n"
    )
    program = f"__file__ = {hook!r}\n{program}"
    subprocess.run(
        [sys.executable, "-I", "-c", program], input=world.payload(prompt, session), env=world.env,
        cwd=world.workspace, check=True, capture_output=True,
    )  # fmt: skip
    return {name.split(".")[0] for name in listed.read_text().split("\n")}


def test_a_warm_prompt_imports_nothing_heavy(both: World, tmp_path: Path) -> None:
    loaded = modules(both, PROMPT, tmp_path / "m", session="fresh")
    assert "_sqlite3" in loaded
    assert loaded & HEAVY == set()


def test_fast_and_short_prompts_do_not_even_open_the_index(both: World, tmp_path: Path) -> None:
    assert "_sqlite3" not in modules(both, "hi", tmp_path / "m")
    both.env["AI_AGENT_DEPTH"] = "fast"
    assert "_sqlite3" not in modules(both, PROMPT, tmp_path / "m")


# ---------------------------------------------------------------- faults


@pytest.fixture
def holding(tmp_path: Path) -> Iterator[list[object]]:
    """Things that are let go after the test."""
    held: list[object] = []
    yield held
    for thing in held:
        thing.close()  # type: ignore[attr-defined]


def silent(world: World, *, says: str = "", session: str = "faulty") -> None:
    """Nothing injected, nothing on stderr; the ledger says why."""
    before = said(world, says)
    assert world.prompt(session=session) == ""
    assert world.err == ""
    if says:
        assert said(world, says) > before, world.ledger()


def said(world: World, what: str) -> int:
    """How often the ledger was told of ``what``; the same again is counted in its entry."""
    if not world.spec_dir.exists():
        return 0
    told = [entry for entry in ledger.entries(str(world.spec_dir)) if what in str(entry["message"])]
    return sum(int(str(entry.get("count", 1))) for entry in told)


def forget_indexes(world: World) -> None:
    """What `remember` left of its own look into both stores goes, so that the hook starts from nothing."""
    shutil.rmtree(Path(world.env["XDG_CACHE_HOME"]) / "agent-hook-suite/index", ignore_errors=True)


def index_files(world: World) -> list[Path]:
    return sorted((Path(world.env["XDG_CACHE_HOME"]) / "agent-hook-suite/index").glob("*.sqlite"))


def test_no_store_is_no_fault(world: World) -> None:
    silent(world)
    assert world.ledger() == []


def test_a_bad_signature_injects_nothing_and_says_so(world: World) -> None:
    world.remember()
    store = world.home().repo.git_dir
    ref, head = world.git(
        "for-each-ref", "--format=%(refname) %(objectname)", "refs/hn/memory", cwd=store
    ).split()
    payload = world.git("cat-file", "blob", f"{head}:memory.json", cwd=store)
    changed = world.workspace / "forged.json"
    changed.write_text(payload.replace("idempotent", "Idempotent", 1))
    blob = world.git("hash-object", "-w", str(changed), cwd=store)
    signature = world.git("rev-parse", f"{head}:signature", cwd=store)
    entries = f"100644 blob {blob}\tmemory.json\n100644 blob {signature}\tsignature\n"
    tree = subprocess.run(
        ["git", "-C", store, "mktree"], input=entries, capture_output=True, text=True, check=True,
        env=world.env,
    ).stdout.strip()  # fmt: skip
    forged = world.git("commit-tree", tree, "-m", "forged", cwd=store)
    world.git("update-ref", ref, forged, cwd=store)
    silent(world, says="the home store:")
    world.git("update-ref", ref, head, cwd=store)
    assert world.prompt() != ""


def test_one_broken_store_leaves_the_other_alone(both: World) -> None:
    both.git("update-ref", f"refs/hn/memory/{'a' * 64}/{'b' * 64}", "HEAD")
    found = ids(both.prompt())
    assert len(found) == 1
    assert any("the repository's store:" in message for message in both.ledger())


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 100, None])
def test_a_broken_index_is_made_again(both: World, damage: bytes | None) -> None:
    for path in index_files(both):
        if damage is None:  # a page in the middle
            data = bytearray(path.read_bytes())
            data[4096 : 4096 * 4] = b"\xff" * 4096 * 3
            path.write_bytes(data)
        else:
            path.write_bytes(damage)
    both.prompt(session="heals")
    assert both.err == ""
    assert len(ids(both.prompt(session="healed"))) == 2


def test_a_record_that_was_changed_in_the_index_is_not_injected(world: World) -> None:
    world.remember()
    forget_indexes(world)
    assert world.prompt(session="warm") != ""
    (path,) = index_files(world)
    with sqlite3.connect(path) as conn:
        conn.execute("UPDATE payload SET data = replace(data, 'timed', 'Timed')")
    conn.close()
    context = world.prompt(session="changed")
    assert "Timed" not in context


def test_a_locked_database_injects_nothing(
    world: World, holding: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember()
    forget_indexes(world)
    assert world.prompt(session="warm") != ""
    (path,) = index_files(world)
    monkeypatch.setattr("ai_kb.remember.keep_index_current", lambda store: None)
    world.remember("Another retry", "Which the index does not know yet.")
    lock = open(f"{path}.lock", "a")  # noqa: SIM115
    holding.append(lock)
    fcntl.flock(lock, fcntl.LOCK_EX)
    silent(world, says="the home store:")
    fcntl.flock(lock, fcntl.LOCK_UN)
    conn = sqlite3.connect(path, isolation_level=None)
    holding.append(conn)
    conn.execute("BEGIN EXCLUSIVE")
    silent(world, says="the home store:", session="exclusive")
    conn.execute("ROLLBACK")
    assert len(ids(world.prompt(session="free"))) == 2


def slow_git(world: World, folder: Path) -> None:
    folder.mkdir()
    program = folder / "git"
    program.write_text("#!/bin/sh\nexec sleep 3600\n")
    program.chmod(0o755)
    world.env["PATH"] = f"{folder}:{world.env['PATH']}"


def test_git_that_does_not_answer_is_given_up(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember()
    assert world.prompt(session="warm") != ""
    slow_git(world, tmp_path / "slow")
    monkeypatch.setitem(injection.DEADLINE, "balanced", 0.5)
    silent(world, says="did not answer")


def test_no_git_at_all_injects_nothing(world: World) -> None:
    world.remember()
    world.env["PATH"] = "/nonexistent"
    silent(world, says="git was not found")


def test_an_answer_that_comes_too_late_is_not_given(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember()

    slept = 0.0

    def late(prompt: str, sources: list[Source], *, limit: int, prose: bool = False) -> list[Found]:
        nonlocal slept
        slept += PATIENCE
        return search(sources, prompt, limit=limit)

    monkeypatch.setattr("ai_kb.relevance.select_relevant", late)
    monkeypatch.setattr(injection, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + slept))
    silent(world, says=f"recall took longer than {PATIENCE:g} s")
    assert seen_ids(str(world.spec_dir), "faulty") == []


def test_relevance_that_fails_injects_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember()

    def broken(prompt: str, sources: list[Source], *, limit: int, prose: bool = False) -> list[Found]:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr("ai_kb.relevance.select_relevant", broken)
    forget_indexes(world)
    silent(world, says="DatabaseError: database disk image is malformed")
    assert index_files(world) == []


def test_a_seen_state_that_cannot_be_believed_injects_nothing(world: World, tmp_path: Path) -> None:
    world.remember()
    world.prompt(session="makes the directory")
    (tmp_path / "elsewhere").write_text("{}")
    os.symlink(tmp_path / "elsewhere", world.spec_dir / ".recall-seen-faulty.json")
    silent(world, says="cannot be read safely")


def test_a_spec_directory_of_somebody_else_stops_everything(world: World) -> None:
    world.remember()
    world.prompt(session="makes the directory")
    world.spec_dir.chmod(0o777)
    assert world.prompt(session="b") == ""
    assert world.prompt(CORRECTION) == ""
    assert "can be written by others" in world.err


def test_a_home_store_that_others_can_change_is_not_read(world: World) -> None:
    world.remember()
    os.chmod(world.home().repo.git_dir, 0o777)
    silent(world, says="can be written by others")


def test_a_home_store_without_main_is_passed_over(world: World) -> None:
    world.remember()
    world.git("update-ref", "-d", "refs/heads/main", cwd=world.home().repo.git_dir)
    silent(world)


def test_a_cache_that_cannot_be_used_costs_time_only(world: World) -> None:
    memory = world.remember()
    cache = Path(world.env["XDG_CACHE_HOME"]) / "agent-hook-suite"
    shutil.rmtree(cache)
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file where a directory should be")
    assert ids(world.prompt()) == [memory]


def test_evidence_that_is_gone_is_noticed_at_once(world: World) -> None:
    world.trust_this_clone()
    world.accept()
    (world.workspace / "proof").write_text("proof")
    blob = world.git("hash-object", "-w", "proof")
    memory = world.remember(evidence=(f"git:{blob}",))
    at_home = world.append(world.home(), "Retry at home\n\nBody", ["scope/universal"])
    assert set(ids(world.prompt(session="warm"))) == {memory, at_home}
    os.unlink(world.workspace / ".git/objects" / blob[:2] / blob[2:])
    assert ids(world.prompt()) == [at_home]


def test_evidence_in_the_home_store_is_looked_at_again_too(world: World) -> None:
    store = world.home()
    blob = world.git("hash-object", "-w", str(world.workspace / "README.md"), cwd=store.repo.git_dir)
    memory = world.append(store, "Retry at home\n\nBody", ["scope/universal"], evidence=(f"git:{blob}",))
    assert ids(world.prompt(session="warm")) == [memory]
    os.unlink(f"{store.repo.git_dir}/objects/{blob[:2]}/{blob[2:]}")
    assert world.prompt() == ""


def test_a_part_that_fails_leaves_the_others_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = world.remember()

    def broken(prompt: str) -> str:
        raise RuntimeError("detector")

    monkeypatch.setattr("agent_memory.corrections.detect", broken)
    assert ids(world.prompt()) == [memory]
    assert any("detector" in message for message in world.ledger())


def test_a_hook_that_hangs_where_no_deadline_is_known_ends_itself(world: World) -> None:
    world.remember()
    world.prompt(session="makes the directory")
    before = (
        "import agent_memory.corrections as corrections\n"
        f"{patient.HANGS}"
        "corrections.detect = lambda prompt: hanging()\n"
        "injection.DEADLINE['balanced'] = 1.0\n"
    )
    done = subprocess.run(
        patient.hook("perturn_recall", "--harness", "cursor", before=before),
        input=world.payload(session="hangs"), env=world.env, cwd=world.workspace, capture_output=True,
        check=True,
    )  # fmt: skip
    assert done.stdout == b"{}"
    assert any("gave up after 1.5 s" in message for message in world.ledger())


def test_a_pipe_in_place_of_the_configuration_ends_in_silence(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember(scope="universal", by_agent=False)
    world.prompt(session="makes the directory")
    config = world.workspace / ".git/config"
    config.unlink()
    os.mkfifo(config)
    monkeypatch.setitem(injection.DEADLINE, "balanced", 1.0)
    world.prompt(session="pipe")
    assert world.err == ""


def test_the_hook_gives_up_soon_after_the_deadline_of_its_depth(
    as_shipped: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AI_AGENT_DEPTH", "deep")
    assert perturn_recall.limit() == 9.5
    monkeypatch.setenv("AI_AGENT_DEPTH", "what")
    assert perturn_recall.limit() == 6.5


def test_main_ends_with_0_whatever_is_on_stdin(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gc.disable", lambda: None)
    monkeypatch.setattr("hooks._entry.read_stdin", lambda: b"")
    monkeypatch.setattr("sys.argv", ["perturn_recall.py", "--harness", "cursor"])
    assert perturn_recall.main() == 0
    assert capfd.readouterr().out == "{}"


# ---------------------------------------------------------------- records that wait


def test_session_start_hears_how_many_records_wait(world: World) -> None:
    call = _call(world)
    assert injection.waiting_line(call) == ""
    world.trust_this_clone()
    assert injection.waiting_line(call) == ""
    world.remember()
    one = "Note: 1 record of this repository's memory waits for a person's word before it is shown here; "
    assert injection.waiting_line(call).startswith(one)
    world.remember("Another retry", "text")
    assert "2 records of this repository's memory wait for" in injection.waiting_line(call)
    world.accept()
    assert injection.waiting_line(call) == ""
    world.git("update-ref", f"refs/hn/memory/{'a' * 64}/{'b' * 64}", "HEAD")
    consent.revoke(world.env, str(world.workspace / ".git"), _digest(world))
    assert injection.waiting_line(call) == ""
    assert any("the repository's store:" in message for message in world.ledger())


def test_outside_a_repository_nothing_waits(isolated: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert injection.waiting_line(_call(World(tmp_path / "none", isolated))) == ""


def _digest(world: World) -> str:
    from ai_kb import stores

    policy = stores.policy_at_head(world.repo())
    assert policy is not None
    return policy.digest


def _call(world: World) -> _entry.Call:
    from agent_memory.payload import normalise

    event = normalise(world.payload(), "claude")
    return _entry.Call(
        "session_context", "claude", "claude", event, world.env, str(world.workspace), NOW.timestamp()
    )


# ---------------------------------------------------------------- the real process


def test_the_hook_as_a_program_ends_with_0_and_one_object(both: World) -> None:
    done = subprocess.run(
        patient.hook("perturn_recall", "--harness", "claude"), input=both.payload(CORRECTION, "program"),
        env=both.env, cwd=both.workspace, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stderr == b""
    assert "anti_pattern" in context_of(done.stdout.decode())


def test_started_as_by_its_launcher_it_ends_the_same(both: World) -> None:
    program = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
    program += f"from ai_kb.injection import DEADLINE\nDEADLINE['balanced'] = {PATIENCE}\n"
    program += "from hooks.perturn_recall import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, "--harness", "claude"],
        input=both.payload(session="launcher"), env=both.env, cwd=both.workspace, capture_output=True,
        check=True,
    )  # fmt: skip
    assert done.stderr == b""
    assert len(seen_ids(str(both.spec_dir), "launcher")) == len(ids(context_of(done.stdout.decode())))
    assert "anti_pattern" not in done.stdout.decode()


def test_half_an_installation_is_said_and_no_failure(tmp_path: Path) -> None:
    lonely = tmp_path / "hooks/perturn_recall.py"
    lonely.parent.mkdir()
    shutil.copy(REPOSITORY / "hooks/perturn_recall.py", lonely)
    done = subprocess.run(
        [sys.executable, "-IS", str(lonely)], input=b"{}", capture_output=True, check=True, cwd=tmp_path
    )
    assert done.stdout == b""
    assert done.stderr.startswith(b"[agent-memory] perturn_recall: ")


# ---------------------------------------------------------------- refs of the home store


def test_refs_read_from_files_are_those_of_git(world: World) -> None:
    from ai_kb.hn.cache import REF_PREFIXES
    from ai_kb.home_refs import read_refs

    world.remember()
    store = world.home().repo
    prefixes = (*REF_PREFIXES, "refs/heads/main")

    def compare() -> None:
        assert read_refs(store.git_dir, prefixes) == store.refs(*prefixes)

    compare()
    world.git("pack-refs", "--all", cwd=store.git_dir)
    compare()
    world.remember("Another one", "text")
    world.git("update-ref", "refs/hn/remotes/x/memory/y", "refs/heads/main", cwd=store.git_dir)
    world.git("tag", "-a", "-m", "m", "t", "main", cwd=store.git_dir)
    compare()
    world.git("pack-refs", "--all", cwd=store.git_dir)
    (Path(store.git_dir) / "refs/hn/memory").mkdir(exist_ok=True)
    (Path(store.git_dir) / "refs/hn/memory/x.lock").touch()
    compare()
    assert read_refs("/nowhere", prefixes) == {}


def test_what_is_unusual_among_the_refs_is_left_to_git(world: World) -> None:
    from ai_kb.home_refs import read_refs

    memory = world.remember()
    store = Path(world.home().repo.git_dir)
    main = store / "refs/heads/main"
    content = main.read_text()
    main.write_text("ref: refs/heads/other\n")
    assert read_refs(str(store), ["refs/heads/main"]) is None
    main.write_text(content)
    main.chmod(0o000)
    if os.geteuid() != 0:
        assert read_refs(str(store), ["refs/heads/main"]) is None
    main.chmod(0o644)
    (store / "packed-refs").write_text("# pack-refs\nnonsense\n")
    assert read_refs(str(store), ["refs/heads/main"]) is None
    (store / "packed-refs").unlink()
    (store / "reftable").mkdir()
    assert read_refs(str(store), ["refs/heads/main"]) is None
    assert ids(world.prompt()) == [memory]
