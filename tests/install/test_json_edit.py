"""The settings surgeon: what it adds it can take out again, and nothing else moves."""

from __future__ import annotations

import json
from typing import Any

import json5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_base.errors import SuiteError
from agent_install import json_edit
from agent_install.jsonc import NotJson, loads
from tests.conftest import examples

MARK = "--by=agent-hook-suite"
OURS = f"'/home/o'\"'\"'neil/my hooks/session_context.py' --harness claude {MARK}"
WANTED: dict[str, list[dict[str, Any]]] = {
    "SessionStart": [{"hooks": [{"type": "command", "command": OURS, "timeout": 10}]}],
    "PostToolUse": [{"hooks": [{"type": "command", "command": f"d.sh {MARK}"}]}],
}
FOREIGN = {"type": "command", "command": "python3 ~/.other/hook.py --harness claude"}


def pretty(value: Any, **keywords: Any) -> bytes:
    return (json.dumps(value, indent=2, **keywords) + "\n").encode()


CORPUS: dict[str, bytes] = {
    "an empty object": b"{}",
    "an empty object with a line break": b"{}\n",
    "one line": b'{"model":"opus","permissions":{"allow":["Bash(ls:*)"]}}',
    "one line, spaced": b'{"model": "opus", "list": [1, 2]}\n',
    "two spaces": pretty({"model": "opus", "env": {"A": "b"}}),
    "four spaces": json.dumps({"model": "opus", "env": {"A": "b"}}, indent=4).encode(),
    "tabs": json.dumps({"model": "opus", "env": {"A": "b"}}, indent="\t").encode() + b"\n",
    "no line break at the end": b'{\n  "a": 1\n}',
    "three spaces, keys out of order": b'{\n   "z": 1,\n   "a": {\n      "y": 2,\n      "b": 3\n   }\n}\n',
    "line comments": (
        b'// mine\n{\n  // model\n  "model": "opus", // best\n  "x": 1 // last\n  // end\n}\n// bye\n'
    ),
    "block comments": (
        b'/* a */ {\n  /* b */ "model" /* c */ : /* d */ "opus" /* e */\n  /* f */\n} /* g */\n'
    ),
    "trailing commas": b'{\n  "model": "opus",\n  "list": [\n    1,\n    2,\n  ],\n}\n',
    "a byte-order mark": b'\xef\xbb\xbf{\n  "model": "opus"\n}\n',
    "CRLF": b'{\r\n  "model": "opus",\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    "CRLF and comments": b'{\r\n  "model": "opus" // x\r\n}\r\n',
    "other events": pretty({"hooks": {"Stop": [{"hooks": [FOREIGN]}]}, "z": 1}),
    "other hooks on the same events": pretty(
        {
            "hooks": {
                "SessionStart": [{"matcher": "startup", "hooks": [FOREIGN]}],
                "PostToolUse": [{"hooks": []}],
            }
        }
    ),
    "other tools' hooks in odd layout": (
        b'{ "hooks" : { "SessionStart" : [ { "matcher":"", "hooks":[ {"type":"command",\n'
        b'"command":"other"} ]}\n, {"hooks":[]}   ] } ,"b":2}'
    ),
    "an empty hooks object": b'{\n  "hooks": {},\n  "b": 2\n}\n',
    "empty arrays": b'{\n  "hooks": {\n    "SessionStart": [],\n    "PostToolUse": []\n  }\n}\n',
    "unusual entries in the arrays": pretty(
        {"hooks": {"SessionStart": [1, "x", None, [FOREIGN], {"hooks": 3}]}}
    ),
    "braces and comments inside strings": pretty({"a": "} // no /* comment */ {", "b": '\\" ]', "c": "[,]"}),
    "Unicode": pretty({"größe": "☃ 日本語 🎉", "e": "\u2028"}, ensure_ascii=False),
    "escaped surrogates": b'{\n  "a": "\\ud83c\\udf89 \\ud800"\n}\n',
    "the same key twice": b'{\n  "hooks": {"Stop": []},\n  "a": 1,\n  "hooks": {"SessionStart": []}\n}\n',
    "deep": b'{"a":' + b"[" * 150 + b"]" * 150 + b"}",
    "numbers of every kind": b'{"a": [0, -1, 1.50, 1e10, -0.0E-2]}',
    "an empty object of spaces": b"{  }",
    "an empty object over lines": b"{ \n\n }\n",
    "an empty object with a comment": b"{ /* none */ }\n",
    "an empty object with a line comment": b"{ // none\n\t}\n",
    "hooks of white space": b'{\n "hooks": {"SessionStart": [ ], "PostToolUse": [\n\n /* x */ ] }\n}',
    "hooks of white space on one line": b'{"hooks": { }}',
    "old line ends": b'{"hooks": {// none\r}}\r',
    "a line comment behind the last of a line": b'{"model": "opus" // best\n}\n',
    "a line comment behind a trailing comma": b'{"a": 1, /* x */ // best\n}\n',
    "line comments behind the last entries": (
        b'{"hooks": {"SessionStart": [{"hooks": []} // mine\n], "PostToolUse": [] // none\n} // end\n} // z'
    ),
    "blank lines": b'\n\n{\n\n  "a": 1,\n\n\n  "b": 2\n\n}\n\n',
}


@pytest.mark.parametrize("name", CORPUS)
def test_what_is_added_can_be_taken_out_and_every_byte_is_as_before(name: str) -> None:
    before = CORPUS[name]
    after = json_edit.add(before, WANTED)
    assert after != before
    assert json_edit.remove(after, MARK, json_edit.shape(before)) == before


@pytest.mark.parametrize("name", CORPUS)
def test_an_independent_parser_finds_the_old_settings_and_our_entries_last(name: str) -> None:
    def read(data: bytes) -> Any:
        text = data.decode().removeprefix("\ufeff")
        try:
            return json.loads(text)
        except ValueError:
            return json5.loads(text)

    expected = read(CORPUS[name])
    for event, groups in WANTED.items():
        expected.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    assert read(json_edit.add(CORPUS[name], WANTED)) == expected


@pytest.mark.parametrize("name", CORPUS)
def test_editing_inserts_and_never_deletes_or_moves_a_byte(name: str) -> None:
    after = iter(json_edit.add(CORPUS[name], WANTED))
    blank = b" \t\r\n" if name.startswith(("an empty object", "hooks of white", "old line")) else b""
    assert all(byte in after for byte in CORPUS[name] if byte not in blank)


@pytest.mark.parametrize("name", CORPUS)
def test_our_entries_are_found_again(name: str) -> None:
    assert json_edit.entries(CORPUS[name], MARK) == {}
    assert json_edit.entries(json_edit.add(CORPUS[name], WANTED), MARK) == WANTED


def test_a_file_that_is_absent_or_empty_becomes_settings() -> None:
    for nothing in (None, b"", b"\n", b"  \r\n"):
        made = json_edit.add(nothing, WANTED, {"version": 1})
        assert json.loads(made) == {"version": 1, "hooks": WANTED}
    assert json_edit.add(None, WANTED).endswith(b"}\n")
    assert json_edit.remove(b"\n", MARK) == b"\n"
    assert json_edit.entries(b"", MARK) == {}


@pytest.mark.parametrize("nothing", [b"", b"\n", b"  \r\n", b"\xef\xbb\xbf \n"])
def test_a_file_of_white_space_is_that_again(nothing: bytes) -> None:
    before = json_edit.shape(nothing)
    made = json_edit.add(nothing, WANTED, {"version": 1})
    assert json_edit.remove(made, MARK, before) == nothing
    grown = made.replace(b'"version": 1,', b'"version": 1, "theme": "x",')
    assert json.loads(json_edit.remove(grown, MARK, before).removeprefix(b"\xef\xbb\xbf")) == {
        "version": 1,
        "theme": "x",
    }


@pytest.mark.parametrize("comment", [b"// mine\n", b"/* mine */"])
def test_a_comment_in_a_file_that_held_nothing_stays(comment: bytes) -> None:
    made = json_edit.add(b"\n", WANTED, {"version": 1})
    commented = made.replace(b'"version"', comment + b'"version"')
    rest = json_edit.remove(commented, MARK, json_edit.shape(b"\n"))
    assert comment in rest
    assert loads(rest.decode()) == {"version": 1}
    assert not json_edit.is_bare(rest)
    assert json_edit.is_bare(rest.replace(comment, b""))


def test_white_space_is_put_back_only_where_the_rest_is_as_it_was() -> None:
    before = b'{"a": 1, "hooks": { \n }}\n'
    after = json_edit.add(before, WANTED)
    assert json_edit.remove(after.replace(b'"a": 1', b'"a": 2'), MARK, json_edit.shape(before)) == (
        before.replace(b'"a": 1', b'"a": 2')
    )
    commented = after.replace(b'"SessionStart"', b'/* mine */ "SessionStart"')
    assert b"/* mine */" in json_edit.remove(commented, MARK, json_edit.shape(before))
    assert json_edit.shape(None) == {}
    assert json_edit.shape(before) == {"root": "", "hooks": " \n "}


def test_a_comment_stays_beside_what_it_was_about() -> None:
    after = json_edit.add(b'{"model": "opus" // best\n}\n', WANTED)
    assert after.startswith(b'{"model": "opus", // best\n  "hooks": {\n')


def test_the_habits_of_the_file_are_taken_up() -> None:
    tabs = json_edit.add(CORPUS["tabs"], WANTED)
    assert b'\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{\n' in tabs
    crlf = json_edit.add(CORPUS["CRLF"], WANTED)
    assert crlf.count(b"\n") == crlf.count(b"\r\n")
    line = json_edit.add(CORPUS["one line"], WANTED)
    assert b"\n" not in line
    assert b': "' not in line
    trailing = json_edit.add(CORPUS["trailing commas"], WANTED)
    assert trailing.endswith(b"},\n}\n")
    comments = json_edit.add(CORPUS["line comments"], WANTED)
    assert b'"x": 1, // last\n  // end\n  "hooks": {' in comments


WRONG: dict[str, tuple[bytes, type[SuiteError], str]] = {
    "an array at the top": (b"[]", json_edit.WrongShape, "found an array"),
    "a string at the top": (b'"x"', json_edit.WrongShape, "found a string"),
    "null at the top": (b"null", json_edit.WrongShape, "found null"),
    "hooks an array": (b'{"hooks": []}', json_edit.WrongShape, 'object at "hooks", found an array'),
    "hooks null": (b'{"hooks": null}', json_edit.WrongShape, "found null"),
    "hooks a boolean": (b'{"hooks": true}', json_edit.WrongShape, "found a boolean"),
    "an event an object": (b'{"hooks": {"SessionStart": {}}}', json_edit.WrongShape, "found an object"),
    "an event a number": (b'{"hooks": {"PostToolUse": 1.5}}', json_edit.WrongShape, "found a number"),
    "cut": (b'{"hooks": {', NotJson, "the end of the file"),
    "two documents": (b"{} {}", NotJson, "line 1, column 4"),
    "single quotes": (b"{'a': 1}", NotJson, "line 1, column 2"),
    "bare words": (b"{a: 1}", NotJson, "found"),
    "only a comma": (b'{"a": [,]}', NotJson, "found"),
    "two commas": (b'{"a": 1,,}', NotJson, "found"),
    "a comma in an empty object": (b"{,}", NotJson, "found"),
    "an open comment": (b'{"a": 1} /* x', NotJson, "found"),
    "NaN": (b'{"a": NaN}', NotJson, "NaN"),
    "not UTF-8": (b'{"a": "\xff"}', NotJson, "byte 7 is not UTF-8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), NotJson, "not UTF-8"),
    "a raw line break in a string": (b'{"a": "x\ny"}', NotJson, "line 1"),
    "very deep": (b"[" * 100_000, NotJson, "deeply"),
    "merge conflict": (b'{\n<<<<<<< HEAD\n  "a": 1\n}\n', NotJson, "line 2, column 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_edited_is_refused_with_the_place_and_the_reason(name: str) -> None:
    data, kind, words = WRONG[name]
    with pytest.raises(kind) as caught:
        json_edit.add(data, WANTED)
    assert words in caught.value.message


def test_a_handler_that_was_moved_into_a_foreign_group_is_taken_out_alone() -> None:
    ours = {"type": "command", "command": OURS}
    both = pretty({"hooks": {"SessionStart": [{"matcher": "x", "hooks": [ours, FOREIGN, ours]}]}, "z": 1})
    assert json.loads(json_edit.remove(both, MARK)) == {
        "hooks": {"SessionStart": [{"matcher": "x", "hooks": [FOREIGN]}]},
        "z": 1,
    }
    assert json_edit.entries(both, MARK) == {"SessionStart": [ours, ours]}


def test_flat_entries_are_recognised_by_command_and_by_bash() -> None:
    flat = pretty(
        {"version": 1, "hooks": {"sessionStart": [{"command": OURS}, {"bash": OURS}, {"bash": "x"}]}}
    )
    assert json.loads(json_edit.remove(flat, MARK))["hooks"] == {"sessionStart": [{"bash": "x"}]}


def test_entries_that_somebody_added_after_ours_stay() -> None:
    after = json.loads(json_edit.add(b"{}", WANTED))
    after["hooks"]["SessionStart"].append({"hooks": [FOREIGN]})
    after["new"] = True
    assert json.loads(json_edit.remove(pretty(after), MARK)) == {
        "hooks": {"SessionStart": [{"hooks": [FOREIGN]}]},
        "new": True,
    }


def test_comments_beside_our_entries_stay() -> None:
    after = json_edit.add(CORPUS["line comments"], WANTED)
    text = after.decode().replace('    "PostToolUse"', '    // about tools\n    "PostToolUse"', 1)
    left = json_edit.remove(text.encode(), MARK).decode()
    assert "// about tools" in left
    assert MARK not in left
    assert loads(left)["model"] == "opus"


def test_a_command_that_only_resembles_ours_is_not_ours() -> None:
    for command in ("session_context.py --harness claude", "x --by=agent-hook", "agent-hook-suite"):
        data = pretty({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}})
        assert json_edit.remove(data, MARK) == data


def test_five_megabytes_are_edited_without_moving_a_byte() -> None:
    rows = b",\n    ".join(b'{"name": "tool %d", "allow": [true, %d, "x"]}' % (n, n) for n in range(110_000))
    before = b'{\n  // many\n  "rows": [\n    ' + rows + b'\n  ],\n  "hooks": {"Stop": []}\n}\n'
    assert len(before) > 5_000_000
    after = json_edit.add(before, WANTED)
    assert json_edit.remove(after, MARK, json_edit.shape(before)) == before


_scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
_groups = st.lists(st.just({"hooks": [FOREIGN]}) | _values, max_size=3)
_hooks = st.dictionaries(st.sampled_from(["SessionStart", "PostToolUse", "Stop"]), _groups, max_size=3)


@examples(150)
@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), _values, max_size=4),
    st.none() | _hooks,
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
)
def test_any_settings_survive_install_and_uninstall(
    value: dict[str, Any], hooks: Any, indent: Any, ascii_only: bool, crlf: bool
) -> None:
    if hooks is not None:
        value["hooks"] = hooks
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    text = text.replace("\n", "\r\n") if crlf else text
    before = text.encode("utf-8", "surrogatepass")
    after = json_edit.add(before, WANTED)
    expected = json.loads(before)
    for event, groups in WANTED.items():
        expected.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    assert json.loads(after) == expected
    assert json_edit.remove(after, MARK, json_edit.shape(before)) == before
