"""The suite's own environment: one directory per version, complete before anything points to it.

    $XDG_DATA_HOME/agent-hook-suite/versions/<version>-<digest>/

The digest covers the sources and the interpreter, so the same checkout gives the same
directory and a second run makes nothing. An upgrade makes a new directory beside the old;
launchers switch to it one atomic rename each, and running processes keep the one they started
with. The version before stays; older ones go once they are a day old.

Dependencies come from the package index, or from wheels when ``PIP_NO_INDEX`` and
``PIP_FIND_LINKS`` say so. The suite's own packages are copied: pure Python needs no build.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent_base.errors import SuiteError

PACKAGES = ("agent_base", "agent_install", "agent_memory", "ai_kb", "hooks")
IMPORTED = ("nacl.signing", "git", "filelock", "rank_bm25", "orjson", "re2", "shtab", "ai_kb", "agent_memory")
COMPLETE = ".complete"
OLD_AFTER = 24 * 3600.0

# A program for the environment's interpreter; its arguments: the site directory, and what to import.
_INSPECTION = """
import importlib, marshal, os, sys
print(sys.version.split()[0], flush=True)
for directory, _, names in os.walk(sys.argv[1] + os.sep):
    for name in names:
        if name.endswith(".pyc"):
            path = os.path.join(directory, name)
            try:
                with open(path, "rb") as file:
                    marshal.loads(file.read()[16:])
            except (EOFError, OSError, TypeError, ValueError) as error:
                sys.exit(f"{path} is damaged: {error}")
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        sys.exit(f"{name} cannot be imported: {error}")
"""

Env = Mapping[str, str]
Say = Callable[[str], None]


class NoEnvironment(SuiteError):
    """The environment could not be made; launchers and configuration are as they were."""

    code = "no-environment"


@dataclass(frozen=True)
class Runtime:
    """An environment, made or still to be made."""

    directory: str

    @property
    def python(self) -> str:
        """Its interpreter."""
        return os.path.join(self.directory, "bin", "python")

    @property
    def site(self) -> str:
        """Where its packages are: the same path whatever the interpreter's minor version."""
        return os.path.join(self.directory, "site")

    @property
    def complete(self) -> bool:
        """Whether it was made to the end and its interpreter is still there."""
        return os.path.exists(os.path.join(self.directory, COMPLETE)) and os.access(self.python, os.X_OK)


def project(source: str) -> tuple[str, list[str]]:
    """Version and dependencies from the checkout's ``pyproject.toml``."""
    path = os.path.join(source, "pyproject.toml")
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)["project"]
        return str(table["version"]), [str(name) for name in table["dependencies"]]
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise SuiteError(f"{path} cannot be used: {error}", "install from a whole checkout") from error


def sources(source: str) -> list[str]:
    """Relative paths of the files that are installed, sorted."""
    found = []
    for package in PACKAGES:
        for directory, names, files in os.walk(os.path.join(source, package)):
            names[:] = sorted(name for name in names if name != "__pycache__")
            found += [
                os.path.relpath(os.path.join(directory, name), source)
                for name in files
                if not name.endswith((".pyc", ".tmp", "~"))
            ]
    return sorted(found)


def plan(source: str, data: str) -> Runtime:
    """The environment that this checkout and interpreter call for."""
    version, dependencies = project(source)
    sha = hashlib.sha256()
    for part in (base_python(), sys.version, *dependencies):
        sha.update(part.encode() + b"\0")
    for name in sources(source):
        with open(os.path.join(source, name), "rb") as file:
            content = file.read()
        sha.update(f"{name}\0{len(content)}\0".encode() + content)
    return Runtime(os.path.join(data, "versions", f"{version}-{sha.hexdigest()[:12]}"))


def base_python() -> str:
    """The interpreter behind the running one, outside any virtual environment."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def make(runtime: Runtime, source: str, env: Env, say: Say) -> None:
    """Make the environment unless it is complete and sound.

    Raises:
        NoEnvironment: with the last lines of what failed.
    """
    if runtime.complete:
        problem = inspect(runtime, env).problem
        if not problem:
            return
        say(f"the environment is made again: {problem}")
    shutil.rmtree(runtime.directory, ignore_errors=True)
    os.makedirs(os.path.dirname(runtime.directory), mode=0o700, exist_ok=True)
    version, dependencies = project(source)
    uv = shutil.which("uv", path=env.get("PATH"))
    say(f"making the environment {runtime.directory}")
    try:
        _venv(runtime, uv, env)
        say("installing " + ", ".join(name.split(">")[0].split("=")[0] for name in dependencies))
        _install(runtime, dependencies, uv, env)
        _link_site(runtime)
        _copy(runtime, source, version, dependencies)
        _compile(runtime, env)
        problem = inspect(runtime, env, IMPORTED).problem
        if problem:
            raise NoEnvironment(f"the new environment is of no use: {problem}", "is the disk full?")
        with open(os.path.join(runtime.directory, COMPLETE), "x", encoding="utf-8") as file:
            file.write(version + "\n")
    except BaseException:
        shutil.rmtree(runtime.directory, ignore_errors=True)
        raise


def _run(argv: list[str], env: Env, failure: str, hint: str = "") -> None:
    try:
        done = subprocess.run(argv, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise NoEnvironment(f"{failure}: {argv[0]}: {error.strerror}", hint) from error
    if done.returncode:
        text = (done.stderr + done.stdout).decode("utf-8", "replace").strip()
        last = " | ".join(line.strip() for line in text.splitlines()[-4:])
        raise NoEnvironment(f"{failure} (exit {done.returncode}): {last}", hint)


def _venv(runtime: Runtime, uv: str | None, env: Env) -> None:
    if uv is not None:
        argv = [uv, "venv", "--quiet", "--python", base_python(), runtime.directory]
        _run(argv, env, "uv could not make the environment")
        return
    _run(
        [base_python(), "-I", "-m", "venv", runtime.directory],
        env,
        "the venv module could not make the environment",
        "Debian and Ubuntu keep it in the package python3-venv; or install uv",
    )


def _install(runtime: Runtime, dependencies: list[str], uv: str | None, env: Env) -> None:
    """By uv where there is one; where that fails, by pip, which may know of an index, a proxy or a
    certificate (``pip.conf``) that uv does not."""
    hint = "is the package index reachable? Offline: PIP_NO_INDEX=1 PIP_FIND_LINKS=<directory of wheels>"
    failure = "the dependencies could not be installed"
    if uv is not None:
        argv = [uv, "pip", "install", "--quiet", "--python", runtime.python, *_uv_index(env), *dependencies]
        try:
            _run(argv, env, failure, hint)
            return
        except NoEnvironment:
            _run([runtime.python, "-I", "-m", "ensurepip", "--default-pip"], env, failure, hint)
    pip = [runtime.python, "-I", "-m", "pip", "install", "--quiet", "--no-input", "--no-compile"]
    _run([*pip, "--disable-pip-version-check", *dependencies], env, failure, hint)


def _uv_index(env: Env) -> list[str]:
    """pip's environment variables that say where packages come from, as options: uv does not read them."""
    options = []
    if env.get("PIP_NO_INDEX", "").lower() in ("1", "true", "yes", "on"):
        options.append("--no-index")
    for name, option in (
        ("PIP_FIND_LINKS", "--find-links"),
        ("PIP_INDEX_URL", "--index-url"),
        ("PIP_EXTRA_INDEX_URL", "--extra-index-url"),
    ):
        for value in env.get(name, "").split():
            options += [option, value]
    return options


def _link_site(runtime: Runtime) -> None:
    """``site`` → ``lib/pythonX.Y/site-packages``, so that launchers need not know X.Y."""
    lib = os.path.join(runtime.directory, "lib")
    name = next((n for n in sorted(os.listdir(lib)) if n.startswith("python")), None)
    if name is None:
        raise NoEnvironment(f"{lib} holds no Python; nothing was installed")
    os.symlink(os.path.join("lib", name, "site-packages"), runtime.site)


def _copy(runtime: Runtime, source: str, version: str, dependencies: list[str]) -> None:
    names = sources(source)
    for name in names:
        target = os.path.join(runtime.site, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(os.path.join(source, name), target)
        shutil.copymode(os.path.join(source, name), target)
    info = f"agent_hook_suite-{version}.dist-info"
    files = {
        "METADATA": "Metadata-Version: 2.1\nName: agent-hook-suite\n"
        f"Version: {version}\n" + "".join(f"Requires-Dist: {name}\n" for name in dependencies),
        "INSTALLER": "agent-hook-suite\n",
        "RECORD": "".join(f"{name},,\n" for name in names),
    }
    os.mkdir(os.path.join(runtime.site, info))
    for name, text in files.items():
        with open(os.path.join(runtime.site, info, name), "w", encoding="utf-8") as file:
            file.write(text)


def _compile(runtime: Runtime, env: Env) -> None:
    """Byte-code for all that hooks and commands may import. Python would write it later all the same, but
    a full disk or a limit cuts off what is written then, and the torn file would stop every hook after."""
    no_part = r"/(.*/)?(pip|setuptools|pkg_resources|_distutils_hack|tests?)/"
    left_out = re.escape(runtime.site) + no_part
    argv = [runtime.python, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    _run([*argv, "-x", left_out, runtime.site], env, "the packages could not be compiled")


@dataclass(frozen=True)
class Finding:
    """What a look at an environment gave: the version of its Python ("" when that does not run), and
    what is wrong ("" when nothing is)."""

    python: str
    problem: str


def inspect(runtime: Runtime, env: Env, imported: Sequence[str] = ()) -> Finding:
    """Whether the interpreter runs, every file of byte-code is whole, and ``imported`` can be imported.

    ``env`` is the caller's: an interpreter may need a variable of it to find its own library.
    """
    argv = [runtime.python, "-I", "-B", "-c", _INSPECTION, runtime.site, *imported]
    try:
        done = subprocess.run(argv, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        return Finding("", f"its Python does not run ({error.strerror})")
    version = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return Finding(version, "")
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return Finding(version, said[-1] if said else f"its Python ends with {done.returncode}")


def point_current(data: str, runtime: Runtime) -> bool:
    """Make ``current`` a link to the environment; whether that changed anything."""
    link = os.path.join(data, "current")
    target = os.path.join("versions", os.path.basename(runtime.directory))
    if os.path.islink(link) and os.readlink(link) == target:
        return False
    temporary = f"{link}.{os.getpid()}.tmp"
    os.symlink(target, temporary)
    os.replace(temporary, link)
    return True


def prune(data: str, keep: Runtime, previous: str | None) -> None:
    """Remove environments that are neither this one nor the one before and are a day old."""
    versions = os.path.join(data, "versions")
    for name in os.listdir(versions):
        path = os.path.join(versions, name)
        if path in (keep.directory, previous):
            continue
        if time.time() - os.stat(path).st_mtime > OLD_AFTER:
            shutil.rmtree(path, ignore_errors=True)
