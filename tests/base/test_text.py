"""Words for a shell, inert text, and JSON without the json module."""

from __future__ import annotations

import html
import json
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_base import inert, lightjson, shell
from tests.conftest import examples

quick = examples(200)


def read_by_sh(word: str) -> str:
    done = subprocess.run(["sh", "-c", f"printf '%s.' {word}"], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "surrogateescape")[:-1]


class TestShellWords:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "a",
            "a b",
            "it's",
            '"',
            "$(id)`id`$HOME",
            "!x",
            "a\nb",
            "\t",
            "<&>",
            "\\n",
            "-x",
            "ü☃😀",
            "\u202e",
            "\udcff",
        ],
    )
    def test_are_read_back_by_sh(self, text: str) -> None:
        assert read_by_sh(shell.word(text)) == text

    def test_of_plain_text_are_bare(self) -> None:
        assert shell.word("/home/u/project_1-a.b") == "/home/u/project_1-a.b"

    def test_hold_no_nul(self) -> None:
        assert shell.word("a\0b") == "'a b'"

    @given(st.text(max_size=30))
    @quick
    def test_are_one_visible_line_that_forges_no_frame(self, text: str) -> None:
        word = shell.word(text)
        assert not set("<>&\n\r").intersection(word)
        assert inert.terminal(word.replace("\\", "/")) == word.replace("\\", "/")

    def test_join_into_commands_and_options(self) -> None:
        assert shell.command("a", "b c") == "a 'b c'"
        assert shell.option("name", "b c") == "--name 'b c'"
        assert shell.option("name", "-x") == "--name=-x"


class TestBlocks:
    def test_put_every_line_behind_a_prefix(self) -> None:
        assert inert.block("a\n\n# b\r\n\tc\n\n") == "    a\n\n    # b\n    \tc"

    @given(st.text(max_size=80))
    @quick
    def test_hide_nothing_and_start_no_line(self, text: str) -> None:
        block = inert.block(text, "> ")
        for line in block.split("\n"):
            assert line.startswith(">")
        assert not set("<\r\x1b\x85\u2028\u2029\u202e\u200b").intersection(block)
        block.encode()


@pytest.mark.parametrize(
    "hidden",
    [
        "\u3164",
        "\u115f",
        "\uffa0",
        "\u034f",
        "\ufe00",
        "\ufe0d",
        "\U000e0100",
        "\U000e01ef",
        "\U000e0041",
        "\u180b",
    ],
)
def test_letters_and_marks_that_show_as_nothing_are_shown(hidden: str) -> None:
    """A text could be hidden in another by them: one variation selector per byte."""
    assert not inert.shows(f" {hidden}\n\u200b{hidden}")
    assert inert.shows(f"{hidden}a")
    for shown in (inert.json_line(f"a{hidden}b"), inert.terminal(f"a{hidden}b"), inert.block(f"a{hidden}b")):
        assert hidden not in shown
        assert "\\u" in shown
    assert json.loads(inert.json_line(f"a{hidden}b")) == f"a{hidden}b"
    assert hidden not in inert.html(f"a{hidden}b")


def test_what_belongs_to_a_visible_character_stays() -> None:
    for text in ("e\u0301", "\u2764\ufe0f", "\u0915\u094d\u0937", "\U0001f44d\U0001f3fd", "\uac00"):
        assert inert.json_line(text) == f'"{text}"'
        assert inert.block(text, "") == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


class TestLightJson:
    @given(VALUES)
    @quick
    def test_writes_and_reads_what_json_does(self, value: object) -> None:
        compact = json.dumps(value, separators=(",", ":"))
        assert lightjson.dumps(value) == compact
        wide = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        assert lightjson.dumps(value, ascii_only=False) == wide
        assert lightjson.loads(compact) == value
        assert lightjson.loads(f" \n{compact}\t".encode()) == value

    @given(st.text(alphabet='{}[]",:0a1\\utrue nl.-eE\n', max_size=12))
    @quick
    def test_refuses_what_json_refuses(self, text: str) -> None:
        try:
            expected = json.loads(text, strict=False)
        except ValueError:
            with pytest.raises(ValueError):  # noqa: PT011
                lightjson.loads(text)
        else:
            assert lightjson.loads(text) == expected

    @pytest.mark.parametrize("data", [b"", b"\xff", b"{", b"{} {}", "\ufeff", "1 2"])
    def test_says_what_is_wrong_with_a_value_error(self, data: bytes | str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011
            lightjson.loads(data)

    def test_skips_a_byte_order_mark(self) -> None:
        assert lightjson.loads(b"\xef\xbb\xbf[1]") == [1]

    def test_takes_raw_controls_in_strings(self) -> None:
        assert lightjson.loads('"a\tb"') == "a\tb"

    def test_does_not_recurse_without_bound(self) -> None:
        with pytest.raises(RecursionError):
            lightjson.loads("[" * 200_000)

    def test_refuses_what_json_has_no_form_for(self) -> None:
        with pytest.raises(TypeError, match="object"):
            lightjson.dumps({"a": object()})

    def test_falls_back_to_json(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import _json

        for name in ("make_scanner", "make_encoder"):
            monkeypatch.delattr(_json, name)
        assert lightjson.loads('{"a": [1]}') == {"a": [1]}
        assert lightjson.dumps({"a": "ü"}) == '{"a":"\\u00fc"}'
        assert lightjson.dumps("ü", ascii_only=False) == '"ü"'


class TestTextOfAPage:
    def test_it_stays_text_in_an_element_and_in_an_attribute(self) -> None:
        assert inert.html("""<b a='1'>&"</b>""") == "&lt;b a=&#x27;1&#x27;&gt;&amp;&quot;&lt;/b&gt;"
        assert inert.html("plain") == "plain"
        assert inert.html("a\r\nb\tc") == "a\nb\tc"

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("\u202eevil", "\\u202eevil"),
            ("\x1b[31m", "\\u001b[31m"),
            ("\0\r", "\\u0000\\u000d"),
            ("\udc80", "\ufffd"),
            ("a\u200bb\u2028", "a\\u200bb\\u2028"),
            ("\x7f", "\\u007f"),
            ("\U000e0041", "\\udb40\\udc41"),
            ("ü☃😀שלום", "ü☃😀שלום"),
        ],
    )
    def test_what_cannot_be_seen_is_shown(self, text: str, shown: str) -> None:
        assert inert.html(text) == shown

    def test_marks_are_not_piled_up(self) -> None:
        assert inert.html("a" + "\u0301" * 6 + "b\u0301") == "a" + "\u0301" * 6 + "b\u0301"
        assert inert.html("a" + "\u0301" * 8) == "a" + "\u0301" * 6 + "\\u0301\\u0301"

    @quick
    @given(st.text(st.characters()))
    def test_nothing_of_any_text_is_markup_or_hidden(self, text: str) -> None:
        out = inert.html(text)
        assert not set(out) & set("<>\"'")
        kinds = {unicodedata.category(c) for c in out if c not in "\n\t"}
        assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        plain = "".join(
            c for c in text if c == " " or (unicodedata.category(c)[0] not in "CMZ" and inert.shows(c))
        )
        assert html.unescape(inert.html(plain)) == plain
