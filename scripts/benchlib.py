"""What the benchmark cases in ``scripts/bench.d`` are written with.

A case is a function decorated with ``@case("group")`` in a module below ``scripts/bench.d``.
It gets a ``Bench`` and adds rows: a figure, its floor or peer from the same run, and their
ratio. Samples of the two sides are taken in turn, so that a slow moment hits both.

Absolute times say something about the machine they were taken on; ratios say something
about the code. Nothing here asserts a time: ``--json`` says whether a target was reached.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
BARE = (PYTHON, "-I", "-c", "pass")
CASES: list[tuple[str, Callable[[Bench], None]]] = []


@dataclass(frozen=True)
class Row:
    """One line of the table. ``unit`` names ``value`` and ``floor``; ``ratio`` is value / floor.

    ``target`` is the highest ratio that counts as reached (the lowest, with ``higher_is_better``).
    """

    group: str
    label: str
    value: float
    unit: str
    floor_label: str
    floor: float
    ratio: float
    target: float | None = None
    higher_is_better: bool = False

    @property
    def reached(self) -> bool | None:
        if self.target is None:
            return None
        return self.ratio >= self.target if self.higher_is_better else self.ratio <= self.target

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "reached": self.reached}


def case(group: str) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Register a benchmark case under a group that ``scripts/bench GROUP`` selects."""

    def register(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
        CASES.append((group, function))
        return function

    return register


class Bench:
    """Takes samples and collects rows. ``rounds``: samples of each side. ``sizes``: record counts."""

    def __init__(self, rounds: int, sizes: Sequence[int], cache: Path, say: Callable[[str], None]) -> None:
        self.rounds = rounds
        self.sizes = tuple(sizes)
        self.cache = cache
        self.say = say
        self.group = ""
        self.rows: list[Row] = []
        self._scratch: list[tempfile.TemporaryDirectory[str]] = []

    def scratch(self) -> Path:
        """A fresh directory with a scratch ``home`` in it; removed when the run ends."""
        holder = tempfile.TemporaryDirectory(prefix="agent-hook-suite-bench-")
        self._scratch.append(holder)
        path = Path(holder.name).resolve()
        (path / "home").mkdir()
        return path

    def environment(self, folder: Path, **more: str) -> dict[str, str]:
        """An environment that keeps a case off the real home and specs."""
        home = folder / "home"
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n"
            "[gc]\n\tauto = 0\n"
        )
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "AGENT_MEMORY_SPEC_ROOT": str(folder / "specs"),
            "AGENT_MEMORY_MIRROR_ROOT": str(folder / "mirror"),
            **more,
        }

    @staticmethod
    def seconds(argv: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: bytes = b"") -> float:
        """Wall-clock seconds of one run; an unexpected exit code ends the benchmark."""
        start = time.perf_counter()
        done = subprocess.run(argv, env=dict(env), cwd=cwd, input=stdin, capture_output=True, check=False)
        taken = time.perf_counter() - start
        if done.returncode != 0:
            raise SystemExit(f"bench: {argv!r} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
        return taken

    @staticmethod
    def cpu_seconds(argv: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: bytes = b"") -> float:
        """User and system seconds of one run and its waited-for children."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, env=dict(env), cwd=cwd, input=stdin, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def alternate(self, *sides: Callable[[], float]) -> list[float]:
        """Medians of samples of each side, taken in turn after one warm-up each."""
        samples: list[list[float]] = [[] for _ in sides]
        for side in sides:
            side()
        for _ in range(self.rounds):
            for kept, side in zip(samples, sides, strict=True):
                kept.append(side())
        return [statistics.median(kept) for kept in samples]

    def compare(
        self,
        label: str,
        value: Callable[[], float],
        floor_label: str,
        floor: Callable[[], float],
        *,
        unit: str = "ms",
        target: float | None = None,
        higher_is_better: bool = False,
    ) -> Row:
        """Sample both sides in turn (seconds, shown as ms; anything else as it is) and add a row."""
        a, b = self.alternate(value, floor)
        scale = 1000 if unit == "ms" else 1
        return self.add(
            label,
            a * scale,
            floor_label,
            b * scale,
            unit=unit,
            target=target,
            higher_is_better=higher_is_better,
        )

    def add(
        self,
        label: str,
        value: float,
        floor_label: str,
        floor: float,
        *,
        unit: str,
        target: float | None = None,
        higher_is_better: bool = False,
    ) -> Row:
        """Add a row whose two sides were measured in this run."""
        ratio = value / floor if floor else float("inf")
        row = Row(self.group, label, value, unit, floor_label, floor, ratio, target, higher_is_better)
        self.rows.append(row)
        self.say(f"  {label}: {ratio:.2f} x {floor_label}")
        return row

    def close(self) -> None:
        for holder in self._scratch:
            holder.cleanup()
