"""Copies of the checkout whose hooks have all the time that they need, and wheels to install them with.

A hook that meets its limit prints nothing, however right it is, and an index may not answer: what is tested
from such a copy depends neither on how fast the machine is nor on a network.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
import shutil
import sys
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from agent_install import runtime
from tests.conftest import PATIENCE, REPOSITORY

_SECONDS = int(PATIENCE)
# File of the checkout → names of limits in it, and what each becomes.
_LIMITS = {
    "hooks/_entry.py": {"LIMIT": _SECONDS},
    "hooks/session_context.py": {
        "_LOCK_SECONDS": _SECONDS,
        "_FLUSH_SECONDS": _SECONDS,
        "_DRAIN_SECONDS": _SECONDS,
    },
    "ai_kb/injection.py": {"DEADLINE": f"{{FAST: {_SECONDS}, BALANCED: {_SECONDS}, DEEP: {_SECONDS}}}"},
    "ai_kb/hn/cache_refresh.py": {"_IMPATIENT_SECONDS": _SECONDS},
    "agent_memory/starts.py": {"_LOCK_SECONDS": _SECONDS},
    "agent_memory/ledger.py": {"LOCK_TIMEOUT": _SECONDS},
    "hooks/adapters/opencode.js": {
        f"const {name}": _SECONDS * 1000 for name in ("START_MS", "PROMPT_MS", "TOOL_MS")
    },
}


def patient(text: str, file: str) -> str:
    """``text`` of a file of the checkout with its limits lifted."""
    for name, value in _LIMITS.get(file, {}).items():
        text, count = re.subn(rf"^({re.escape(name)} = )[^\n#]*", rf"\g<1>{value}", text, flags=re.MULTILINE)
        assert count == 1, (file, name)
    return text


def copy(target: Path, *others: str) -> Path:
    """Make ``target``: what is installed, and ``others``, with the limits of the hooks lifted."""
    target.mkdir()
    for name in (*runtime.PACKAGES, "pyproject.toml", "install.sh", *others):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(REPOSITORY / name, target / name)
    for file in _LIMITS:
        path = target / file
        path.write_text(patient(path.read_text(), file))
    return target


def interpreter(checkout: Path) -> None:
    """In a copy: its dispatcher finds the interpreter of the tests."""
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)


def patient_timeouts(checkout: Path) -> None:
    """In a copy: clients let its hooks run ten times as long as shipped."""
    for path in (checkout / "hooks/adapters").glob("*.json"):
        text, count = re.subn(r'("timeout(?:Sec)?": \d+)', r"\g<1>0", path.read_text())
        assert count
        path.write_text(text)


# ---------------------------------------------------------------- wheels


def wheels(directory: Path) -> dict[str, str]:
    """Pack what the suite needs, as it is installed here, into wheels; the variables that make pip use them.

    The interpreter that installs them has to be of the version of the running one.
    """
    directory.mkdir()
    _, dependencies = runtime.project(str(REPOSITORY))
    wanted, packed = [Requirement(one).name for one in dependencies], set()
    while wanted:
        name = wanted.pop()
        if name not in packed:
            packed.add(name)
            found = distribution(name)
            _pack(found, directory)
            needs = [Requirement(one) for one in found.requires or ()]
            wanted += [one.name for one in needs if one.marker is None or one.marker.evaluate({"extra": ""})]
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(directory), "PIP_CONFIG_FILE": "/dev/null"}


def _pack(found: Distribution, directory: Path) -> None:
    tags = re.findall(r"^Tag: (\S+?)-(\S+?)-(\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    tag = "-".join(".".join(sorted(set(part))) for part in zip(*tags, strict=True))
    files = [
        file
        for file in found.files or ()
        if ".." not in file.parts and "__pycache__" not in file.parts and file.locate().is_file()
    ]
    (info,) = {file.parts[0] for file in files if file.parts[0].endswith(".dist-info")}
    left_out = {f"{info}/{name}" for name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")}
    rows = []
    with zipfile.ZipFile(directory / f"{info.removesuffix('.dist-info')}-{tag}.whl", "w") as wheel:
        for name, path in sorted((file.as_posix(), Path(str(file.locate()))) for file in files):
            if name not in left_out:
                data = path.read_bytes()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                rows.append(f"{name},sha256={digest},{len(data)}\n")
                wheel.writestr(zipfile.ZipInfo(name), data)
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "".join([*rows, f"{info}/RECORD,,\n"]))
