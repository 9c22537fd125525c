"""What ``,ai-kb report`` gathers, how it bounds it, and where it writes it."""

from __future__ import annotations

import io
import itertools
import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent_base.cli import string_console
from agent_memory import ledger
from ai_kb import cli, report_data, report_graph, report_time, seen
from ai_kb.report_data import CapsuleInfo, Node, Report
from ai_kb.seen import state_path
from tests.kb.reportworld import NOW, ReportWorld, eventful

Git = Callable[..., str]
SESSION = "8ea6ecb4-4eb8-4de4-a753-3c09537fdf1b"


@pytest.fixture
def world(repository: Path, isolated: dict[str, str]) -> ReportWorld:
    return ReportWorld(repository, isolated)


def by_id(made: Report) -> dict[str, CapsuleInfo]:
    return {capsule.id: capsule for capsule in made.capsules}


class TestGathering:
    def test_a_workspace_without_memory_gives_an_empty_report(self, world: ReportWorld) -> None:
        made = world.report()
        assert [store.store for store in made.stores] == ["repo"]
        assert (made.capsules, made.nodes, made.bins, made.sessions, made.ledger) == ((), (), (), (), ())
        assert made.problems == ()
        assert made.generated == "2026-11-30T12:00:00Z"

    def test_outside_of_any_repository_there_is_nothing_to_read(
        self, tmp_path: Path, isolated: dict[str, str]
    ) -> None:
        plain = tmp_path / "plain"
        plain.mkdir()
        assert ReportWorld(plain, isolated).report().stores == ()

    def test_it_says_of_every_capsule_what_recall_thinks_of_it(self, world: ReportWorld) -> None:
        ids = eventful(world)
        made = world.report()
        found = by_id(made)
        assert len(found) == made.capsules_total == 18
        assert found[ids["port"]].lifecycle == "superseded"
        assert found[ids["port"]].challengers.items == (ids["challenge"],)
        assert found[ids["port2"]].supersedes == ids["port"]
        assert found[ids["network"]].retractions.items == (ids["retraction"],)
        assert found[ids["queue"]].lifecycle == "branching"
        assert set(found[ids["queue"]].successors.items) == {ids["queue2"], ids["queue3"]}
        assert found[ids["eve"]].left_out == "actor-untrusted"
        assert found[ids["evidence"]].left_out == "evidence-missing"
        assert found[ids["orphan"]].left_out == "dependency-missing"
        assert found[ids["retry"]].left_out == ""  # eve cannot retract what is not hers
        assert found[ids["retry"]].evidence_details.items[0].endswith("(resolved)")
        assert found[ids["migration"]].waiting
        assert not found[ids["sed"]].waiting
        assert found[ids["token"]].outcome == "rejected"
        assert [name for name, _ in found[ids["handoff"]].handoff] == [
            "completed",
            "assumptions",
            "next actions",
        ]
        assert found[ids["index"]].body.startswith("1. stop the worker\n2. ")
        assert [capsule.timestamp for capsule in made.capsules] == sorted(
            (capsule.timestamp for capsule in made.capsules), reverse=True
        )

    def test_stores_are_counted_by_every_judgment(self, world: ReportWorld) -> None:
        eventful(world)
        home, repo = world.report().stores
        assert (home.store, home.records, home.recalled, home.waiting) == ("home", 4, 4, 1)
        assert (repo.records, repo.recalled, repo.challenged) == (14, 8, 2)
        assert repo.lifecycle == {
            "active": 10, "superseded": 1, "retracted": 1, "branching": 1, "dependency-missing": 1
        }  # fmt: skip
        assert repo.trust == {"qualified": 13, "actor-untrusted": 1}
        assert repo.applicability == {"applicable": 14}
        assert repo.evidence == {"resolved": 13, "missing": 1}
        assert repo.source == {"none": 12, "changed": 2}
        assert sum(repo.left_out.values()) == repo.records - repo.recalled
        assert {s.actor_name: (s.trusted, s.own, s.memories) for s in repo.streams} == {
            "Mika Laine": (True, False, 8),
            "Repo Person": (True, True, 7),
            "eve": (False, False, 3),
        }

    def test_relations_say_whether_they_count_and_why_not(self, world: ReportWorld) -> None:
        ids = eventful(world)
        effects = {relation.source: relation.effect for relation in world.report().relations}
        assert effects == {
            ids["challenge"]: "",
            ids["port2"]: "",
            ids["retraction"]: "",
            ids["doubt"]: "",
            ids["queue2"]: "",
            ids["queue3"]: "",
            ids["theft"]: "actor-mismatch",
            ids["orphan"]: "target-unavailable",
        }

    def test_drift_says_which_file_and_whether_it_is_still_there(self, world: ReportWorld) -> None:
        ids = eventful(world)
        made = world.report()
        assert {(c.id, c.path, c.state) for c in made.changed} == {
            (ids["retry"], "src/retry.py", "changed"),
            (ids["message"], "src/queue.py", "gone"),
        }
        assert by_id(made)[ids["message"]].sources == (report_data.Source("src/queue.py", "gone"),)

    def test_injections_are_told_by_session_with_their_times(self, world: ReportWorld) -> None:
        ids = eventful(world)
        made = world.report()
        first, second = made.sessions
        assert (first.session_key, first.topic, first.in_context) == (SESSION, "retries", 3)
        assert [(i.id, i.at) for i in first.injections] == [
            (ids["message"], "2026-11-30T10:00:00Z"),
            (ids["utc"], "2026-11-30T09:00:00Z"),
            (ids["retry"], "2026-11-30T09:00:00Z"),
        ]
        assert (second.session_key, second.topic) == ("0b1f3c77-aaaa", "")
        assert second.injections[0].title == ""  # in no store at hand
        retry = by_id(made)[ids["retry"]]
        assert (retry.injected, retry.last_injected) == (2, "2026-11-30T09:00:00Z")

    def test_what_a_hook_injects_into_a_prompt_is_told_with_its_time(self, world: ReportWorld) -> None:
        memory_id = world.remember()
        assert memory_id in world.prompt()
        (session,) = world.report().sessions
        assert session.injections == (
            report_data.Injection(memory_id, "Retry only idempotent requests", "2026-11-30T12:00:00Z", True),
        )

    def test_what_a_session_has_forgotten_was_injected_all_the_same(self, world: ReportWorld) -> None:
        world.seen("s", ["sha256:" + "a" * 64], NOW - timedelta(hours=2))
        with seen.Seen(world.state.spec_dir, "s") as state:
            state.forget()
        world.seen("s", ["sha256:" + "a" * 64], NOW)
        Path(state_path(world.state.spec_dir, "old")).write_text('{"version":1,"seen":["x"]}')
        sessions = {session.session_key: session for session in world.report().sessions}
        assert [(i.at, i.in_context) for i in sessions["s"].injections] == [
            ("2026-11-30T12:00:00Z", True),
            ("2026-11-30T10:00:00Z", False),
        ]
        assert [(i.at, i.in_context) for i in sessions["old"].injections] == [("", True)]

    def test_the_ledger_says_what_failed(self, world: ReportWorld) -> None:
        eventful(world)
        made = world.report()
        assert [(e.kind, e.injecting, e.resolved) for e in made.ledger] == [
            ("recall", True, False),
            ("repaired", False, True),
        ]
        assert made.open_failures == 1

    def test_a_policy_that_nobody_accepted_is_said(self, world: ReportWorld) -> None:
        world.trust_this_clone()
        store = world.repo()
        world.say(store, store.identity(), "record", NOW, record=world.record(store, "Title", "Body"))
        assert world.report().waiting_for_policy == 1
        world.accept()
        assert world.report().waiting_for_policy == 0

    def test_one_store_can_be_asked_for(self, world: ReportWorld) -> None:
        eventful(world)
        made = world.report(only="home")
        assert [store.store for store in made.stores] == ["home"]
        assert {capsule.store for capsule in made.capsules} == {"home"}


class TestDamage:
    def test_a_store_that_cannot_be_verified_is_a_problem_and_the_other_is_shown(
        self, world: ReportWorld
    ) -> None:
        eventful(world)
        world.git("update-ref", "refs/hn/memory/nonsense", "HEAD")
        made = world.report()
        assert [store.store for store in made.stores] == ["home"]
        assert [problem.what for problem in made.problems] == ["repository's store"]
        assert "malformed memory ref" in made.problems[0].message

    def test_a_file_that_another_user_could_have_written_is_a_problem(self, world: ReportWorld) -> None:
        eventful(world)
        spec = world.state.spec_dir
        os.chmod(state_path(spec, SESSION), 0o666)
        os.chmod(os.path.join(spec, ledger.FILE), 0o666)
        made = world.report()
        assert [problem.what for problem in made.problems] == ["seen state", "error ledger"]
        assert [session.session_key for session in made.sessions] == ["0b1f3c77-aaaa"]
        assert made.ledger == ()

    def test_an_unsafe_spec_directory_is_a_problem(self, world: ReportWorld) -> None:
        eventful(world)
        os.chmod(world.state.spec_dir, 0o777)
        made = world.report()
        assert [problem.what for problem in made.problems] == ["session memory"]
        assert made.sessions == ()
        assert made.capsules_total == 18

    def test_other_names_and_damage_among_seen_states_are_passed_over(self, world: ReportWorld) -> None:
        eventful(world)
        spec = Path(world.state.spec_dir)
        (spec / ".recall-seen-.json").write_text("{}")
        (spec / ".recall-seen-<b>.json").write_text('{"version":1,"seen":["x"]}')
        (spec / ".recall-seen-broken.json").write_text("{")
        made = world.report()
        assert len(made.sessions) == 2
        assert made.problems == ()

    def test_a_keyring_that_cannot_be_used_hides_no_capsule(self, world: ReportWorld) -> None:
        eventful(world)
        for path in Path(world.repo().repo.common_dir).rglob("hn/*"):
            if path.is_file():
                path.chmod(0o666)
        repo = world.report().stores[1]
        assert (repo.actor, repo.records) == ("", 14)

    def test_a_seen_state_that_is_cleaned_up_meanwhile_is_not_missed(
        self, world: ReportWorld, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        eventful(world)
        real = seen.injections

        def cleaned(spec_dir: str, key: str) -> list[tuple[str, float]]:
            found = real(spec_dir, key)
            os.unlink(state_path(spec_dir, key))
            return found

        monkeypatch.setattr(seen, "injections", cleaned)
        made = world.report()
        assert (made.sessions, made.problems) == ((), ())

    def test_the_last_failure_of_the_dispatcher_is_in_the_ledger(self, world: ReportWorld) -> None:
        path = Path(str(ledger.dispatcher_error_path(world.env)))
        path.parent.mkdir(parents=True, mode=0o700)
        path.write_text("no space left\n")
        assert [(e.kind, e.message) for e in world.report().ledger] == [("dispatcher", "no space left")]


class TestBounds:
    def test_only_so_many_capsules_are_listed_and_all_are_counted(self, world: ReportWorld) -> None:
        eventful(world)
        made = world.report(limit=3)
        assert (len(made.capsules), made.capsules_total) == (3, 18)
        assert sum(store.records for store in made.stores) == 18
        assert world.report(limit=0).capsules == ()

    def test_lists_and_texts_of_one_capsule_are_bounded_and_what_drifted_stays(
        self, world: ReportWorld
    ) -> None:
        paths = [f"src/{number:02d}.py" for number in range(20)]
        for path in paths:
            (world.workspace / path).parent.mkdir(exist_ok=True)
            (world.workspace / path).write_text(path)
        world.git("add", ".")
        world.git("commit", "-q", "-m", "files")
        world.trust_this_clone()
        store = world.repo()
        made = world.record(
            store, "t" * 900, "b" * 60_000, paths=paths, topics=[f"topic-{n}" for n in range(28)]
        )
        world.say(store, store.identity(), "record", NOW, record=made)
        world.commit_file("src/19.py", "other\n")
        (capsule,) = world.report().capsules
        assert len(capsule.title) == report_data.TEXT
        assert (len(capsule.body), capsule.body_more) == (report_data.BODY, 60_000 - report_data.BODY)
        assert (len(capsule.topics.items), capsule.topics.more) == (12, 18)
        assert capsule.sources[0] == report_data.Source("src/19.py", "changed")
        assert (len(capsule.sources), capsule.sources_more) == (12, 8)

    def test_only_the_newest_memories_and_the_busiest_lanes_are_drawn(
        self, world: ReportWorld, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ids = eventful(world)
        monkeypatch.setattr(report_data, "NODES", 8)
        monkeypatch.setattr(report_data, "LANES", 1)
        made = world.report()
        assert made.nodes_total == 22
        assert 0 < len(made.nodes) < 8
        assert len({node.stream for node in made.nodes}) == 1
        assert ids["retry"] not in {node.id for node in made.nodes}

    def test_sessions_and_what_is_in_one_are_bounded(
        self, world: ReportWorld, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(report_data, "SESSIONS", 2)
        monkeypatch.setattr(report_data, "IN_SESSION", 3)
        for number in range(4):
            world.seen(f"s{number}", [f"id-{n}" for n in range(5)], NOW - timedelta(hours=number))
        made = world.report()
        assert ([s.session_key for s in made.sessions], made.sessions_total) == (["s0", "s1"], 4)
        assert [i.id for i in made.sessions[0].injections] == ["id-4", "id-3", "id-2"]
        assert made.sessions[0].injections_total == 5

    def test_a_time_in_the_future_is_counted_and_spoils_no_chart(self, world: ReportWorld) -> None:
        world.trust_this_clone()
        store = world.repo()
        for when in (NOW, NOW - timedelta(days=2), datetime(2098, 1, 1, tzinfo=UTC)):
            world.say(store, store.identity(), "record", when, record=world.record(store, str(when), "x"))
        made = world.report()
        assert (made.in_future, made.outside_bins) == (1, 1)
        assert sum(column.recalled for column in made.bins) == 2


class TestTime:
    @pytest.mark.parametrize(
        ("timestamp", "shown"),
        [
            ("2026-11-30T12:00:00Z", "2026-11-30 12:00"),
            ("2026-11-30T12:00:59.123456789+05:30", "2026-11-30 06:30"),
            ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00+23:59"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59-23:59"),
            ("<b>", "<b>"),
        ],
    )
    def test_is_shown_in_utc_or_as_it_was_claimed(self, timestamp: str, shown: str) -> None:
        assert report_time.shown(timestamp) == shown
        assert isinstance(report_time.seconds(timestamp), float)

    @pytest.mark.parametrize(
        ("apart", "count", "unit", "columns"),
        [(60, 10, "hour", 1), (3_600, 60, "hour", 60), (86_400, 30, "day", 30), (7 * 86_400, 40, "week", 40),
         (31 * 86_400, 50, "month", 50), (366 * 86_400, 40, "year", 41)],
    )  # fmt: skip
    def test_is_counted_in_the_smallest_unit_that_fits(
        self, apart: int, count: int, unit: str, columns: int
    ) -> None:
        now = NOW.timestamp()
        moments = [(now - apart * number, report_time.RECALLED) for number in range(count)]
        made, found, outside = report_time.bins(moments, now)
        assert (found, outside) == (unit, 0)
        assert len(made) <= report_data.BINS
        assert abs(len(made) - columns) <= 1
        assert sum(column.recalled for column in made) == count
        assert len({column.label for column in made}) == len(made)

    def test_before_sixty_years_and_after_tomorrow_is_outside(self) -> None:
        now = datetime(2090, 1, 1, tzinfo=UTC).timestamp()
        moments = [(1.0, "recalled"), (now, "left_out"), (now + 200_000, "other"), (0.0, "other")]
        made, unit, outside = report_time.bins(moments, now)
        assert (unit, outside, len(made)) == ("year", 3, 60)
        assert made[-1] == report_data.Bin("2090", 0, 1, 0)
        assert report_time.bins([(0.0, "other")], now) == ([], "", 1)

    def test_weeks_begin_on_mondays(self) -> None:
        monday = datetime(2026, 11, 30, tzinfo=UTC)
        moments = [((monday - timedelta(weeks=n)).timestamp(), "recalled") for n in range(12)]
        made, unit, _ = report_time.bins(moments, monday.timestamp())
        assert (unit, made[-1].label, made[-2].label) == ("week", "2026-11-30", "2026-11-23")


def node(number: int, seconds: float, *, target: str = "", stream: str = "home:a:b") -> Node:
    return Node(
        id=f"id-{number}", store="home", stream=stream, operation="record", title=f"Title {number}",
        timestamp=report_time.stamp(seconds), seconds=seconds, lifecycle="active", left_out="",
        challenged=False, changed=False, target=target,
    )  # fmt: skip


class TestGraph:
    @pytest.mark.parametrize("apart", [0.0, 1.0, 3_600.0, 1e9])
    def test_no_memory_covers_another_however_close_or_far_their_times_are(self, apart: float) -> None:
        nodes = [node(number, 1.0 + number * apart) for number in range(report_data.NODES)]
        drawing = report_graph.layout(nodes, ["home:a:b"])
        xs = [placed.x for placed in drawing.placed]
        assert all(b - a >= report_graph.GAP - 0.2 for a, b in itertools.pairwise(xs))
        assert xs[-1] <= drawing.width - report_graph.SIDE + 0.2

    def test_a_long_pause_does_not_push_the_rest_together(self) -> None:
        nodes = [node(0, 1.0), node(1, 100.0), node(2, 3e9)]
        xs = [placed.x for placed in report_graph.layout(nodes, ["home:a:b"]).placed]
        assert xs[1] - xs[0] > 100

    def test_relations_are_drawn_where_both_ends_are_there(self) -> None:
        nodes = [node(0, 1.0), node(1, 2.0, target="id-0"), node(2, 3.0, target="elsewhere")]
        drawing = report_graph.layout(nodes, ["home:a:b"])
        assert [(a.node.id, b.node.id) for a, b in drawing.edges] == [("id-1", "id-0")]
        assert drawing.cut_edges == 1

    def test_lanes_without_a_memory_are_not_drawn(self) -> None:
        drawing = report_graph.layout([node(0, 1.0)], ["home:x:y", "home:a:b"])
        assert drawing.lanes == ("home:a:b",)
        assert report_graph.layout([], ["home:x:y"]).placed == ()

    def test_dates_have_room_and_one_day_is_told_by_its_hours(self) -> None:
        day = NOW.timestamp()
        drawing = report_graph.layout([node(n, day + 3_600 * n) for n in range(6)], ["home:a:b"])
        assert [label for _, label in drawing.ticks][:2] == ["2026-11-30", "13:00"]
        assert all(b[0] - a[0] >= report_graph.TICK for a, b in itertools.pairwise(drawing.ticks))


class Cli:
    def __init__(self, cwd: Path, env: dict[str, str]) -> None:
        self.cwd, self.env = cwd, env
        self.err = ""

    def __call__(self, *argv: str, code: int = 0) -> str:
        console = string_console(self.env, now=lambda: NOW, cwd=str(self.cwd))
        assert isinstance(console.stdout, io.StringIO)
        assert isinstance(console.stderr, io.StringIO)
        status = cli.main(["report", *argv], console)
        self.err = console.stderr.getvalue()
        assert status == code, f"{argv}: {status}\n{console.stdout.getvalue()[:500]}\n{self.err}"
        return console.stdout.getvalue()


@pytest.fixture
def kb(world: ReportWorld) -> Cli:
    return Cli(world.workspace, world.env)


class TestCommand:
    def test_a_page_is_written_for_its_owner_alone(self, kb: Cli, world: ReportWorld) -> None:
        eventful(world)
        out = kb("--html", "page.html")
        path = world.workspace / "page.html"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.read_text().startswith("<!DOCTYPE html>")
        assert "18 capsules" in out
        assert [name for name in os.listdir(world.workspace) if name.endswith(".tmp")] == []

    def test_a_page_of_ours_is_replaced_and_says_what_it_leaves_out(
        self, kb: Cli, world: ReportWorld
    ) -> None:
        eventful(world)
        kb("--html", "page.html")
        before = (world.workspace / "page.html").read_bytes()
        out = kb("--html", "page.html", "--limit", "2")
        assert "2 capsules, 16 older ones left out (--limit)" in out
        assert (world.workspace / "page.html").read_bytes() != before

    def test_nothing_else_is_overwritten_unless_it_is_meant(self, kb: Cli, world: ReportWorld) -> None:
        path = world.workspace / "thesis.html"
        path.write_text("<!DOCTYPE html>\n<html>mine</html>")
        kb("--html", "thesis.html", code=1)
        assert "is no such page; nothing was written" in kb.err
        assert "mine" in path.read_text()
        kb("--html", "thesis.html", "--force")
        assert "What the agents know" in path.read_text()

    def test_a_link_is_replaced_itself_and_only_when_it_is_meant(self, kb: Cli, world: ReportWorld) -> None:
        kb("--html", "page.html")
        os.symlink("page.html", world.workspace / "link.html")
        kb("--html", "link.html", code=1)
        kb("--html", "link.html", "--force")
        assert not (world.workspace / "link.html").is_symlink()

    def test_a_directory_a_pipe_and_a_place_that_is_not_there_are_refused(
        self, kb: Cli, world: ReportWorld
    ) -> None:
        os.mkdir(world.workspace / "folder")
        kb("--html", "folder", "--force", code=1)
        assert "is no regular file" in kb.err
        os.mkfifo(world.workspace / "pipe")
        kb("--html", "pipe", "--force", code=1)
        kb("--html", "nowhere/page.html", code=1)
        assert "is no directory; nothing was written" in kb.err

    def test_what_cannot_be_read_is_not_taken_for_ours(
        self, kb: Cli, world: ReportWorld, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = world.workspace / "page.html"
        kb("--html", "page.html")
        real = os.open

        def refuse(name: Any, *more: Any, **also: Any) -> int:
            if str(name) == str(path):
                raise PermissionError(13, "Permission denied", str(path))
            return real(name, *more, **also)

        monkeypatch.setattr(os, "open", refuse)
        kb("--html", "page.html", code=1)
        assert "cannot be read: Permission denied" in kb.err

    def test_the_page_goes_to_standard_output_for_a_dash(self, kb: Cli, world: ReportWorld) -> None:
        assert kb("--html", "-").startswith("<!DOCTYPE html>")
        assert sorted(os.listdir(world.workspace)) == [".git", "README.md"]

    def test_the_data_is_json(self, kb: Cli, world: ReportWorld) -> None:
        ids = eventful(world)
        value = json.loads(kb("--json"))
        assert (value["version"], value["capsules_total"]) == (1, 18)
        assert {c["id"] for c in value["capsules"]} <= set(ids.values())
        both = json.loads(kb("--json", "--html", "page.html"))
        assert both["html"] == str(world.workspace / "page.html")
        assert (world.workspace / "page.html").exists()

    def test_it_has_to_be_said_where_to(self, kb: Cli) -> None:
        kb(code=2)
        assert "nothing was written" in kb.err
        assert "nothing was written" in json.loads(kb("--json", "--html", "-", code=2))["error"]["message"]

    def test_what_could_not_be_read_makes_it_fail_with_the_rest_written(
        self, kb: Cli, world: ReportWorld
    ) -> None:
        eventful(world)
        world.git("update-ref", "refs/hn/memory/nonsense", "HEAD")
        kb("--html", "page.html", code=1)
        assert "warning: the repository's store could not be read" in kb.err
        assert "The repository&#x27;s store could not be read." in (world.workspace / "page.html").read_text()

    def test_a_store_that_is_not_there_cannot_be_asked_for(self, kb: Cli) -> None:
        kb("--html", "page.html", "--store", "home", code=1)
        assert "there is no home store yet" in kb.err
