"""What may be injected, and how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory import cleanroom
from tests.memory.support import state_of


class TestReviewTopics:
    @pytest.mark.parametrize("name", ["review", "review-12", "reviewing", "Review_PR"])
    def test_are_those_whose_name_starts_with_review(self, name: str) -> None:
        assert cleanroom.is_review(name, None)

    @pytest.mark.parametrize(
        "target",
        [
            "PR 12",
            "pr #12",
            "PR#12",
            "the sync change, PR 12, second round",
            "pull request #12",
            "https://github.com/owner/repo/pull/12",
            "https://github.com/owner/repo/pull/12/files",
            "<https://git.example.org/group/repo/-/merge_requests/7>",
            "https://bitbucket.org/o/r/pull-requests/3",
            "github.com/owner/repo/pull/12",
            "(http://localhost:3000/o/r/pulls/3)",
            "pull-request 12",
        ],
    )
    def test_are_those_whose_target_is_a_pull_request(self, target: str) -> None:
        assert cleanroom.is_review("x", f"topic: x\ntarget: {target}\n")
        assert cleanroom.is_review("x", f"- **Target:** {target}\n")

    @pytest.mark.parametrize(
        "spec",
        [
            None,
            "",
            "target: the retry code\n",
            "target: spread the PR work\n",
            "target: PRs 12\n",
            "target: https://github.com/o/r/pulls\n",
            "target: https://github.com/o/r/issues/12\n",
            "target: https://github.com/o/r/pull/new, see docs/pull/12\n",
            "target: src/pull/12\n",
            "target: " + "/pull/" * 150_000 + "1\n",
            "see PR 12\n",
            "target: src/retry.py\ntarget: PR 12\n",
            "targets: PR 12\n",
        ],
    )
    def test_are_not_the_others(self, spec: str | None) -> None:
        assert not cleanroom.is_review("fix-review", spec)


class TestFindings:
    @pytest.mark.parametrize(
        "heading",
        [
            "Verified facts",
            "## Verified Facts",
            "VERIFIED FACTS:",
            "findings",
            "### Findings (3)",
            "Verdict: approve with nits",
            "**Verdict**",
            "**Verdict:** fine",
            "Inline comments:",
            "# Pending review draft",
            "- Things checked:",
            "3. Things checked",
            "Net:",
            "## NET",
            "> Findings:",
            "Prior findings:",
            "## Findings so far",
            "Findings so far:",
            "Verified facts and findings:",
            "Verdict \u2014 approve",
            "**Net** - three small things",
        ],
    )
    def test_are_left_out_from_their_heading_on(self, heading: str) -> None:
        spec = f"topic: x\naction: look at it\n{heading}\nthe lock is wrong\ntarget: later\n"
        assert cleanroom.without_findings(spec) == "topic: x\naction: look at it"

    @pytest.mark.parametrize(
        "line",
        [
            "-" * 1_000_000 + ">",
            "network is slow",
            "Net income fell",
            "net-new code",
            "Net of the retries we add for clients, that is:",
            "Network settings:",
            "the verdict is open",
            "findings are welcome in the channel",
            "verified facts matter here",
            "# Network",
            "things checked by nobody",
            "",
        ],
    )
    def test_are_not_what_only_sounds_like_them(self, line: str) -> None:
        assert not cleanroom.is_findings_heading(line)

    def test_stay_in_the_spec_of_another_topic(self) -> None:
        spec = "topic: x\nFindings:\nthe lock is wrong\n"
        assert cleanroom.visible_spec("x", spec) == spec
        assert cleanroom.visible_spec("review-x", spec) == "topic: x"

    def test_are_left_out_before_the_size_is_looked_at(self) -> None:
        spec = "target: PR 12\nFindings:\n" + "x" * 5000
        assert cleanroom.fits(cleanroom.visible_spec("x", spec))
        assert not cleanroom.fits(cleanroom.visible_spec("y", spec.replace("PR 12", "y")))


class TestBounds:
    def test_a_spec_of_2500_characters_fits_and_one_of_2501_does_not(self) -> None:
        assert cleanroom.fits("x" * 2500)
        assert not cleanroom.fits("x" * 2501)
        assert cleanroom.fits("😀" * 2500)

    def test_a_tail_has_at_most_12_whole_entries(self) -> None:
        lines = [f"entry {n}" for n in range(20)]
        assert cleanroom.tail(lines) == lines[8:]

    def test_a_tail_has_at_most_3000_characters(self) -> None:
        lines = ["x" * 999 for _ in range(5)]
        assert cleanroom.tail(lines) == lines[:3]
        assert cleanroom.tail([*lines[:3], "y" * 1500]) == ["x" * 999, "y" * 1500]

    def test_a_tail_has_no_gap(self) -> None:
        assert cleanroom.tail(["old", "x" * 3000, "new"]) == ["new"]
        assert cleanroom.tail(["old", "x" * 3001]) == []
        assert cleanroom.tail([]) == []

    def test_size_is_counted_as_javascript_counts_it(self) -> None:
        for text in ("", "abc", "ü☃", "😀x", "\ud800", "a\U0010ffffb"):
            assert cleanroom.utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


class TestSummaries:
    def test_are_the_summary_line(self) -> None:
        assert cleanroom.summary("x", "topic: x\nsummary: Retry storms\ntarget: y\n") == "Retry storms"

    def test_are_target_and_action_otherwise(self) -> None:
        assert cleanroom.summary("x", "summary: \ntarget: the client\naction: fix\n") == "the client; fix"
        assert cleanroom.summary("x", "Action: fix\n") == "fix"
        assert cleanroom.summary("x", "nothing of the kind\n") == ""

    def test_have_at_most_180_characters_on_one_line(self) -> None:
        assert cleanroom.summary("x", "summary: " + "y" * 180) == "y" * 180
        cut = cleanroom.summary("x", "summary: " + "word " * 60)
        assert len(cut) <= 180
        assert cut.endswith("…")
        assert cleanroom.summary("x", "summary: a\tb  c") == "a b c"

    def test_of_review_topics_do_not_come_from_the_findings(self) -> None:
        assert cleanroom.summary("review-x", "Findings:\nsummary: it is wrong\n") == ""


class TestInjectionIsOff:
    @pytest.mark.parametrize("value", ["0", "false", "no", "off", "disabled", "OFF", " 0 "])
    def test_by_the_variable(self, tmp_path: Path, value: str) -> None:
        assert cleanroom.injection_off(state_of(tmp_path), {"AGENT_HOOK_CONTEXT": value}, "x")

    @pytest.mark.parametrize("value", ["", "1", "on", "true", "nope"])
    def test_not_by_other_values(self, tmp_path: Path, value: str) -> None:
        assert not cleanroom.injection_off(state_of(tmp_path), {"AGENT_HOOK_CONTEXT": value}, "x")

    def test_by_the_workspaces_sentinel(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        Path(state.path("_no_session_context")).touch()
        assert cleanroom.injection_off(state, {}, "x") == "_no_session_context"
        assert cleanroom.injection_off(state, {}, None)

    def test_by_the_topics_sentinel_for_that_topic(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        Path(state.path("x.no_context")).touch()
        assert cleanroom.injection_off(state, {}, "x") == "x.no_context"
        assert not cleanroom.injection_off(state, {}, "y")

    def test_by_a_dangling_link_too(self, tmp_path: Path) -> None:
        state = state_of(tmp_path)
        Path(state.path("x.no_context")).symlink_to("/no/where")
        assert cleanroom.injection_off(state, {}, "x")
