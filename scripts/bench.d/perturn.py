"""Every prompt against a bare interpreter: both stores at 1,000 and 10,000 records, and without recall.

The repository's store holds the records, its policy is accepted; the home store holds a few. The
index is current, as it is for every prompt but the first after a change. Each prompt is of a new
session. The launcher's way of starting is used: ``-I -S``, packages by path.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import recordslib
from benchlib import BARE, PYTHON, ROOT, Bench, case

from ai_kb import consent, stores
from ai_kb.hn.cache import open_index
from ai_kb.remember import Draft, remember
from ai_kb.search import EXTENSION

_START = (
    f"import sys; sys.path[:0] = [{str(ROOT)!r}, {sysconfig.get_path('purelib')!r}]; "
    "from hooks.perturn_recall import main; sys.exit(main())"
)
HOOK = (PYTHON, "-I", "-S", "-c", _START, "--harness", "claude")
BARE_LABEL = "bare interpreter"
TITLE = "Retry only idempotent requests"
MATCH = "make the POST request retry after a timeout in src/retry.py"
OTHER = "please rename the colour theme in the settings dialog and adjust its tests"
TARGET = 4.0


def prepare(bench: Bench, size: int) -> tuple[Path, Path, dict[str, str]]:
    """Scratch folder, workspace and environment: both stores filled, accepted, indexed."""
    folder = bench.scratch()
    env = bench.environment(folder)
    workspace = recordslib.made_once(bench.cache, size)
    body = "A POST that timed out may have been carried out by the server."
    draft = Draft(TITLE, body, kind="gotcha", scope="universal", by_agent=False, store=stores.HOME)
    remember(draft, workspace=str(workspace), env=env, now=datetime.now(UTC))
    store = stores.open_repo(str(workspace), env)
    assert store is not None
    policy = stores.policy_at_head(store)
    assert policy is not None
    consent.accept(env, store.repo.common_dir, policy.digest, "bench")
    open_index(store.repo, extension=EXTENSION).close()  # a hook would leave much of it to another process
    for warm in (MATCH, OTHER):
        for session in range(20):
            done = ask(workspace, env, warm, f"warm-{session}")
            if done.stdout or warm == OTHER:
                break
    return folder, workspace, env


def payload(workspace: Path, prompt: str, session: str) -> bytes:
    """A UserPromptSubmit payload of Claude Code."""
    return json.dumps(
        {"session_id": session, "cwd": str(workspace), "hook_event_name": "UserPromptSubmit",
         "transcript_path": "/dev/null", "prompt": prompt}
    ).encode()  # fmt: skip


def ask(
    workspace: Path, env: Mapping[str, str], prompt: str, session: str
) -> subprocess.CompletedProcess[bytes]:
    """One prompt, unmeasured."""
    return subprocess.run(
        HOOK, env=dict(env), cwd=workspace, input=payload(workspace, prompt, session), capture_output=True,
        check=True,
    )  # fmt: skip


def prompts(bench: Bench, workspace: Path, env: Mapping[str, str], prompt: str) -> Callable[[], float]:
    """One prompt per call, each of a new session."""
    numbers = itertools.count()
    return lambda: bench.seconds(HOOK, env, workspace, payload(workspace, prompt, f"s-{next(numbers)}"))


def bare(bench: Bench, workspace: Path, env: Mapping[str, str]) -> Callable[[], float]:
    """A bare interpreter of the same environment."""
    return lambda: bench.seconds(BARE, env, workspace)


@case("hooks")
def perturn(bench: Bench) -> None:
    """Prompts with and without a match, at each size."""
    for size in bench.sizes:
        _, workspace, env = prepare(bench, size)
        floor = bare(bench, workspace, env)
        for label, prompt in (("with a match", MATCH), ("without", OTHER)):
            value = prompts(bench, workspace, env, prompt)
            name = f"prompt {label}, {size:,} records"
            bench.compare(name, value, BARE_LABEL, floor, target=TARGET)


@case("hooks")
def perturn_fast(bench: Bench) -> None:
    """A prompt at depth ``fast``: corrections only."""
    size = bench.sizes[0]
    _, workspace, env = prepare(bench, size)
    env = {**env, "AI_AGENT_DEPTH": "fast"}
    value = prompts(bench, workspace, env, MATCH)
    bench.compare("prompt, depth fast", value, BARE_LABEL, bare(bench, workspace, env), target=TARGET)
