"""Codex's config.toml: tables are appended, found by their marker, and taken out to the byte."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from agent_install import toml_edit
from agent_install.json_edit import WrongShape
from tests.conftest import examples

MARK = "--by=agent-hook-suite"
WANTED: dict[str, list[dict[str, Any]]] = {
    "SessionStart": [
        {"hooks": [{"type": "command", "command": f"'/a \"b\\c'/s.py {MARK}", "timeout": 10, "async": False}]}
    ],
    "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"d.sh {MARK}"}]}],
}
FOREIGN = (
    b'[[hooks.SessionStart]]\nmatcher = "x"\n'
    b'[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "other"\n'
)

CORPUS: dict[str, bytes] = {
    "empty": b"",
    "a comment": b"# mine\n",
    "values": b'model = "gpt"  # best\n\n[tui]\ntheme = "dark"\n',
    "blank lines at the end": b"a = 1\n\n\n",
    "CRLF": b'a = 1\r\n\r\n[tui]\r\nb = "x"\r\n',
    "a byte-order mark": b"\xef\xbb\xbfa = 1\n",
    "other hooks on the same event": b"a = 1\n" + FOREIGN,
    "other hooks and a table after them": FOREIGN + b"\n# next\n[tui]\nb = 1\n",
    "stored trust": b'[hooks.state."/h/hooks.json:session_start:0:0"]\ntrusted_hash = "sha256:1"\n',
    "text that looks like tables": (
        b"a = \"\"\"\n[[hooks.SessionStart]]\n# --by=agent-hook-suite\n\"\"\"\nb = '''\n[x]\n'''\n"
        b'c = "[[hooks.PostToolUse]]" # [[hooks.PostToolUse]]\n'
    ),
    "arrays over lines": b'a = [\n  [1],\n  ["x"],\n]\n[t]\nb = 1\n',
    "quoted keys": b'["a.b"."c]d"]\nx = 1\n[projects."/home/o\'neil"]\ntrust_level = "trusted"\n',
    "an empty table of hooks": b'model = "x"\n[hooks]\n',
    "empty tables of hooks and trust": b"[hooks]\n# none\n[hooks.state]\n",
    "Unicode": '# größe\n[t]\n"日本" = "🎉"\n'.encode(),
}
LATER = b'\n# by somebody else\n[hooks.state."z"]\ntrusted_hash = "q"\n\n[new]\nc = 1\n'


@pytest.mark.parametrize("name", CORPUS)
def test_what_is_added_can_be_taken_out_and_every_byte_is_as_before(name: str) -> None:
    after = toml_edit.add(CORPUS[name], WANTED)
    assert after.startswith(CORPUS[name])
    assert toml_edit.entries(after, MARK) == WANTED
    assert toml_edit.remove(after, MARK) == CORPUS[name]


@pytest.mark.parametrize("name", [name for name in CORPUS if name != "CRLF"])
def test_what_came_after_our_tables_stays(name: str) -> None:
    after = toml_edit.add(CORPUS[name], WANTED) + LATER.replace(b'."z"', b'."later"')
    assert toml_edit.remove(after, MARK) == CORPUS[name] + LATER.replace(b'."z"', b'."later"')


@pytest.mark.parametrize("name", CORPUS)
def test_an_independent_parser_finds_the_old_settings_and_our_tables(name: str) -> None:
    def read(data: bytes) -> Any:
        return tomlkit.parse(data.decode().removeprefix("\ufeff")).unwrap()

    expected = read(CORPUS[name])
    for event, groups in WANTED.items():
        expected.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    assert read(toml_edit.add(CORPUS[name], WANTED)) == expected


def test_a_last_line_without_a_line_break_gets_one_that_stays() -> None:
    after = toml_edit.add(b"a = 1", WANTED)
    assert toml_edit.remove(after, MARK) == b"a = 1\n"


def test_tables_that_another_editor_has_moved_about_are_still_found() -> None:
    document = tomlkit.parse(toml_edit.add(CORPUS["other hooks on the same event"], WANTED).decode())
    document["added"] = 1
    document["tui"] = {"theme": "dark"}
    moved = tomlkit.dumps(document).encode()
    left = tomllib.loads(toml_edit.remove(moved, MARK).decode())
    assert left["added"] == 1
    assert left["tui"] == {"theme": "dark"}
    assert left["hooks"] == tomllib.loads(FOREIGN.decode())["hooks"]


@pytest.mark.parametrize(
    "data",
    [b"[hooks]\nSessionStart = []\n", b"hooks = {}\n", b"[hooks.SessionStart]\na = 1\n", b"hooks = 1\n"],
)
def test_hooks_declared_in_a_way_that_cannot_be_extended_are_refused(data: bytes) -> None:
    with pytest.raises(WrongShape):
        toml_edit.add(data, WANTED)


@pytest.mark.parametrize("data", [b"a = ", b"[a\n", b"a = 1\na = 2\n", b"\xff", b"<<<<<<< HEAD\n"])
def test_what_is_no_toml_is_refused(data: bytes) -> None:
    with pytest.raises(toml_edit.NotToml):
        toml_edit.add(data, WANTED)


def test_only_declared_hooks_count_as_hooks() -> None:
    assert toml_edit.has_hooks(CORPUS["other hooks on the same event"])
    assert not toml_edit.has_hooks(CORPUS["stored trust"])
    assert not toml_edit.has_hooks(b"")


KEYS = {
    '/home/o\'neil/my "h"/hooks.json:session_start:0:0': "sha256:a",
    "/h\\x/[y]/hooks.json:post_tool_use:1:0": "sha256:b",
}


@pytest.mark.parametrize("name", CORPUS)
def test_stored_trust_can_be_taken_out_and_other_trust_stays(name: str) -> None:
    after = toml_edit.add_trust(CORPUS[name], KEYS)
    stored = toml_edit.trusted(after)
    assert {key: stored[key] for key in KEYS} == {k: {"trusted_hash": h} for k, h in KEYS.items()}
    assert toml_edit.add_trust(after, KEYS) == after
    assert toml_edit.remove_trust(after) == CORPUS[name]


def test_trust_that_codex_stored_for_another_definition_is_not_overwritten() -> None:
    key = "/h/hooks.json:session_start:0:0"
    with pytest.raises(WrongShape):
        toml_edit.add_trust(CORPUS["stored trust"], {key: "sha256:2"})


def test_uninstalling_takes_stored_trust_along() -> None:
    both = toml_edit.add_trust(toml_edit.add(CORPUS["values"], WANTED), KEYS)
    assert toml_edit.remove(both, MARK) == CORPUS["values"]


_scalar = st.integers(-9, 9) | st.booleans() | st.text(alphabet="ab[]\"'#\\\n= ", max_size=8)
_table = st.dictionaries(st.text(alphabet="ab.[]\"'# ", min_size=1, max_size=4), _scalar, max_size=3)


@examples(80)
@given(st.dictionaries(st.text(alphabet='xyz."[] ', min_size=1, max_size=4), _table | _scalar, max_size=4))
def test_any_configuration_survives_install_and_uninstall(value: dict[str, Any]) -> None:
    before = tomlkit.dumps(value).encode()
    after = toml_edit.add_trust(toml_edit.add(before, WANTED), KEYS)
    left = toml_edit.remove(after, MARK)
    assert left == (before if before.endswith(b"\n") or not before else before + b"\n")
