"""Private keys: in the keyring and in a backup that was asked for, and nowhere else."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import agent_memory.cli
import ai_kb.cli
import ai_kb.hn.cli
from agent_base.cli import string_console
from ai_kb.hn import keys
from ai_kb.hn.identity import Keyring
from tests.kb.kbworld import PROMPT, World

VERBS = {"hn": ai_kb.hn.cli.main, ",ai-kb": ai_kb.cli.main, ",agent-memory": agent_memory.cli.main}


@pytest.fixture
def world(repository: Path, isolated: dict[str, str]) -> World:
    return World(repository, isolated)


def _run(world: World, *argv: str) -> str:
    console = string_console(world.env, cwd=str(world.workspace))
    VERBS[argv[0]](list(argv[1:]), console)
    assert isinstance(console.stdout, io.StringIO)
    assert isinstance(console.stderr, io.StringIO)
    return console.stdout.getvalue() + console.stderr.getvalue()


def _spellings(private_key: bytes) -> list[bytes]:
    """How a key could stand in a text: base64 of seed or whole, hexadecimal, raw."""
    seed = private_key[: keys.SEED_BYTES]
    texts = [keys.encode_b64(private_key)[:40], keys.encode_b64(seed)[:40], seed.hex(), seed.hex().upper()]
    return [*(text.encode() for text in texts), seed]


def _files(*roots: Path) -> Iterator[Path]:
    for root in roots:
        for path in root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                yield path


def test_a_private_key_is_printed_logged_and_copied_nowhere(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = _run(world, "hn", "init", "--name", "A")
    world.trust_this_clone()
    rings = [Keyring.of(world.repo().repo), Keyring.of(world.home().repo)]
    world.accept()
    clone = tmp_path / "clone.git"
    world.git("init", "-q", "--bare", str(clone))
    world.git("remote", "add", "origin", str(clone))
    out = tmp_path / "out.jsonl"
    for argv in (
        ("hn", "init"),
        ("hn", "identity", "show"),
        ("hn", "identity", "public"),
        ("hn", "identity", "list"),
        ("hn", "identity", "nonsense"),
        ("hn", "policy", "show", "--json"),
        (",ai-kb", "remember", "--title", "T one", "--body", "B", "--kind", "gotcha"),
        (",ai-kb", "remember", "--title", "T two", "--body", "B two", "--store", "home", "--json"),
        (",ai-kb", "list"),
        (",ai-kb", "status", "--json"),
        (",ai-kb", "doctor"),
        (",ai-kb", "recall", "--json"),
        (",ai-kb", "search", "retries", "--json"),
        (",ai-kb", "index", "rebuild"),
        (",ai-kb", "sync", "origin"),
        (",ai-kb", "export", "--store", "repo"),
        (",agent-memory", "status", "--json"),
        (",agent-memory", "doctor"),
    ):
        shown += _run(world, *argv)
    shown += world.prompt(PROMPT)
    # A command that fails in a way nobody foresaw leaves a traceback in a log: without the key.
    monkeypatch.setattr(keys, "sign", lambda private_key, payload: 1 // 0)
    shown += _run(world, "hn", "memory", "record", "--kind", "decision", "--at", "HEAD", "--applies", "exact",
                  "--content", "x")  # fmt: skip
    out.write_text(shown)
    assert "unforeseen" in shown or "ZeroDivisionError" in shown
    homes = {Path(ring.path(str(ring.active_actor()))) for ring in rings}
    searched = list(_files(tmp_path))
    assert homes <= set(searched)
    assert len(searched) > 50
    for ring in rings:
        for spelling in _spellings(ring.active().private_key):
            holders = {path for path in searched if spelling in path.read_bytes()}
            assert holders <= homes, holders


def test_a_key_that_a_tool_printed_does_not_reach_the_worklog(world: World) -> None:
    from tests.memory.support import commands_of, record

    ring = Keyring.of(world.repo().repo)
    ring.init("A")
    text = Path(ring.path(str(ring.active_actor()))).read_text()
    record(world.workspace, "S1", "cat .git/hn/identities/*.json", output=text)
    record(world.workspace, "S1", "jq . keys", output=json.dumps({"all": json.loads(text)}))
    assert len(commands_of(world.workspace, "session-S1")) == 2
    for spelling in _spellings(ring.active().private_key):
        recorded = _files(Path(os.environ["AGENT_MEMORY_SPEC_ROOT"]))
        assert not [path for path in recorded if spelling in path.read_bytes()]


def test_a_capsule_with_a_key_is_refused(world: World) -> None:
    store = world.home()
    key_file = Keyring.of(store.repo).path(store.identity().actor)
    shown = _run(world, ",ai-kb", "remember", "--title", "The key", "--body-file", key_file)
    assert "holds what looks like a credential" in shown
    assert store.repo.refs("refs/hn") == {}
