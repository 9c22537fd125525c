"""install.sh itself, and the environment it makes: for real, from wheels."""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agent_install import completion, launchers, runtime
from tests import checkouts

if TYPE_CHECKING:
    from conftest import Machine

ROOT = Path(__file__).resolve().parent.parent.parent
BASE = str(getattr(sys, "_base_executable", sys.executable))


def install_sh(env: dict[str, str], *words: str, source: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(source / "install.sh"), *words],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


@pytest.mark.slow
def test_install_sh_makes_an_environment_whose_commands_and_hooks_run_and_takes_it_away_again(
    machine: Machine, checkout: Path, tmp_path: Path
) -> None:
    shutil.rmtree(machine.home / ".local/share/agent-hook-suite")
    machine.have("claude")
    env = {**machine.env, **checkouts.wheels(tmp_path / "wheels"), "PYTHON": BASE}
    done = install_sh(env, source=checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    again = install_sh(env, source=checkout)
    assert again.returncode == 0
    assert "nothing was changed" in again.stdout
    status = install_sh(env, "--status", source=checkout)
    assert status.returncode == 0, status.stdout
    assert "perturn_recall.py: runs in" in status.stdout
    python = machine.home / ".local/share/agent-hook-suite/current/bin/python"
    version = subprocess.run(
        [python, "-I", "-c", "from importlib.metadata import version; print(version('agent-hook-suite'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert version.stdout.strip() == runtime.project(str(checkout))[0]
    site = machine.home / ".local/share/agent-hook-suite/current/site"
    compiled = {path.parent.parent / path.name.partition(".")[0] for path in site.glob("**/*.pyc")}
    for package in (*runtime.PACKAGES, "nacl", "git", "numpy"):
        left = [p for p in (site / package).rglob("*.py") if "tests" not in p.parts and "test" not in p.parts]
        assert {path.with_suffix("") for path in left} <= compiled, package
    assert not list(site.rglob("tests/test_install*"))
    gone = install_sh(env, "--uninstall", "--purge", "--yes", source=checkout)
    assert gone.returncode == 0, gone.stderr
    assert [path for path in machine.home.rglob("*") if path.is_file() and ".rustup" not in str(path)] == []


def test_the_same_sources_give_the_same_environment_and_others_another(
    tmp_path: Path, checkout: Path
) -> None:
    first = runtime.plan(str(checkout), str(tmp_path))
    assert runtime.plan(str(checkout), str(tmp_path)) == first
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    assert runtime.plan(str(copy), str(tmp_path)).directory == first.directory
    (copy / "hooks/adapters/claude.json").write_text("{}")
    assert runtime.plan(str(copy), str(tmp_path)).directory != first.directory


def test_an_environment_with_torn_byte_code_is_found_and_made_again(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = runtime.Runtime(str(tmp_path / "versions/x"))
    package = Path(made.directory) / "site/hooks"
    (package / "__pycache__").mkdir(parents=True)
    (Path(made.directory) / "bin").mkdir()
    Path(made.python).symlink_to(sys.executable)
    Path(made.directory, runtime.COMPLETE).touch()
    source = tmp_path / "source.py"
    source.write_text("def f():\n    return 'a value'\n")
    whole = Path(py_compile.compile(str(source), str(package / "__pycache__/a.pyc")) or "")
    version = ".".join(str(number) for number in sys.version_info[:3])
    assert runtime.inspect(made, machine.env) == runtime.Finding(version, "")
    said: list[str] = []
    runtime.make(made, str(ROOT), machine.env, said.append)
    assert said == []
    data = whole.read_bytes()
    monkeypatch.setattr(runtime, "base_python", lambda: str(fake(tmp_path, "python3", "exit 3")))
    for size in (0, 15, 16, 40, len(data) - 1):
        whole.write_bytes(data[:size])
        found = runtime.inspect(made, machine.env)
        assert found.python == version
        assert found.problem.startswith(f"{whole} is damaged: "), size
    with pytest.raises(runtime.NoEnvironment):
        runtime.make(made, str(ROOT), machine.env, said.append)
    assert said[0] == f"the environment is made again: {found.problem}"
    assert not os.path.exists(made.directory)


def test_an_interpreter_that_needs_a_variable_to_run_is_looked_at_with_it(tmp_path: Path) -> None:
    made = runtime.Runtime(str(tmp_path))
    needs = f'[ "$ITS_LIBRARY" = /opt/lib ] || exit 127\nexec \'{sys.executable}\' "$@"'
    (tmp_path / "bin").symlink_to(fake(tmp_path, "python", needs).parent)
    version = ".".join(str(number) for number in sys.version_info[:3])
    assert runtime.inspect(made, {"ITS_LIBRARY": "/opt/lib"}, ["json"]) == runtime.Finding(version, "")
    assert runtime.inspect(made, {}) == runtime.Finding("", "its Python ends with 127")


def test_a_library_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    made = runtime.Runtime(str(tmp_path))
    (tmp_path / "bin").mkdir()
    Path(made.python).symlink_to(sys.executable)
    problem = runtime.inspect(made, {}, ["json", "no_such_library"]).problem
    assert problem == "no_such_library cannot be imported: No module named 'no_such_library'"


def test_what_is_not_a_checkout_is_refused(machine: Machine, tmp_path: Path) -> None:
    assert machine.install(source=tmp_path) == 1
    assert "install from a whole checkout" in machine.err


@pytest.mark.parametrize("name", ["a:b", 'it\'s a "checkout"', "-x", "$(touch oh)"])
def test_a_checkout_may_have_any_name_and_be_called_from_anywhere(
    machine: Machine, tmp_path: Path, checkout: Path, name: str
) -> None:
    shutil.copytree(checkout, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    elsewhere = tmp_path / "elsewhere" / name
    elsewhere.mkdir(parents=True)
    env = {**machine.env, "CDPATH": str(elsewhere.parent), "PYTHONPATH": "/nowhere", "PYTHON": sys.executable}
    path = f"./{name}" if name.startswith("-") else name
    done = subprocess.run(
        ["sh", f"{path}/install.sh", "--dry-run", "--harness", "claude"],
        env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing was changed (--dry-run)" in done.stdout
    assert not (tmp_path / "oh").exists()


def fake(tmp_path: Path, name: str, script: str) -> Path:
    path = tmp_path / "fake" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_without_a_recent_python_install_sh_says_what_is_needed(machine: Machine, tmp_path: Path) -> None:
    for name in ("python3", "python", "python3.11", "python3.12", "python3.13", "python3.14"):
        fake(tmp_path, name, "exit 1")
    for name in ("dirname", "env", "sh"):
        (tmp_path / "fake" / name).symlink_to(str(shutil.which(name)))
    env = {**machine.env, "PATH": str(tmp_path / "fake")}
    done = install_sh(env)
    assert done.returncode == 1
    assert done.stderr == (
        "install.sh: Python 3.11 or newer is needed and was not found "
        "(install it, or uv, or set PYTHON to one)\n"
    )
    done = install_sh({**env, "PYTHON": str(tmp_path / "fake/python3")})
    assert done.returncode == 1
    assert "is not Python 3.11 or newer" in done.stderr


def test_a_python_without_venv_is_named_with_the_package_to_install(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = fake(tmp_path, "python3", 'echo "Error: ensurepip is not available." >&2; exit 1')
    monkeypatch.setattr(runtime, "base_python", lambda: str(broken))
    made = runtime.Runtime(str(tmp_path / "versions/x"))
    with pytest.raises(runtime.NoEnvironment) as caught:
        runtime.make(made, str(ROOT), machine.env, lambda _: None)
    assert "ensurepip is not available" in caught.value.message
    assert "python3-venv" in caught.value.hint
    assert not os.path.exists(made.directory)


def test_uv_makes_the_environment_where_there_is_one_and_is_told_of_offline_wheels(
    machine: Machine, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    fake(tmp_path, "uv", f'printf "%s\\n" "$*" >>"{log}"; [ "$1" = venv ]')
    env = {
        **machine.env,
        "PATH": f"{tmp_path / 'fake'}:/usr/bin:/bin",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "/wheels /more",
        "PIP_INDEX_URL": "https://index.invalid/simple",
    }
    made = runtime.Runtime(str(tmp_path / "versions/x"))
    with pytest.raises(runtime.NoEnvironment, match="dependencies could not be installed"):
        runtime.make(made, str(ROOT), env, lambda _: None)
    venv, pip = log.read_text().splitlines()
    assert venv == f"venv --quiet --python {runtime.base_python()} {made.directory}"
    assert (
        "--no-index --find-links /wheels --find-links /more --index-url https://index.invalid/simple" in pip
    )
    assert "pynacl" in pip


def test_demo_hands_over_and_leaves_the_home_alone(machine: Machine, tmp_path: Path) -> None:
    source = tmp_path / "check out"
    (source / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "install.sh", source)
    (source / "scripts/_env.sh").write_text(
        'root=$(cd "$(dirname "$0")/.." && pwd -P)\ncd "$root"\nPY=/bin/echo\n'
    )
    before = machine.snapshot()
    done = subprocess.run(
        ["/bin/sh", str(source / "install.sh"), "--demo", "--keep", "a b"],
        env=machine.env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "scripts/demo --keep a b\n"
    assert machine.snapshot() == before


def test_the_demos_environment_has_no_development_tools_and_nothing_of_it_appears_in_the_home(
    machine: Machine, tmp_path: Path
) -> None:
    source = tmp_path / "check out"
    (source / "scripts").mkdir(parents=True)
    for name in ("install.sh", "scripts/_env.sh", "pyproject.toml"):
        shutil.copy(ROOT / name, source / name)
    # Makes a copy of itself as an environment, and as pip leaves a file in HOME.
    python = fake(
        tmp_path,
        "python",
        f'''case "$1 $2" in
            "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
            "-m pip") : >"$HOME/left by pip"; echo "${{PIP_CONFIG_FILE:-}}|$*" >>"{tmp_path}/log" ;;
            scripts/demo*) echo played ;;
        esac''',
    )
    settings = machine.file(".config/pip/pip.conf", "[global]\n")
    env = {**machine.env, "PYTHON": str(python)}
    before = machine.snapshot()

    def demo() -> str:
        done = subprocess.run(
            ["/bin/sh", str(source / "install.sh"), "--demo"],
            env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    assert (demo(), demo()) == ("played\n", "played\n")
    assert machine.snapshot() == before
    (installed,) = (tmp_path / "log").read_text().splitlines()
    assert installed.startswith(f"{settings}|-m pip install ")
    assert installed.endswith(f" -e {source}")
    # A check adds the tools, and a demo after it is content with more than it needs.
    subprocess.run(["/bin/sh", "-c", '. "$0"', str(source / "scripts/_env.sh")], env=env, check=True)
    assert demo() == "played\n"
    (_, added) = (tmp_path / "log").read_text().splitlines()
    assert added.endswith(f" -e {source}[dev]")


@pytest.mark.parametrize(("failures", "code", "slept"), [(0, 0, ""), (2, 0, "10\n30\n"), (3, 1, "10\n30\n")])
def test_an_index_that_fails_is_asked_three_times(
    machine: Machine, tmp_path: Path, failures: int, code: int, slept: str
) -> None:
    source = tmp_path / "check out"
    (source / "scripts").mkdir(parents=True)
    for name in ("scripts/_env.sh", "pyproject.toml"):
        shutil.copy(ROOT / name, source / name)
    python = fake(
        tmp_path,
        "python",
        f'''case "$1 $2" in
            "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
            "-m pip") echo >>"{tmp_path}/asked"; [ "$(wc -l <"{tmp_path}/asked")" -gt {failures} ] ;;
        esac''',
    )
    fake(tmp_path, "sleep", f'echo "$1" >>"{tmp_path}/slept"')
    (tmp_path / "slept").touch()
    env = {**machine.env, "PYTHON": str(python), "PATH": f"{python.parent}:/usr/bin:/bin"}
    argv = ["/bin/sh", "-c", '. "$0"', str(source / "scripts/_env.sh")]
    assert subprocess.run(argv, env=env, capture_output=True, check=False).returncode == code
    assert (tmp_path / "slept").read_text() == slept
    assert (source / ".venv/.made-from").exists() == (code == 0)


# ---------------------------------------------------------------- completion


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands print, kept as an environment keeps it."""
    directory = tmp_path_factory.mktemp("environment")
    (directory / "bin").mkdir()
    (directory / "bin/python").symlink_to(sys.executable)
    wrapper = directory / "bin/python"
    wrapper.unlink()
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    wrapper.chmod(0o755)
    completion.generate(runtime.Runtime(str(directory)), dict(os.environ))
    return directory / "completion"


@pytest.mark.parametrize("command", launchers.COMMANDS)
def test_bash_completes_the_verbs_of_every_command(scripts: Path, command: str) -> None:
    begun = "m" if command == "hn" else "r"
    program = (
        f'. "$1" || exit 3; COMP_WORDS=("{command}" "{begun}"); COMP_CWORD=1; '
        'f=$(complete -p -- "$0" | sed "s/.*-F \\([^ ]*\\).*/\\1/"); '
        f'"$f" "$0" {begun} "$0"; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program, command, str(scripts / "bash" / command)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = {"hn": "memory", ",ai-kb": "remember", "ai-kb": "remember"}.get(command, "resume")
    assert expected in done.stdout.split()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize("command", launchers.COMMANDS)
def test_the_scripts_of_other_shells_parse_where_the_shell_is_there(
    scripts: Path, shell: str, command: str
) -> None:
    text = (scripts / shell / command).read_text()
    assert completion.is_ours(text.encode())
    if shell == "zsh":
        assert text.startswith(f"#compdef {command}\n")
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [shell, "-n", str(scripts / shell / command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
