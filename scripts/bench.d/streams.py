"""Verification against the bare minimum over the same bytes, and append at 10 records and at many.

The floor of ``verify`` is what nobody can do without: read payloads and signatures by one
``git cat-file --batch`` that is told the blob ids, hash each payload, ``crypto_sign_open`` it. It finds
no commits, reads no trees, decodes nothing and compares nothing. Both sides run in one thread.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import recordslib
from benchlib import PYTHON, ROOT, Bench, case

from ai_kb.hn.gitstore import Repository, parse_commit, parse_tree
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import MEMORY_PREFIXES, collect, sources_of

FEW = 10


def records(bench: Bench, size: int) -> Path:
    """A repository with ``size`` memories, made once."""
    return recordslib.made_once(bench.cache, size)


def blobs_of(repo: Repository) -> list[tuple[str, str, bytes]]:
    """(payload blob, signature blob, public key) of every memory. Not part of what is measured."""
    found: list[tuple[str, str, bytes]] = []
    with repo.objects() as reader:
        for source, head in sources_of(repo.refs(*MEMORY_PREFIXES)):
            commits = repo.git("rev-list", "--reverse", head).decode().split()
            trees = [parse_commit(c[2])[0] for c in reader.contents(commits) if c]
            pairs = [parse_tree(t[2], repo.hash_length // 2) for t in reader.contents(trees) if t]
            first = reader.content(pairs[0][0].oid)
            assert first is not None
            key = base64.b64decode(first[2].split(b'"publicKey":"', 1)[1][:43] + b"=")
            assert hashlib.sha256(key).hexdigest() == source.actor
            found += [(payload.oid, signature.oid, key) for payload, signature in pairs]
    return found


def floor(repo: Repository, blobs: list[tuple[str, str, bytes]]) -> float:
    """Memories per second of reading, hashing and opening alone."""
    from nacl.bindings import crypto_sign_open

    names = "".join(f"{payload}\n{signature}\n" for payload, signature, _ in blobs).encode()
    start = time.perf_counter()
    command = ["git", "--git-dir", repo.git_dir, "cat-file", "--batch", "--buffer"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        assert git.stdin is not None
        assert git.stdout is not None

        def feed() -> None:
            assert git.stdin is not None
            git.stdin.write(names)
            git.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        for _, _, key in blobs:
            payload = git.stdout.read(int(git.stdout.readline().rsplit(b" ", 1)[1]) + 1)[:-1]
            signature = git.stdout.read(int(git.stdout.readline().rsplit(b" ", 1)[1]) + 1)[:-1]
            hashlib.sha256(payload).digest()
            crypto_sign_open(base64.b64decode(signature + b"==") + payload, key)
        feeder.join()
    return len(blobs) / (time.perf_counter() - start)


def verified(repo: Repository, prefixes: PrefixStore | None = None) -> float:
    """Memories per second of ``collect``."""
    start = time.perf_counter()
    with repo.objects() as reader:
        count = len(collect(repo, reader, prefixes=prefixes).memories)
    return count / (time.perf_counter() - start)


@case("verify")
def verify(bench: Bench) -> None:
    """Verified records per second, against reading, hashing and crypto_sign_open over the same bytes."""
    for size in bench.sizes:
        repo = Repository.open(str(records(bench, size)), os.environ)
        blobs = blobs_of(repo)
        bench.compare(
            f"verify {size:,} records",
            lambda repo=repo: verified(repo),  # type: ignore[misc]
            "read + SHA-256 + crypto_sign_open",
            lambda repo=repo, blobs=blobs: floor(repo, blobs),  # type: ignore[misc]
            unit="records/s",
            target=0.5,
            higher_is_better=True,
        )
        scratch = bench.scratch()
        remembering = Repository.bare(repo.git_dir, {**os.environ, "XDG_CACHE_HOME": str(scratch)})
        with PrefixStore.open(remembering) as prefixes:
            verified(remembering, prefixes)
            bench.compare(
                f"read {size:,} records again",
                lambda repo=remembering, store=prefixes: verified(repo, store),  # type: ignore[misc]
                "verify them",
                lambda repo=repo: verified(repo),  # type: ignore[misc]
                unit="records/s",
                higher_is_better=True,
            )


def appender(bench: Bench, size: int) -> Callable[[], float]:
    """Seconds of one ``hn memory record`` in a stream that has ``size`` memories."""
    folder = bench.scratch()
    env = bench.environment(folder)
    work = folder / "work"
    shutil.copytree(records(bench, max(bench.sizes)), work, symlinks=True)
    hn(work, env, "init", "--name", "Bench")
    repo = Repository.open(str(work), env)
    for ref in repo.refs("refs/hn/memory"):
        repo.git("update-ref", "-d", ref)
    fill(repo, size)

    def append() -> float:
        flags = ("--kind", "observation", "--at", "HEAD", "--applies", "descendants", "--content", "One more")
        return hn(work, env, "memory", "record", *flags)

    return append


def fill(repo: Repository, size: int) -> None:
    """Give the active identity a stream of ``size`` memories by one fast-import."""
    from ai_kb.hn.identity import Keyring

    identity = Keyring.of(repo).active()
    author = recordslib.Author(0, 1)
    author.name, author.private_key, author.actor = identity.name, identity.private_key, identity.actor
    author.public_key = recordslib.keys.encode_b64(identity.public_key)
    author.stream = recordslib.default_stream(identity.actor)
    author.sequence, author.previous, author.records = 0, "", []
    rng = recordslib.random.Random(1)
    anchors = [repo.resolve_commit("HEAD")]
    words = recordslib.Words(rng)
    pieces: list[bytes] = []
    for _ in range(size):
        memory, data = recordslib._memory(author, anchors, words, rng, plain=True)
        pieces += recordslib._commit(author, memory, data)
    recordslib._import(Path(repo.git_dir), [*pieces, b"done\n"])


def hn(work: Path, env: Mapping[str, str], *argv: str) -> float:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ai_kb.hn.cli import entry; sys.exit(entry())"
    return Bench.seconds([PYTHON, "-I", "-c", code, *argv], env, work)


@case("append")
def append(bench: Bench) -> None:
    """One append by the command, in a stream of ten and in long ones."""
    few = appender(bench, FEW)
    for size in bench.sizes:
        bench.compare(f"append at {size:,}", appender(bench, size), f"append at {FEW}", few, target=1.25)
