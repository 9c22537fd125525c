"""``hn sync`` of one more record on a long stream, against a bare interpreter and the git that it needs.

Both sides have a remote and a receiver of their own, in which the whole stream but the last record
was accepted. The floor is ``python -I -c pass`` and then, by one shell, the git commands that sync
runs, with the arguments that it gives them and input that was prepared beforehand: nothing is
decided, verified or remembered.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import recordslib
from benchlib import BARE, PYTHON, ROOT, Bench, case

from ai_kb.hn.streams import accepted_ref

TARGET = 3.0
_HN = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ai_kb.hn.cli import entry; sys.exit(entry())"
HN = (PYTHON, "-I", "-c", _HN)


class Line:
    """A remote with one author's stream, and a clone that accepted all of it."""

    def __init__(self, bench: Bench, size: int) -> None:
        folder = bench.scratch()
        self.env = bench.environment(folder)
        self.remote, self.work = folder / "remote.git", folder / "work"
        self.author = recordslib.Author(0, 1)
        self.accepted = accepted_ref("origin", self.author.actor, self.author.stream)
        self.quarantine = folder / "quarantine"
        self.quiet = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false")
        self._fill(folder, size)
        self.samples = 0
        self.git("clone", "-q", "--no-local", str(self.remote), str(self.work), where=folder)
        self.hn("replication", "select", "origin", "--all", "--max-events", str(10 * size))
        self.hn("sync")

    def _fill(self, folder: Path, size: int) -> None:
        source = recordslib.made_once(folder, 1)
        self.git("clone", "-q", "--bare", str(source), str(self.remote), where=folder)
        rng = recordslib.random.Random(1)
        anchors = [self.git("rev-parse", "main", where=self.remote)]
        words = recordslib.Words(rng)
        pieces: list[bytes] = []
        for _ in range(size):
            memory, data = recordslib._memory(self.author, anchors, words, rng, plain=True)
            pieces += recordslib._commit(self.author, memory, data)
        recordslib._import(self.remote, [*pieces, b"done\n"])
        self.git("pack-refs", "--all", where=self.remote)
        shutil.rmtree(source)

    def git(self, *arguments: str, where: Path) -> str:
        command = ["git", "-C", str(where), *arguments]
        return subprocess.run(
            command, env=self.env, capture_output=True, text=True, check=True
        ).stdout.strip()

    def hn(self, *words: str) -> float:
        return Bench.seconds([*HN, *words], self.env, self.work)

    def grow(self) -> None:
        """One more record on the remote."""
        self.samples += 1
        anchor = self.git("rev-parse", "main", where=self.remote)
        recordslib.append(self.remote, self.author, self.samples, commit=anchor)

    # --- the two sides ----------------------------------------------------------------------------

    def sync(self) -> float:
        """Seconds of ``hn sync`` with one record to take in."""
        self.grow()
        return self.hn("sync")

    def floor(self) -> float:
        """Seconds of a bare interpreter and of git alone, with one record to take in."""
        self.grow()
        new = self.git("rev-parse", self.author.ref, where=self.remote)
        old = self.git("rev-parse", self.accepted, where=self.work)
        objects = self.git("rev-list", "--objects", new, f"^{old}", where=self.remote).split("\n")
        names = [line.split()[0] for line in objects]
        script = self._script(new, old, names)
        bare = Bench.seconds(BARE, self.env, self.work)
        return bare + Bench.seconds(["sh", "-e", "-c", script], self.env, self.work)

    def _script(self, new: str, old: str, names: list[str]) -> str:
        """The commands of one sync, for a shell. Prepares their input."""
        inputs = self.quarantine.with_name("inputs")
        inputs.mkdir(exist_ok=True)

        def given(name: str, text: str) -> str:
            (inputs / name).write_text(text)
            return f"<{shlex.quote(str(inputs / name))}"

        quarantine = ("--git-dir", str(self.quarantine))
        here = ("-C", str(self.work))
        durable = ("-c", "core.fsync=committed", "-c", "gc.auto=0")
        listing = "".join(f"{name}\n" for name in names)
        looked_up = "".join(f"info {name}\n" for name in names) + "flush\n"
        read = "".join(f"contents {name}\n" for name in names) + "flush\n"
        batch = ("cat-file", "--batch-command", "--buffer")
        fetched = f"{self.author.ref}:refs/hn/quarantine/memory/x\n"
        moved = f"update {self.accepted} {new} {old}\n"
        fetch = ("fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        fetch += ("--no-auto-maintenance", "--refmap=", "--progress", "--stdin", "origin")
        reach = ("-c", f"remote.origin.url={self.remote}", "-c", "fetch.unpackLimit=1")
        parts = ("--absolute-git-dir", "--path-format=absolute", "--git-common-dir", "--show-object-format")
        pack = ("pack-objects", "--stdout", "-q", "--delta-base-offset", "--threads=1")
        alternates = self.quarantine / "objects" / "info" / "alternates"
        lines = [
            _git(*here, "rev-parse", *parts, "--show-cdup"),
            _git(*here, "config", "--list", "-z", "--show-scope"),
            _git(*here, *self.quiet, "ls-remote", "--quiet", "origin", "refs/hn/*"),
            _git(*here, "for-each-ref", "--format=%(objectname) %(refname)", "refs/hn/remotes/origin"),
            _git("init", "-q", "--bare", "--template=", str(self.quarantine)),
            f"printf '[core]\\n\\talternateRefsPrefixes = refs/hn/\\n' >>{self.quarantine}/config",
            f"echo {shlex.quote(str(self.work / '.git' / 'objects'))} >{shlex.quote(str(alternates))}",
            _git(*here, *quarantine, *self.quiet, *reach, *fetch) + given("wanted", fetched),
            _git(*quarantine, *batch) + given("read", read),
            _git(*quarantine, "rev-list", "--objects", new, f"^{old}", "--"),
            _git(*here, *batch) + given("looked-up", looked_up),
            _git(*quarantine, *pack)
            + given("packed", listing)
            + "|"
            + _git(*here, *durable, "unpack-objects", "-q"),
            _git(*here, *durable, "update-ref", "--stdin") + given("moved", moved),
            _git(*here, "for-each-ref", "--format=%(objectname) %(refname)", "refs/hn/memory"),
            f"rm -r {shlex.quote(str(self.quarantine))}",
        ]
        return "\n".join(lines)


def _git(*arguments: str) -> str:
    return f"git {shlex.join(arguments)}"


@case("sync")
def sync(bench: Bench) -> None:
    """One more record, on streams of every size."""
    for size in bench.sizes:
        ours, theirs = Line(bench, size), Line(bench, size)
        bench.compare(
            f"sync +1 at {size:,}",
            ours.sync,
            "bare interpreter + the same git",
            theirs.floor,
            target=TARGET,
        )
