"""The dispatcher, run as clients run it: by real shells, with everything in its way."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_memory import queue, recorder, spool
from agent_memory import workspace as places
from agent_memory.topics import State
from tests.conftest import PATIENCE
from tests.memory import recording

REPOSITORY = Path(__file__).parents[2]
DISPATCHER = REPOSITORY / "hooks/worklog_dispatcher.sh"
PLACE = "/home/user/project"

_COMMANDS = {
    "sh": ["/bin/sh"],
    "dash": ["dash"],
    "bash": ["bash"],
    "bash as sh": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
    "ksh": ["ksh"],
    "mksh": ["mksh"],
    "zsh as sh": ["zsh", "--emulate", "sh"],
    "yash": ["yash"],
}
SHELLS: dict[str, list[str]] = {}
for _name, (_program, *_options) in _COMMANDS.items():
    _found = shutil.which(_program)
    if _found and [os.path.realpath(_found), *_options] not in SHELLS.values():
        SHELLS[_name] = [os.path.realpath(_found), *_options]


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return SHELLS[request.param]


def dispatch(
    *arguments: str,
    stdin: bytes = b"{}",
    script: Path = DISPATCHER,
    shell: list[str] | None = None,
    cwd: str | Path | None = None,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*(shell or ["sh"]), str(script), *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd or os.environ["HOME"],
        env=dict(os.environ) if env is None else env,
        timeout=PATIENCE,
    )


def silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def spec_dir(workspace: str | Path = PLACE, root: str | None = None) -> str:
    return places.spec_dir(root or recording.root(), str(workspace))


def recorded(count: int, workspace: str | Path = PLACE, root: str | None = None) -> list[object]:
    """Commands in the worklogs once there are ``count`` and the spool is empty."""
    where = spec_dir(workspace, root)

    def there() -> bool:
        spooled = spool.waiting(spool.location(root or recording.root()))
        return not spooled and len(recording.records(where)) >= count

    recording.wait_for(there)
    return recording.commands(where)


def installed(target: Path, **baked: str) -> Path:
    """A copy of the script with its marked lines filled in, as the installer does."""
    text = DISPATCHER.read_text()
    for name, value in baked.items():
        lines = [line for line in text.splitlines() if f"# @agent-hook-suite: {name}@" in line]
        assert len(lines) == 1
        variable = lines[0].partition("=")[0]
        quoted = "'" + value.replace("'", "'\\''") + "'"
        text = text.replace(lines[0], f"{variable}={quoted}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(0o755)
    return target


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    """A dispatcher whose recorder does nothing: what is spooled stays."""
    nothing = tmp_path / "nothing"
    nothing.write_text("#!/bin/sh\nexit 0\n")
    nothing.chmod(0o755)
    return installed(tmp_path / "idle/worklog_dispatcher.sh", interpreter=str(nothing))


def test_an_event_is_recorded_by_every_shell(shell: list[str]) -> None:
    done = dispatch("--harness", "claude", stdin=recording.payload("s1", "ls", PLACE), shell=shell)
    assert silent(done)
    assert recorded(1) == ["ls"]
    (entry,) = recording.records(spec_dir())
    assert (entry["session_key"], entry["status"], entry["output"]) == ("s1", "ok", "hello")


def test_it_is_executable_and_names_a_plain_shell() -> None:
    assert DISPATCHER.read_bytes().startswith(b"#!/bin/sh\n")
    assert DISPATCHER.stat().st_mode & stat.S_IXUSR
    done = subprocess.run([DISPATCHER], input=recording.payload("s1", "ls", PLACE), capture_output=True)
    assert silent(done)
    assert recorded(1) == ["ls"]


def test_the_spool_and_the_event_are_private(idle: Path, shell: list[str]) -> None:
    old = os.umask(0)
    try:
        dispatch(script=idle, shell=shell)
    finally:
        os.umask(old)
    root = Path(recording.root())
    (event,) = (root / spool.DIRECTORY).iterdir()
    assert [stat.S_IMODE(p.stat().st_mode) for p in (root, root / spool.DIRECTORY, event)] == [
        0o700,
        0o700,
        0o600,
    ]


def test_the_header_carries_what_only_the_dispatcher_knows(
    idle: Path, shell: list[str], tmp_path: Path
) -> None:
    cwd = tmp_path / "a b 'c' \"d\" $(e) `f` \\g ☃\nh"
    cwd.mkdir()
    env = {
        **os.environ,
        "CLAUDE_PROJECT_DIR": "/p 'q' \"r\" %s \\n",
        "COPILOT_AGENT_SESSION_ID": "parent",
        "SECRET_KEY": "never",
    }
    payload = bytes(range(256))
    dispatch("--harness=claude", "--event=x", stdin=payload, script=idle, shell=shell, cwd=cwd, env=env)
    items: list[spool.Spooled] = []
    spool.drain(spool.location(recording.root()), items.append, lambda: True)
    (item,) = items
    assert item.payload == payload
    assert (item.harness, item.event, item.cwd) == ("claude", "x", str(cwd))
    assert item.env == {
        "CLAUDE_PROJECT_DIR": "/p 'q' \"r\" %s \\n",
        "COPILOT_AGENT_SESSION_ID": "parent",
        "AGENT_MEMORY_SPEC_ROOT": recording.root(),
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--harness", "codex"], ("codex", "")),
        (["--harness=codex", "--event", "PostToolUse"], ("codex", "PostToolUse")),
        (["--by=agent-hook-suite", "--harness", "codex", "extra"], ("codex", "")),
        (["--harness"], ("", "")),
        (["--event"], ("", "")),
        ([], ("", "")),
        (["--harness", "a b'c"], ("a b'c", "")),
    ],
)
def test_arguments_are_passed_on_and_none_is_fatal(
    idle: Path, shell: list[str], arguments: list[str], expected: tuple[str, str]
) -> None:
    assert silent(dispatch(*arguments, script=idle, shell=shell))
    items: list[spool.Spooled] = []
    spool.drain(spool.location(recording.root()), items.append, lambda: True)
    assert [(item.harness, item.event) for item in items] == [expected]


def test_spaces_and_quotes_in_every_path(shell: list[str], tmp_path: Path) -> None:
    strange = tmp_path / 'it\'s a "strange" $HOME `path` & more; ☃'
    script = strange / "hooks/worklog_dispatcher.sh"
    interpreter = strange / "py 'thon'"
    strange.mkdir()
    interpreter.symlink_to(sys.executable)
    installed(
        script, interpreter=str(interpreter), recorder=str(REPOSITORY / "hooks/worklog_recorder.py"), uid="0"
    )
    workspace = strange / "work 'space' \"x\""
    workspace.mkdir()
    root = strange / 'ro\'ot "y"'
    env = {**os.environ, "AGENT_MEMORY_SPEC_ROOT": str(root)}
    payload = recording.payload("s1", "ls", workspace)
    assert silent(dispatch(stdin=payload, script=script, shell=shell, cwd=workspace, env=env))
    assert recorded(1, workspace, str(root)) == ["ls"]


def test_ten_megabytes(shell: list[str]) -> None:
    payload = recording.payload("s1", "ls", PLACE, tool_response={"stdout": "some output\n" * 900_000})
    assert len(payload) > 10_000_000
    assert silent(dispatch(stdin=payload, shell=shell))
    assert recorded(1) == ["ls"]
    assert os.stat(os.path.join(spec_dir(), "current.worklog.jsonl")).st_size < 4000


def test_no_home_and_hardly_an_environment(shell: list[str]) -> None:
    env = {"AGENT_MEMORY_SPEC_ROOT": recording.root()}
    done = dispatch(stdin=recording.payload("s1", "ls", PLACE), shell=shell, env=env)
    assert silent(done)
    assert recorded(1) == ["ls"]


def test_events_are_recorded_in_the_order_they_were_sent(shell: list[str]) -> None:
    commands = [f"c{number}" for number in range(12)]
    for command in commands:
        assert silent(dispatch(stdin=recording.payload("s1", command, PLACE), shell=shell))
    assert recorded(12) == commands
    recording.assert_settled(spec_dir(), commands)


def test_events_that_waited_are_recorded_in_the_order_they_were_sent(idle: Path) -> None:
    commands = [f"c{number}" for number in range(60)]
    for command in commands:
        dispatch(stdin=recording.payload("s1", command, PLACE), script=idle)
    recording.record()
    recording.assert_settled(spec_dir(), commands)


def test_forty_at_the_same_time(shell: list[str]) -> None:
    running = [
        subprocess.Popen(
            [*shell, str(DISPATCHER), "--harness", "codex"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(40)
    ]
    for number, process in enumerate(running):
        assert process.stdin is not None
        process.stdin.write(recording.payload(f"s{number % 4}", f"c{number}", PLACE))
        process.stdin.close()
    for process in running:
        assert process.stderr is not None
        with process.stderr:
            assert process.stderr.read() == b""
        assert process.wait() == 0
    assert sorted(map(str, recorded(40))) == sorted(f"c{number}" for number in range(40))
    recording.wait_for(lambda: queue.pending(spec_dir()) == [])


# ---------------------------------------------------------------- what cannot be done


def failing(done: subprocess.CompletedProcess[bytes], text: str) -> bool:
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 0
    assert done.stdout == b""
    assert len(lines) == 1, lines
    assert lines[0].startswith("[agent-memory] worklog_dispatcher: ")
    assert text in lines[0]
    return True


@pytest.fixture
def unwritable(tmp_path: Path) -> Iterator[Path]:
    """A directory in which nothing can be made, also by root: a file system mounted read-only, or
    one without permission to write."""
    path = tmp_path / "unwritable"
    path.mkdir(mode=0o700)
    if os.geteuid() != 0:
        path.chmod(0o500)
        yield path
        path.chmod(0o700)
        return
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=0700", "tmpfs", str(path)], check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_where_nothing_can_be_written_there_is_one_line_and_no_harm(
    unwritable: Path, shell: list[str]
) -> None:
    script = installed(unwritable.parent / "x/worklog_dispatcher.sh", root=str(unwritable / "specs"))
    env = {k: v for k, v in os.environ.items() if k != "AGENT_MEMORY_SPEC_ROOT"}
    big = recording.payload("s1", "x" * 3_000_000, PLACE)
    assert failing(dispatch("--harness", "claude", stdin=big, script=script, shell=shell, env=env), "made")
    env["AGENT_MEMORY_SPEC_ROOT"] = str(unwritable / "specs")
    assert failing(dispatch(stdin=big, shell=shell, env=env), "cannot be made")


def test_gemini_is_told_nothing_and_the_doctor_can_know(unwritable: Path, shell: list[str]) -> None:
    log = Path(os.environ["HOME"], ".local/state/agent-hook-suite")
    log.mkdir(parents=True)
    env = {**os.environ, "AGENT_MEMORY_SPEC_ROOT": str(unwritable / "specs")}
    for _ in range(2):
        assert silent(dispatch("--harness", "gemini", shell=shell, env=env))
    lines = (log / "dispatcher-errors.log").read_text().splitlines()
    assert len(lines) == 1
    assert "cannot be made" in lines[0]


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, shell: list[str]) -> None:
    path = tmp_path / "small"
    path.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        env = {**os.environ, "AGENT_MEMORY_SPEC_ROOT": str(path)}
        done = dispatch(stdin=b"x" * 1_000_000, shell=shell, env=env)
        assert failing(done, "is the disk full, or stdin closed?")
        assert os.listdir(path / spool.DIRECTORY) == []
    finally:
        subprocess.run(["umount", str(path)], check=True)


def test_a_missing_interpreter_is_told_and_the_event_waits(tmp_path: Path, shell: list[str]) -> None:
    script = installed(tmp_path / "x/worklog_dispatcher.sh", interpreter="/nonexistent/python")
    done = dispatch(stdin=recording.payload("s1", "ls", PLACE), script=script, shell=shell)
    assert failing(done, "the interpreter /nonexistent/python is missing")
    recording.record()
    assert recording.commands(spec_dir()) == ["ls"]


def test_a_closed_stdin_does_no_harm(shell: list[str]) -> None:
    command = f"{shlex.join([*shell, str(DISPATCHER)])} <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0
    assert done.stdout == b""
    assert done.stderr.count(b"\n") <= 1


def test_an_empty_payload_is_no_event(shell: list[str]) -> None:
    assert silent(dispatch(stdin=b"", shell=shell))
    recording.wait_for(lambda: spool.waiting(spool.location(recording.root())) == 0)
    assert recording.records(spec_dir()) == []


@pytest.mark.parametrize("plant", ["symlink", "file"])
def test_a_spool_that_was_planted_is_not_used(tmp_path: Path, shell: list[str], plant: str) -> None:
    root = Path(recording.root())
    root.mkdir(mode=0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if plant == "symlink":
        (root / spool.DIRECTORY).symlink_to(elsewhere)
    else:
        (root / spool.DIRECTORY).write_text("")
    assert failing(dispatch(shell=shell), str(root))
    assert os.listdir(elsewhere) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_a_root_of_somebody_else_is_left_alone(tmp_path: Path, shell: list[str]) -> None:
    base = tmp_path / "base"
    base.mkdir(mode=0o777)
    base.chmod(0o1777)
    foreign = base / "specs"
    foreign.mkdir(mode=0o777)
    os.chown(foreign, 12345, 12345)
    script = installed(tmp_path / "x/worklog_dispatcher.sh", root=str(foreign), interpreter="/bin/true")
    env = {k: v for k, v in os.environ.items() if k != "AGENT_MEMORY_SPEC_ROOT"}
    assert silent(dispatch(script=script, shell=shell, env=env))
    assert os.listdir(foreign) == []
    assert spool.waiting(spool.location(f"{foreign}-0")) == 1
    os.chown(base / "specs-0", 12345, 12345)
    assert failing(dispatch(script=script, shell=shell, env=env), "not this user's own")
    script = installed(
        tmp_path / "y/worklog_dispatcher.sh", root=str(foreign), interpreter="/bin/true", uid="77"
    )
    assert silent(dispatch(script=script, shell=shell, env=env))
    assert spool.waiting(spool.location(f"{foreign}-77")) == 1


# ---------------------------------------------------------------- overrides of the root


@pytest.fixture
def default_root(tmp_path: Path) -> Path:
    path = tmp_path / "default-root"
    path.mkdir(mode=0o700)
    return path


def spooled_at(
    override: str | Path,
    default_root: Path,
    shell: list[str],
    cwd: Path,
    tmp_path: Path,
    **env: str,
) -> str:
    """``override`` or ``default``: where the dispatcher put an event."""
    script = installed(tmp_path / "o/worklog_dispatcher.sh", root=str(default_root), interpreter="/bin/true")
    whole = {**os.environ, "AGENT_MEMORY_SPEC_ROOT": str(override), **env}
    done = dispatch(script=script, shell=shell, cwd=cwd, env=whole)
    assert silent(done), done.stderr
    at_default = spool.waiting(spool.location(str(default_root)))
    assert at_default in (0, 1)
    if not at_default:
        assert spool.waiting(spool.location(os.path.realpath(override))) == 1
    return "default" if at_default else "override"


def test_an_override_elsewhere_counts(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path
) -> None:
    override = tmp_path / "elsewhere/deep/specs"
    assert spooled_at(override, default_root, shell, repository, tmp_path) == "override"
    assert stat.S_IMODE(override.stat().st_mode) == 0o700


def test_an_override_within_the_work_tree_does_not(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path
) -> None:
    below = repository / "src"
    below.mkdir()
    assert spooled_at(repository / ".specs", default_root, shell, below, tmp_path) == "default"
    assert not (repository / ".specs").exists()


@pytest.mark.parametrize(
    "variable", ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "COPILOT_PROJECT_DIR", "GEMINI_PROJECT_DIR"]
)
def test_an_override_within_the_clients_project_does_not(
    default_root: Path, repository: Path, tmp_path: Path, variable: str
) -> None:
    found = spooled_at(
        repository / "x", default_root, ["sh"], tmp_path, tmp_path, **{variable: str(repository)}
    )
    assert found == "default"


@pytest.mark.parametrize("project", ["project", "-", "~", ".", "$(echo x)"])
def test_a_clients_project_that_is_no_path_says_nothing_on_stdout(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path, project: str
) -> None:
    """``cd`` prints where it went for ``-`` and for what it found in CDPATH."""
    env = {"CLAUDE_PROJECT_DIR": project, "CDPATH": str(tmp_path), "OLDPWD": str(tmp_path)}
    assert spooled_at(tmp_path / "specs", default_root, shell, repository, tmp_path, **env) == "override"


def test_an_override_that_leads_into_the_workspace_by_a_link_does_not(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(repository)
    assert spooled_at(link / "specs", default_root, shell, repository, tmp_path) == "default"
    assert not (repository / "specs").exists()


def test_an_override_that_is_spelled_strangely_does_not(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path
) -> None:
    spellings = ["relative", "", f"{tmp_path}/x/../project/y", "/", "//", f"{tmp_path}/./x"]
    for spelling in spellings:
        assert spooled_at(spelling, default_root, shell, repository, tmp_path) == "default"
        for name in os.listdir(default_root / spool.DIRECTORY):
            (default_root / spool.DIRECTORY / name).unlink()


def test_an_override_that_is_a_file_does_not(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert spooled_at(file, default_root, shell, repository, tmp_path) == "default"
    (default_root / spool.DIRECTORY).joinpath(os.listdir(default_root / spool.DIRECTORY)[0]).unlink()
    assert spooled_at(file / "below", default_root, shell, repository, tmp_path) == "default"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_an_override_that_belongs_to_somebody_else_does_not(
    default_root: Path, shell: list[str], repository: Path, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o777)
    os.chown(foreign, 12345, 12345)
    assert spooled_at(foreign, default_root, shell, repository, tmp_path) == "default"
    for name in os.listdir(default_root / spool.DIRECTORY):
        (default_root / spool.DIRECTORY / name).unlink()
    assert spooled_at(foreign / "below", default_root, shell, repository, tmp_path) == "default"
    assert os.listdir(foreign) == []
    for name in os.listdir(default_root / spool.DIRECTORY):
        (default_root / spool.DIRECTORY / name).unlink()
    foreign.chmod(0o1777)  # like /tmp: what is made there is one's own
    assert spooled_at(foreign / "below", default_root, shell, repository, tmp_path) == "override"


def test_shell_and_python_believe_the_same_overrides(
    default_root: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "DEFAULT_ROOT", str(default_root))
    (tmp_path / "file").write_text("")
    (tmp_path / "linked").symlink_to(repository)
    for override in (
        tmp_path / "a",
        repository / "b",
        repository,
        tmp_path / "linked/c",
        tmp_path / "file",
        tmp_path / "file/d",
        tmp_path,
        Path("relative"),
    ):
        env = {"AGENT_MEMORY_SPEC_ROOT": str(override)}
        python = places.spec_root(env, str(repository))
        shell = spooled_at(override, default_root, ["sh"], repository, tmp_path)
        assert shell == ("default" if python == str(default_root) else "override"), override
        shutil.rmtree(default_root / spool.DIRECTORY, ignore_errors=True)
        shutil.rmtree(override / spool.DIRECTORY, ignore_errors=True)


# ---------------------------------------------------------------- processes


def test_the_recorder_is_in_a_session_of_its_own_and_holds_nothing_of_the_client(
    tmp_path: Path, shell: list[str]
) -> None:
    report = tmp_path / "report"
    probe = tmp_path / "probe.py"
    probe.write_text(
        "import os, sys\n"
        f"sys.path.insert(0, {str(REPOSITORY)!r})\n"
        "from hooks import worklog_recorder\n"
        "worklog_recorder._detach()\n"
        "streams = [os.readlink(f'/proc/self/fd/{n}') if os.path.isdir('/proc/self') else '/dev/null'"
        " for n in (0, 1, 2)]\n"
        f"open({str(report) + '.new'!r}, 'w').write(repr((os.getpid(), os.getsid(0), streams)))\n"
        f"os.rename({str(report) + '.new'!r}, {str(report)!r})\n"
    )
    script = installed(tmp_path / "d/worklog_dispatcher.sh", interpreter=sys.executable, recorder=str(probe))
    process = subprocess.Popen([*shell, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = process.communicate(b"{}", timeout=PATIENCE)  # returns although the recorder may still run
    assert out == b""
    recording.wait_for(report.exists)
    pid, session, streams = eval(report.read_text())
    assert pid == session
    assert session != os.getsid(0)
    assert streams == ["/dev/null"] * 3


def test_the_recorder_outlives_a_hangup(tmp_path: Path, shell: list[str]) -> None:
    report = tmp_path / "report"
    probe = tmp_path / "probe"
    probe.write_text(f"#!/bin/sh\nkill -HUP $$\necho alive >'{report}'\n")
    probe.chmod(0o755)
    script = installed(tmp_path / "d/worklog_dispatcher.sh", interpreter=str(probe))
    dispatch(script=script, shell=shell)
    recording.wait_for(lambda: report.exists() and report.read_text() == "alive\n")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("overridden", [True, False])
def test_four_processes_until_it_returns(
    tmp_path: Path, shell: list[str], first: bool, overridden: bool
) -> None:
    """Counted in a process namespace of its own, where numbers are given in sequence."""
    if shell[0].endswith("mksh"):
        pytest.skip("its printf is a program")
    unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no process namespaces here")
    root = tmp_path / "root"
    script = installed(tmp_path / "d/worklog_dispatcher.sh", root=str(root), interpreter="/bin/true", uid="0")
    env = dict(os.environ)
    if overridden:
        env["AGENT_MEMORY_SPEC_ROOT"] = str(root)
    else:
        del env["AGENT_MEMORY_SPEC_ROOT"]
    if not first:
        (root / spool.DIRECTORY).mkdir(mode=0o700, parents=True)
        root.chmod(0o700)
    counter = (
        "import os, subprocess, sys\n"
        "before = subprocess.Popen(['/bin/true']); before.wait()\n"
        "subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, check=True)\n"
        "after = subprocess.Popen(['/bin/true']); after.wait()\n"
        "print(after.pid - before.pid - 1)\n"
    )
    done = subprocess.run(
        [*unshare, sys.executable, "-c", counter, *shell, str(script), "--harness", "claude"],
        capture_output=True,
        text=True,
        cwd=os.environ["HOME"],
        env=env,
        timeout=PATIENCE,
    )
    assert done.stderr == ""
    assert int(done.stdout) == (5 if first else 4)
    assert spool.waiting(spool.location(str(root))) == 1


# ---------------------------------------------------------------- whatever is killed afterwards


def test_a_recorder_killed_at_once_leaves_the_event_to_whoever_comes_next(tmp_path: Path) -> None:
    killer = tmp_path / "killer"
    killer.write_text("#!/bin/sh\nkill -KILL $$\n")
    killer.chmod(0o755)
    script = installed(tmp_path / "d/worklog_dispatcher.sh", interpreter=str(killer))
    for number in range(3):
        dispatch(stdin=recording.payload("s1", f"c{number}", PLACE), script=script)
    state = State(PLACE, spec_dir(), recording.root())
    assert recorder.settle(state, "s1").clean
    recording.assert_settled(spec_dir(), ["c0", "c1", "c2"])


def test_recorders_killed_at_any_moment_lose_and_double_nothing() -> None:
    """Real dispatchers and recorders; every other recorder is killed wherever it is just then."""
    commands = [f"c{number}" for number in range(30)]
    for number, command in enumerate(commands):
        dispatch(stdin=recording.payload("s1", command, PLACE))
        if number % 2:
            for pid in recorders():
                with contextlib.suppress(ProcessLookupError):  # it ended since it was listed
                    os.kill(pid, signal.SIGKILL)
    dispatch(stdin=recording.payload("s1", "last", PLACE))
    recording.wait_for(lambda: "last" in recording.commands(spec_dir()))
    recording.wait_for(lambda: spool.waiting(spool.location(recording.root())) == 0)
    recording.assert_settled(spec_dir(), [*commands, "last"])


def recorders() -> list[int]:
    """Process numbers of the recorders of this test's root."""
    wanted = spool.location(recording.root())
    found = subprocess.run(["ps", "-e", "-o", "pid=,args="], capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in found.splitlines() if line.endswith(f"--spool {wanted}")]


def test_it_is_posix_by_the_word_of_a_linter() -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    done = subprocess.run(["shellcheck", "-s", "sh", "-f", "json", str(DISPATCHER)], capture_output=True)
    assert json.loads(done.stdout) == []
