"""The same exchange over every transport that git has, on loopback, and lines that are cut."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.replication.people import BOB, STREAMS, accepted, maker, memory_ref
from tests.replication.servers import cut_after, git_daemon, http_backend, sshd
from tests.replication.world import World, all_refs, git, hn, recalled, record, select, statuses, sync

TRANSPORTS = ("path", "relative path", "file", "git", "http", "ssh")


class Line(NamedTuple):
    """A remote and how it is reached: ``config`` goes into each clone's own configuration."""

    world: World
    url: str
    config: dict[str, str]

    def clone(self, name: str) -> Path:
        path = self.world.clone(name)
        git(path, "remote", "set-url", "origin", self.url)
        for key, value in self.config.items():
            git(path, "config", key, value)
        return path


@pytest.fixture(params=TRANSPORTS)
def line(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Line]:
    world = World(tmp_path, bundle=None)
    git(world.remote, "config", "http.receivepack", "true")
    base = world.remote.parent
    if request.param == "path":
        yield Line(world, str(world.remote), {})
    elif request.param == "relative path":
        yield Line(world, "../b/remote.git", {})
    elif request.param == "file":
        yield Line(world, f"file://{world.remote}", {})
    elif request.param == "git":
        with git_daemon(base) as url:
            yield Line(world, f"{url}remote.git", {})
    elif request.param == "http":
        with http_backend(base, "open sesame") as url:
            yield Line(world, f"{url}remote.git", {f"http.{url}.extraHeader": "X-Token: open sesame"})
    else:
        with sshd(base, tmp_path / "ssh") as (url, command):
            yield Line(world, f"{url}remote.git", {"core.sshCommand": command})


def test_three_clones_exchange_and_challenge_over_every_transport(line: Line) -> None:
    alice, bob, carol = (line.clone(name) for name in ("alice", "bob", "carol"))
    first = record(alice, "first")
    assert [p["status"] for p in sync(alice)["publications"]] == ["published"]
    select(bob, "alice")
    assert statuses(sync(bob)) == {STREAMS["alice"]: "promoted"}
    assert hn(bob, "memory", "challenge", first, "--reason", "outdated").exit == 0
    sync(bob)
    select(carol, "alice", "bob")
    assert set(statuses(sync(carol)).values()) == {"promoted"}
    shown = json.loads(hn(carol, "memory", "show", first, "--json").stdout)
    assert len(shown["projection"]["challengers"]) == 1
    for number in range(2, 5):
        record(alice, f"number {number}")
        sync(alice)
        sync(carol)
        assert len(recalled(carol)) == number
    assert all_refs(carol)[accepted("alice")] == all_refs(alice)[memory_ref("alice")]
    assert hn(carol, "sync").stderr == ""


def test_a_diverged_remote_is_reported_over_every_transport(line: Line) -> None:
    alice = line.clone("alice")
    record(alice, "first")
    other = maker(line.world.remote)
    other.add()
    select(alice, "bob")
    done = hn(alice, "sync")
    assert done.exit == 1
    assert f"remote {other.head}); nothing was overwritten" in done.stderr
    assert all_refs(line.world.remote)[memory_ref("alice")] == other.head


@pytest.mark.parametrize("allowed", [0, 1, 60, 400, 1500, 4000, 9000, 30_000])
def test_a_line_that_is_cut_costs_another_sync_and_nothing_else(tmp_path: Path, allowed: int) -> None:
    world = World(tmp_path, bundle=None)
    made = maker(world.remote, BOB)
    made.bulk(60)
    carol = world.clone("carol")
    record(carol, "mine")
    with git_daemon(world.remote.parent) as url:
        port = int(url.rstrip("/").rpartition(":")[2])
        with cut_after(port, allowed) as cut:
            git(carol, "remote", "set-url", "origin", f"git://127.0.0.1:{cut}/remote.git")
            done = hn(carol, "sync", "--timeout", "5")
        assert done.exit in (0, 1)
        assert all_refs(carol, "refs/hn/remotes") in ({}, {accepted("bob"): made.head})
        assert list((carol / ".git" / "hn" / "replication" / "quarantine").iterdir()) == []
        git(carol, "remote", "set-url", "origin", f"{url}remote.git")
        select(carol, "bob")
        assert statuses(sync(carol)) == {STREAMS["bob"]: "promoted"}
    assert len(recalled(carol, "--max-records", "100")) == 61
    assert memory_ref("carol") in all_refs(world.remote)


def test_what_configures_the_transport_may_also_stand_in_a_worktree_or_an_include(tmp_path: Path) -> None:
    world = World(tmp_path, bundle=None)
    git(world.remote, "config", "http.receivepack", "true")
    maker(world.remote, BOB).bulk(1)
    alice = world.clone("alice")
    with http_backend(world.remote.parent, "token") as url:
        included = tmp_path / "more.config"
        included.write_text(
            f'[http "{url}"]\n\textraHeader = X-Token: token\n[url "{url}"]\n\tinsteadOf = mine:\n'
        )
        git(alice, "config", "include.path", str(included))
        git(alice, "remote", "set-url", "origin", "mine:remote.git")
        assert statuses(sync(alice)) == {STREAMS["bob"]: "promoted"}
        git(alice, "config", "--unset", "include.path")
        git(alice, "config", "extensions.worktreeConfig", "true")
        git(alice, "remote", "set-url", "origin", f"{url}remote.git")
        git(alice, "config", "--worktree", f"http.{url}.extraHeader", "X-Token: token")
        maker(world.remote).bulk(1)
        assert set(statuses(sync(alice)).values()) == {"promoted"}
        git(alice, "config", "--worktree", "--unset", f"http.{url}.extraHeader")
        done = hn(alice, "sync")
    assert done.exit == 1
    assert "403" in done.stderr
