"""What README and docs name exists: tests, files, links, commands, flags; their transcripts are run."""

from __future__ import annotations

import ast
import importlib
import io
import os
import pkgutil
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agent_base.cli import string_console
from tests.cli.test_transcripts import TRANSCRIPTS
from tests.conftest import REPOSITORY

PAGES = [
    path
    for path in (*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md")))
    if path.name != "CHANGELOG.md"
]
PROVEN = [REPOSITORY / "docs" / name for name in ("reliability.md", "security.md")]
PROGRAMS = {
    ",agent-memory": "agent_memory.cli",
    ",ai-kb": "ai_kb.cli",
    "hn": "ai_kb.hn.cli",
    "./install.sh": "agent_install.cli",
}
TOP = ("agent_base", "agent_memory", "agent_install", "ai_kb", "hooks", "scripts", "tests", "docs", ".ci")
SCREEN = 60  # lines

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_TEST = re.compile(r"`(tests/[\w./-]+\.py)::(\w+)`")
_LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")

page = pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))


def _without_blocks(text: str) -> str:
    """A page without its fenced and indented blocks."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"^ {4}.*$", "", text, flags=re.M)


def _spans(text: str) -> list[str]:
    """Its code spans."""
    return [span for _, span in re.findall(r"(`+)(.+?)\1(?!`)", _without_blocks(text), flags=re.S)]


def _command_lines(text: str) -> list[str]:
    """Everything that reads as a command line: spans, indented blocks, commands of transcripts."""
    lines = [*_spans(text), *re.findall(r"^ {4}(.*)$", text, flags=re.M)]
    joined = text.replace("\\\n", " ")
    lines += re.findall(r"^\$ (.*)$", joined, flags=re.M)
    return [re.sub(r"\s+#\s.*$", "", line).strip() for line in lines]


# --- tests ----------------------------------------------------------------------------------------


@cache
def _tests_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("path", PROVEN, ids=lambda path: path.name)
def test_every_test_that_a_page_names_exists(path: Path) -> None:
    named = _TEST.findall(path.read_text())
    assert len(named) > 50
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (REPOSITORY / file).is_file() or name not in _tests_of(REPOSITORY / file)
    ]
    assert missing == []
    assert all(name.startswith("test_") for _, name in named)
    # Nothing looks like a reference and is read as none.
    assert len(named) == path.read_text().count("::")


@pytest.mark.parametrize("path", PROVEN, ids=lambda path: path.name)
def test_every_row_of_what_is_promised_names_a_test(path: Path) -> None:
    rows = [line for line in path.read_text().splitlines() if line.startswith("| ")]
    header = ""
    promises = 0
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if cells[-1] in ("shown by", "seen in", "where"):
            header = cells[-1]
        elif header == "shown by":
            promises += 1
            assert _TEST.findall(cells[-1]), row
    assert promises > 20


# --- links and files ------------------------------------------------------------------------------


def _anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    found = set()
    for title in re.findall(r"^#{1,6} (.*)$", path.read_text(), flags=re.M):
        kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
        found.add(kept.replace(" ", "-"))
    return found


@page
def test_every_link_leads_somewhere(path: Path) -> None:
    for target in _LINK.findall(path.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = path.parent / file if file else path
        assert there.exists(), f"{path.name}: {target}"
        if anchor:
            assert anchor in _anchors(there), f"{path.name}: {target}"


@page
def test_every_file_of_the_repository_that_is_mentioned_exists(path: Path) -> None:
    for span in _spans(path.read_text()):
        first = span.split("::")[0].split()[0] if span.split() else ""
        place = first.removeprefix("./")
        in_tree = place.split("/")[0] in TOP and "/" in place and re.fullmatch(r"[\w.,/*-]+", place)
        if in_tree or place in ("install.sh", "pyproject.toml"):
            assert list(REPOSITORY.glob(place.rstrip("/"))), f"{path.name}: {span}"


# --- citations ------------------------------------------------------------------------------------

_QUOTED = r'"[^"`]+"(?: \([^()]*\))?(?:, \d+(?:(?:, | and )\d+)*)?'
_SECTIONS = re.compile(rf"docs/(protocol|decisions)\.md, ({_QUOTED}(?:(?:,| and|;|, and) {_QUOTED})*)")
_RULES = re.compile(r"docs/harnesses\.md, rules? (\d+(?:(?:, | and )\d+)*)")
_CITED = re.compile(r"docs/(?:protocol|decisions|harnesses)\.md,")
_DIFFERENCES = "Where this differs from the first implementation"


@cache
def _citing() -> dict[str, str]:
    """Text of every source file, white space joined across lines and their comment signs."""
    places = [REPOSITORY / name for name in TOP]
    files = [path for place in places for path in place.rglob("*") if path.is_file()]
    text = {}
    for path in files:
        if path.suffix in (".py", ".sh", ".js", "") and "data" not in path.parts and path != Path(__file__):
            lines = [line.strip().lstrip("#/ ") for line in path.read_text("utf-8", "replace").splitlines()]
            text[str(path.relative_to(REPOSITORY))] = " ".join(lines)
    return text


def _numbered(name: str, section: str) -> set[str]:
    """Numbers of the numbered list in a section of a page of docs."""
    text = (REPOSITORY / "docs" / name).read_text()
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^(\d+)\. ", body, flags=re.M))


def test_every_section_that_is_cited_exists() -> None:
    titles = {
        name: set(re.findall(r"^## (.*)$", (REPOSITORY / f"docs/{name}.md").read_text(), flags=re.M))
        for name in ("protocol", "decisions")
    }
    differences = _numbered("protocol.md", _DIFFERENCES)
    cited: dict[str, set[str]] = {"protocol": set(), "decisions": set()}
    for file, text in _citing().items():
        for name, sections in _SECTIONS.findall(text):
            for section in re.findall(_QUOTED, sections):
                title, numbers = section[1:].split('"', 1)
                assert title in titles[name], f"{file}: {title}"
                cited[name].add(title)
                found = re.findall(r"\d+", numbers)
                assert not found or title == _DIFFERENCES, f"{file}: {section}"
                assert set(found) <= differences, f"{file}: {section}"
    assert titles["protocol"] - cited["protocol"] == set()
    assert len(cited["decisions"]) > 3


def test_every_rule_that_is_cited_exists() -> None:
    rules = _numbered("harnesses.md", "Rules")
    cited = 0
    for file, text in _citing().items():
        for numbers in _RULES.findall(text):
            cited += 1
            assert set(re.findall(r"\d+", numbers)) <= rules, f"{file}: {numbers}"
    assert cited > 3
    assert rules == {str(number) for number in range(1, len(rules) + 1)}


def test_every_citation_of_a_page_says_which_section_or_rule() -> None:
    for file, text in _citing().items():
        understood = len(_SECTIONS.findall(text)) + len(_RULES.findall(text))
        assert understood == len(_CITED.findall(text)), file


# --- commands and flags ---------------------------------------------------------------------------


@cache
def _help(program: str, *verbs: str) -> tuple[int, str]:
    main = importlib.import_module(PROGRAMS[program]).main
    console = string_console(dict(os.environ))
    code = main([*verbs, "--help"], console)
    assert isinstance(console.stdout, io.StringIO)
    return code, console.stdout.getvalue()


def _verbs(words: list[str]) -> list[str]:
    """The words after a program's name that can be verbs: up to the first that cannot."""
    verbs: list[str] = []
    for word in words:
        if not re.fullmatch(r"[a-z][a-z-]*(\|[a-z-]+)*", word):
            break
        verbs.append(word.split("|")[0])
    return verbs[:3]


def _said(line: str) -> Iterator[tuple[str, list[str]]]:
    """Each program of a line with the words behind it."""
    try:
        words = shlex.split(line.replace("$(", " ").replace(")", " "))
    except ValueError:
        words = line.split()
    starts = [number for number, word in enumerate(words) if word in PROGRAMS]
    for start, end in zip(starts, [*starts, len(words)][1:], strict=True):
        stop = next((n for n in range(start + 1, end) if words[n] in ("|", "&&", ";", ">", ">>")), end)
        yield words[start], words[start + 1 : stop]


@page
def test_every_command_that_is_mentioned_has_the_verb_and_the_flags(path: Path) -> None:
    for line in _command_lines(path.read_text()):
        for program, words in _said(line):
            if program == "./install.sh" and "--demo" in words:
                continue  # the shell's own
            code, text = _help(program, *_verbs(words))
            assert code == 0, f"{path.name}: {line}"
            for word in words:
                for flag in _FLAG.findall(word) if word.startswith("--") else ():
                    assert re.search(rf"{flag}(?![\w-])", text), f"{path.name}: {flag} in {line}"


@cache
def _every_flag() -> frozenset[str]:
    """The flags of every verb of every program, of the scripts, the installer and the hooks."""
    text = _help("./install.sh")[1]
    for program, package in (
        (",agent-memory", "agent_memory.commands"),
        (",ai-kb", "ai_kb.commands"),
        ("hn", "ai_kb.hn.commands"),
    ):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            name = module.name.replace("_", "-")
            if not name.startswith("-"):
                text += _help(program, name)[1] + _help(program, "memory", name)[1]
    for file in ("install.sh", "hooks/worklog_dispatcher.sh", "agent_install/adapters.py"):
        text += (REPOSITORY / file).read_text()
    for script in (REPOSITORY / "scripts").iterdir():
        if script.is_file():
            text += script.read_text()
    return frozenset(_FLAG.findall(text))


@page
def test_every_flag_that_is_mentioned_by_itself_exists(path: Path) -> None:
    for span in _spans(path.read_text()):
        if span.startswith("--"):
            assert set(_FLAG.findall(span)) <= _every_flag(), f"{path.name}: {span}"


@page
def test_every_flag_of_a_script_that_is_mentioned_is_in_it(path: Path) -> None:
    for line in _command_lines(path.read_text()):
        found = re.match(r"(?:\./)?(scripts/\w+|install\.sh)(?:\s+(.*))?$", line)
        if found:
            script = REPOSITORY / found[1]
            text = script.read_text() + (_help("./install.sh")[1] if found[1] == "install.sh" else "")
            for flag in _FLAG.findall(found[2] or ""):
                assert flag in text, f"{path.name}: {line}"


# --- transcripts and size -------------------------------------------------------------------------


@page
def test_no_transcript_is_left_unrun(path: Path) -> None:
    """Console blocks stand only in pages that tests/cli/test_transcripts.py runs."""
    if "```console" in path.read_text():
        assert path in TRANSCRIPTS
    if path.name in ("README.md", "tour.md"):
        assert "```console" in path.read_text()


def test_the_readme_is_two_screens_before_its_reference() -> None:
    before = (REPOSITORY / "README.md").read_text().partition("\n## Reference\n")
    assert before[1]
    assert before[0].count("\n") <= 2 * SCREEN
