"""Signed records in bulk, for benchmarks: a repository with as many as asked for, in seconds.

``make`` writes one ``git fast-import`` stream: a branch of commits that records are anchored to, a
policy that trusts the authors, and the authors' memory streams. The same arguments give the same
bytes. Words follow Zipf's law, over those of the evaluation capsules first and invented ones after, so that
a few words stand in most records and most words in a few. Identifiers, several topics, anchored files,
some replacements, retractions and challenges are among them.

The keys are made from the seed and are worth nothing.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ai_kb.hn import keys  # noqa: E402
from ai_kb.hn.envelope import default_stream, encode_envelope, memory_id  # noqa: E402
from ai_kb.hn.gitwrite import object_id  # noqa: E402

CAPSULES = ROOT / "tests/data/eval/capsules.json"
AUTHORS = 4
COMMITS = 256
_FORM = 2  # what is made; another number, and what was made before is not used
_START = 1_700_000_000
_VOCABULARY = 40_000
_KINDS = ("observation", "decision", "assumption")
_CAPSULE_KINDS = ("fact", "gotcha", "pattern", "recipe", "decision")
_DOMAINS = ("git", "python", "docker", "database", "network", "frontend", "build", "tests")
_SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "so", "ti", "va", "ze", "po", "dra", "quo", "ster", "bil")


class Author:
    """A throw-away identity."""

    def __init__(self, number: int, seed: int) -> None:
        self.name = f"Author {number}"
        self.private_key = keys.private_key_of_seed(random.Random(f"{seed} author {number}").randbytes(32))
        self.public_key = keys.encode_b64(self.private_key[32:])
        self.actor = keys.actor_of(self.private_key[32:])
        self.stream = default_stream(self.actor)
        self.sequence = 0
        self.previous = ""
        self.records: list[str] = []

    @property
    def ref(self) -> str:
        return f"refs/hn/memory/{self.actor}/{self.stream.removeprefix('sha256:')}"


class Words:
    """Words by Zipf's law, and sentences of them."""

    def __init__(self, rng: random.Random) -> None:
        counts: Counter[str] = Counter()
        for capsule in json.loads(CAPSULES.read_text()):
            counts.update(re.findall(r"\w[\w.-]*", f"{capsule['title']} {capsule['body']}".lower()))
        self._words = [word for word, _ in counts.most_common()]
        known = set(self._words)
        while len(self._words) < _VOCABULARY:
            word = "".join(rng.choices(_SYLLABLES, k=rng.randint(2, 5)))
            if word in known:
                word += str(len(self._words))
            known.add(word)
            self._words.append(word)
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))
        self._rng = rng

    def some(self, count: int) -> list[str]:
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)

    def identifier(self) -> str:
        parts = [word for word in self.some(3) if word.isalpha()] or ["run"]
        form = self._rng.randrange(4)
        if form == 0:
            return "_".join(parts)
        if form == 1:
            return "".join(part.capitalize() for part in parts)
        return f"src/{'/'.join(parts)}.py" if form == 2 else f"--{'-'.join(parts)}"

    def content(self) -> str:
        title = " ".join(self.some(self._rng.randint(4, 9))).capitalize()
        body = self.some(self._rng.randint(20, 70))
        for _ in range(self._rng.randint(0, 2)):
            body.insert(self._rng.randrange(len(body)), self.identifier())
        return f"{title}\n\n{' '.join(body)}.\n\nConfidence: {self._rng.choice(('low', 'medium', 'high'))}"


def make(directory: Path, count: int, *, seed: int = 1, bare: bool = False) -> list[Author]:
    """Make the repository ``directory`` with ``count`` memories; gives their authors."""
    rng = random.Random(seed)
    authors = [Author(number, seed) for number in range(AUTHORS)]
    flags = ["--bare"] if bare else []
    _git(directory.parent, "init", "-q", "-b", "main", *flags, str(directory))
    root = _branch(directory, authors, 1)
    commits = _branch_commits(directory, authors, root)
    stream = _memories(authors, commits, count, Words(rng), rng)
    _import(directory, itertools.chain(stream, [b"done\n"]))
    _git(directory, "repack", "-q", "-a", "-d", "--window=0")
    _git(directory, "pack-refs", "--all")
    if not bare:
        _git(directory, "reset", "-q", "--hard", "main")
    return authors


def made_once(cache: Path, count: int) -> Path:
    """The repository with ``count`` memories below ``cache``, made when it is not there."""
    path = cache / f"records-{_FORM}-{count}"
    if not path.exists():
        isolated_git()
        unfinished = path.with_name(f"{path.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished, count)
        unfinished.rename(path)
    return path


def append(directory: Path, author: Author, seed: int, *, commit: str | None = None) -> str:
    """One more record of ``author``, anchored to HEAD or ``commit``; gives its id."""
    rng = random.Random(f"{seed} more")
    anchor = commit or _git(directory, "rev-parse", "HEAD")
    memory, data = _memory(author, [anchor], Words(rng), rng, plain=True)
    head = _git(directory, "rev-parse", author.ref)
    _import(directory, [*_commit(author, memory, data, parent=head), b"done\n"])
    return memory


def commit(directory: Path, text: str) -> None:
    """One more commit on the branch."""
    _git(directory, "commit", "-q", "--allow-empty", "-m", text)


def _git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _import(directory: Path, stream: Iterator[bytes] | itertools.chain[bytes] | list[bytes]) -> None:
    process = subprocess.Popen(
        ["git", "-C", str(directory), "fast-import", "--quiet", "--done", "--date-format=raw"],
        stdin=subprocess.PIPE,
    )
    assert process.stdin is not None
    with process.stdin:
        for piece in stream:
            process.stdin.write(piece)
    if process.wait():
        raise SystemExit(f"git fast-import failed in {directory}")


def _data(payload: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(payload), payload)


def _branch(directory: Path, authors: list[Author], count: int) -> str:
    """The first ``count`` commits of ``main``, with a policy that trusts every author."""
    policy = {
        "version": "hn.policy/0",
        "maintainers": [authors[0].actor],
        "proposals": {
            "requiredApprovals": 0,
            "requiredAccepts": 1,
            "trustedReviewers": [],
            "allowAuthorApproval": True,
        },
        "pipelines": {},
        "memory": {
            "trustedActors": sorted(author.actor for author in authors),
            "trustedKinds": ["assumption", "attempt", "decision", "handoff", "observation", "verification"],
        },
    }
    who = b"Bench <bench@example.invalid> %d +0000\n" % _START
    pieces = []
    for number in range(count):
        pieces += [b"commit refs/heads/main\n", b"author ", who, b"committer ", who, _data(b"Start")]
        if number == 0:
            pieces += [b"M 100644 inline .hn/policy.json\n", _data(json.dumps(policy, indent=2).encode())]
            pieces += [b"M 100644 inline README.md\n", _data(b"# Bench\n")]
    _import(directory, [*pieces, b"done\n"])
    return _git(directory, "rev-parse", "refs/heads/main")


def _branch_commits(directory: Path, authors: list[Author], root: str) -> list[str]:
    """More commits on ``main``, each with a file of its own; all of them, oldest first."""
    pieces = []
    for number in range(1, COMMITS):
        who = b"Bench <bench@example.invalid> %d +0000\n" % (_START + number)
        pieces += [b"commit refs/heads/main\n", b"author ", who, b"committer ", who]
        pieces += [_data(b"Change %d" % number)]
        if number == 1:
            pieces.append(b"from %b\n" % root.encode())
        pieces += [b"M 100644 inline %b\n" % _file(number).encode(), _data(_file_data(number))]
    _import(directory, [*pieces, b"done\n"])
    return _git(directory, "rev-list", "--reverse", "refs/heads/main").split()


def _memories(
    authors: list[Author], commits: list[str], count: int, words: Words, rng: random.Random
) -> Iterator[bytes]:
    for _ in range(count):
        author = rng.choice(authors)
        memory, data = _memory(author, commits, words, rng, others=authors)
        yield from _commit(author, memory, data)


def _memory(
    author: Author,
    commits: list[str],
    words: Words,
    rng: random.Random,
    *,
    others: list[Author] | None = None,
    plain: bool = False,
) -> tuple[str, bytes]:
    """(id, payload) of the next memory of ``author``'s stream."""
    author.sequence += 1
    seconds = _START + 1_000_000 + 60 * author.sequence + rng.randrange(60)
    mapping: dict[str, object] = {
        "protocol": "hn-memory/0",
        "operation": "record",
        "actor": author.actor,
        "actorName": author.name,
        "publicKey": author.public_key,
        "stream": author.stream,
        "sequence": author.sequence,
        "timestamp": _rfc3339(seconds),
        "previous": author.previous,
    }
    roll = 1.0 if plain else rng.random()
    if roll < 0.02 and author.records:
        mapping |= {"operation": "retract", "target": rng.choice(author.records), "reason": "incorrect"}
    elif roll < 0.04 and (targets := [o for o in others or [] if o is not author and o.records]):
        target = rng.choice(rng.choice(targets).records)
        mapping |= {"operation": "challenge", "target": target, "reason": "evidence-mismatch"}
    else:
        if roll < 0.09 and author.records:
            mapping |= {"operation": "supersede", "target": rng.choice(author.records)}
        mapping["record"] = _record(commits, words, rng)
    payload = encode_envelope(mapping)
    author.previous = memory_id(payload)
    if "record" in mapping:
        author.records.append(author.previous)
    return author.previous, payload


def _file(number: int) -> str:
    """The file that commit ``number`` of the branch brings."""
    return f"src/file{number}.py"


def _file_data(number: int) -> bytes:
    return b"value = %d\n" % number


def _anchored_paths(commits: list[str], anchor: str, rng: random.Random) -> list[dict[str, str]]:
    """One or two files with the blobs they have at ``anchor``; none for most records."""
    last = commits.index(anchor)
    if len(commits) < COMMITS or last == 0 or rng.random() >= 0.3:
        return []
    numbers = rng.sample(range(1, last + 1), min(last, rng.randint(1, 2)))
    paths = [{"path": _file(n), "blob": object_id("blob", _file_data(n), "sha1")} for n in numbers]
    return sorted(paths, key=lambda entry: entry["path"])


def _record(commits: list[str], words: Words, rng: random.Random) -> dict[str, object]:
    topics = {
        f"kind/{rng.choice(_CAPSULE_KINDS)}",
        "scope/project",
        f"project/{commits[0]}",
        f"domain/{rng.choice(_DOMAINS)}",
        *(word.strip("./-_")[:60] or "misc" for word in words.some(2)),
    }
    anchor = rng.choice(commits)
    paths = _anchored_paths(commits, anchor, rng)
    return {
        "kind": rng.choice(_KINDS),
        "content": words.content(),
        "anchor": {"commit": anchor, "paths": paths} if paths else {"commit": anchor},
        "applicability": {"mode": "descendants"},
        "topics": sorted(topics),
        "evidence": [f"git:{rng.choice(commits)}"] if rng.random() < 0.3 else [],
    }


def _rfc3339(seconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _commit(author: Author, memory: str, payload: bytes, parent: str | None = None) -> list[bytes]:
    who = f"{author.name} <{author.actor[:12]}@hn.invalid> {_START + author.sequence} +0000\n".encode()
    signature = keys.encode_b64(keys.sign(author.private_key, payload)).encode()
    return [
        f"commit {author.ref}\n".encode(),
        b"author ",
        who,
        b"committer ",
        who,
        _data(f"hn memory {memory}".encode()),
        f"from {parent}\n".encode() if parent else b"",
        b"M 100644 inline memory.json\n",
        _data(payload),
        b"M 100644 inline signature\n",
        _data(signature),
    ]


def isolated_git() -> None:
    """Keep the caller's Git configuration and variables out of what is made."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    for role in ("AUTHOR", "COMMITTER"):
        os.environ[f"GIT_{role}_NAME"] = "Bench"
        os.environ[f"GIT_{role}_EMAIL"] = "bench@example.invalid"
