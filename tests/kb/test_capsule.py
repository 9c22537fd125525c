"""Capsules: what goes into a record's content and topics comes back out, and what may not is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_base.inert import shows
from ai_kb import capsule
from ai_kb.errors import EmptyText, InvalidCapsule, Oversized

LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=40).filter(
    shows
)
BODIES = st.lists(st.one_of(LINES, st.just(""), st.just("Refs: x"), st.just("Source: a:1")), max_size=8).map(
    "\n".join
)


@given(title=LINES, body=BODIES.filter(shows), source=LINES)
def test_what_is_joined_is_split_into_the_same_parts(title: str, body: str, source: str) -> None:
    title, body = capsule.checked_text(title, body)
    trailers = (("Source", source.strip()), ("Confidence", "high"))
    content = capsule.join_content(title, body, trailers)
    assert capsule.split_content(content) == (title, body, trailers)


@given(st.text())
def test_any_content_at_all_can_be_read(content: str) -> None:
    title, _body, _ = capsule.split_content(content)
    assert "\n" not in title


def test_a_body_that_ends_like_trailers_stays_body() -> None:
    content = capsule.join_content("T", "Text\n\nRefs: not a trailer", [("Confidence", "low")])
    assert capsule.split_content(content)[1] == "Text\n\nRefs: not a trailer"


def test_content_without_a_body_has_a_title_and_trailers() -> None:
    assert capsule.split_content("Only\n\nSource: a.py:3") == ("Only", "", (("Source", "a.py:3"),))
    assert capsule.split_content("Source: not a trailer here") == ("Source: not a trailer here", "", ())
    assert capsule.split_content("T\n\nbody\n\nSource: a\nnot one") == ("T", "body\n\nSource: a\nnot one", ())


def test_kinds_become_record_kinds() -> None:
    def kinds(kind: str, verified: bool = False, evidence: bool = False) -> tuple[str, str]:
        return capsule.record_kind(kind, verified=verified, has_evidence=evidence)

    for kind in ("fact", "gotcha", "pattern", "recipe"):
        assert kinds(kind) == ("observation", "")
    for kind in ("principle", "decision"):
        assert kinds(kind) == ("decision", "")
    assert kinds("anti_pattern") == ("attempt", "rejected")
    assert kinds("gotcha", verified=True, evidence=True) == ("verification", "")
    assert kinds("gotcha", verified=True) == ("observation", "")
    assert kinds("gotcha", evidence=True) == ("observation", "")


def test_the_taxonomy_is_read_back_from_topics() -> None:
    topics = capsule.topics_of(
        "gotcha", "project", projects=["a" * 40], workspaces=["b" * 64],
        domains=["Django REST"], tags=["Retry", "http", "retry"], by_agent=True,
    )  # fmt: skip
    assert list(topics) == sorted(topics)
    assert "domain/django-rest" in topics
    read = capsule.Capsule("verification", "T\n\nB\n\nSource: s\nRefs: a\nRefs: b", topics)
    assert (read.kind, read.scope, read.by) == ("gotcha", "project", "agent")
    assert read.projects == ("a" * 40,)
    assert read.workspaces == ("b" * 64,)
    assert read.domains == ("django-rest",)
    assert read.tags == ("http", "retry")
    assert read.trailer("Refs") == ["a", "b"]


def test_foreign_records_are_read_as_what_they_are() -> None:
    read = capsule.Capsule("handoff", "T", ("kind/unknown", "scope/planet", "architecture", "by/angel"))
    assert (read.kind, read.scope, read.by, read.tags) == ("handoff", "", "person", ("architecture",))


def test_of_several_scopes_the_narrowest_counts() -> None:
    assert capsule.Capsule("observation", "T", ("scope/universal", "scope/workspace")).scope == "workspace"


@pytest.mark.parametrize(
    ("title", "body", "error"),
    [
        ("", "b", EmptyText),
        ("t", " \n ", EmptyText),
        ("a\nb", "b", InvalidCapsule),
        ("a\u2028b", "b", InvalidCapsule),
        ("\ud800", "b", InvalidCapsule),
        ("t", "\udcff", InvalidCapsule),
        ("x" * 201, "b", Oversized),
    ],
)
def test_text_that_cannot_be_a_capsule_is_refused(title: str, body: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="nothing was changed"):
        capsule.checked_text(title, body)


def test_line_breaks_are_unified_and_outer_space_goes() -> None:
    assert capsule.checked_text(" t ", "\r\n a \r\nb\r\n\n") == ("t", " a\nb")


@pytest.mark.parametrize("value", ["a\nb", "\x1b[31m", "", "  ", "\ud800"])
def test_a_trailer_is_one_plain_line(value: str) -> None:
    with pytest.raises(InvalidCapsule):
        capsule.checked_value("--source", value)


@pytest.mark.parametrize(
    "tag", ["", " - ", "kind/gotcha", "scope/", "by/agent", "Project/x", "a\x01b", "x" * 129, "\ud800"]
)
def test_a_tag_that_would_not_be_one_is_refused(tag: str) -> None:
    with pytest.raises(InvalidCapsule, match="nothing was changed"):
        capsule.checked_tag("--tag", tag)


def test_a_plain_word_may_be_named_like_a_prefix() -> None:
    assert capsule.checked_tag("--tag", "Project") == "project"


def test_more_than_32_topics_are_refused() -> None:
    with pytest.raises(InvalidCapsule, match="35 topics"):
        capsule.topics_of("fact", "universal", tags=[f"t{i}" for i in range(33)])


def test_a_capsule_over_the_protocols_limit_is_refused() -> None:
    assert capsule.checked_size("x" * 65_536)
    with pytest.raises(Oversized, match="65,537 bytes"):
        capsule.checked_size("x" * 65_537)
