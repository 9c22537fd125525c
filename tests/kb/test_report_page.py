"""The page of ``,ai-kb report``: its markup by an HTML parser, and the page itself in headless Chromium."""

from __future__ import annotations

import base64
import hashlib
import http.server
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agent_base import inert
from agent_memory import ledger
from ai_kb import inject_text, report_data, report_html, report_page
from ai_kb.report_data import CapsuleInfo, Listed, Report
from ai_kb.report_html import VOID
from tests.conftest import PATIENCE
from tests.kb.reportworld import NOW, ReportWorld, eventful

BREAKOUT = '</script></style></title><script>document.title="pwned"</script><img src=x onerror=alert(1)>'
HIDDEN = "\u202eevil\u202c \x1b[31mred\x1b[0m \u200b\u2066 \0 \r \U000e0041"
QUOTES = "\" onmouseover='alert(1)' x=` & &lt;b&gt; &#x3c; <!-- ]]> -->"
PILE = "zalgo" + "\u0301" * 60
HOSTILE = (BREAKOUT, HIDDEN, QUOTES, PILE, "javascript:alert(1)", "عربي עברית", "W" * 400)

_ELEMENTS = frozenset(
    "a b bdi body button caption code dd details div dl dt figcaption figure footer h1 h2 h3 head header "
    "html input label li main meta nav ol option p script section select small span strong style summary "
    "table tbody td th thead time title tr ul "
    "circle defs g line marker path pattern rect svg symbol text use".split()
)
_ATTRIBUTES = frozenset(
    "aria-describedby aria-hidden aria-label aria-labelledby aria-live autocomplete charset class content "
    "data-kind data-made-by data-state data-store datetime dir focusable hidden href http-equiv id lang "
    "maxlength name open role scope spellcheck tabindex title type value "
    "cx cy d height marker-end markerheight markerunits markerwidth orient patternunits preserveaspectratio "
    "r refx refy rx text-anchor viewbox width x x1 x2 y y1 y2".split()
)


class Reader(HTMLParser):
    """A page taken apart. Fails on anything that is not balanced or not ours."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []  # element, attribute, value
        self.texts: list[tuple[str, str]] = []  # element, text
        self.raw: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _ELEMENTS, tag
        assert len({name for name, _ in attrs}) == len(attrs), attrs
        for name, value in attrs:
            assert name in _ATTRIBUTES, (tag, name)
            self.attributes.append((tag, name, value or ""))
        self.elements[tag] += 1
        self.texts.append(("", ""))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        where = self._open[-1] if self._open else ""
        if where in ("style", "script"):
            self.raw[where] = self.raw.get(where, "") + data
        elif self.texts and self.texts[-1][0] == where:
            self.texts[-1] = (where, self.texts[-1][1] + data)
        else:
            self.texts.append((where, data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:80]}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data[:80]}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data[:80]}")

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.texts)


@pytest.fixture
def world(repository: Path, isolated: dict[str, str]) -> ReportWorld:
    return ReportWorld(repository, isolated)


def page_of(made: Report) -> str:
    return report_page.page(made).decode()


def hostile(world: ReportWorld) -> Report:
    """A report in which every text that somebody else may choose is hostile."""
    world.trust_this_clone()
    store = world.repo()
    me, eve = store.identity(), world.author('<b onclick="x">Eve</b> & \'"', 9)
    path = "src/a <b>&\"'.py"
    world.commit_file(path, "1\n")
    ids = []
    for number, text in enumerate(HOSTILE):
        record = world.record(
            store, text.replace("\r", "").replace("\0", " "), " ".join(HOSTILE).replace("\0", "\n"),
            paths=[path], topics=["<i>tag</i>", '"onclick=x'], trailers=f"Source: {BREAKOUT}\nRefs: {QUOTES}",
        )  # fmt: skip
        ids.append(world.say(store, (me, eve)[number % 2], "record", NOW, record=record))
    world.say(store, eve, "challenge", NOW, target=ids[0], reason="no")
    far = world.record(store, "From the future", "x")
    world.say(store, eve, "record", datetime(2098, 1, 1, tzinfo=UTC), record=far)
    world.commit_file(path, "2\n")
    world.seen("k", [*ids, *HOSTILE], NOW)
    ledger.add(world.state.spec_dir, BREAKOUT, " ".join(HOSTILE), session_key=QUOTES, now=NOW.timestamp())
    made = world.report()
    # What no store can hold today, but a page must not rest on that.
    problem = report_data.Problem("<i>store</i>", BREAKOUT, QUOTES)
    spoiled = [
        replace(
            capsule, scope=BREAKOUT, by=QUOTES, lifecycle=QUOTES, trust=BREAKOUT, anchor=QUOTES,
            topics=Listed(HOSTILE, 3), handoff=((BREAKOUT, Listed(HOSTILE)),), outcome=BREAKOUT,
            trailers=((BREAKOUT, QUOTES),),
        )
        for capsule in made.capsules[:2]
    ]  # fmt: skip
    return replace(
        made, workspace=f"/{BREAKOUT}", problems=(problem,), capsules=(*spoiled, *made.capsules[2:])
    )


class TestMarkup:
    def test_of_everything_that_can_happen_is_well_formed_and_ours(self, world: ReportWorld) -> None:
        ids = eventful(world)
        read = Reader(page_of(world.report()))
        assert read.elements["main"] == read.elements["h1"] == read.elements["nav"] == 1
        for name in ("retry", "port2", "eve", "handoff"):
            assert read.values("id").count(f"c-repo-{ids[name].removeprefix('sha256:')}") == 1
        for text in ("left out: actor-untrusted", "source changed", "waits for approval", "Session ", "gone"):
            assert text in read.text

    def test_of_hostile_texts_is_well_formed_and_ours(self, world: ReportWorld) -> None:
        made = hostile(world)
        page = page_of(made)
        read = Reader(page)
        assert read.elements["script"] == read.elements["style"] == read.elements["head"] == 1
        assert next(t for t in read.texts if t[0] == "title") == (
            "title",
            f"What the agents know: {BREAKOUT.rpartition('/')[2]}",
        )
        assert read.elements["img"] == 0
        assert read.raw["script"] == (Path(report_page.__file__).parent / "data/report.js").read_text()
        plain = read.text
        assert BREAKOUT in plain
        assert QUOTES in plain
        assert "\\u202eevil\\u202c \\u001b[31mred\\u001b[0m" in plain
        assert "عربي עברית" in plain
        assert not set(page) & set("\u202e\u202c\u200b\u2066\x1b\0\r\U000e0041")
        assert "\u0301" * 7 not in page

    def test_every_hostile_text_comes_back_as_text_and_nothing_else(self, world: ReportWorld) -> None:
        made = hostile(world)
        read = Reader(page_of(made))
        shown = Reader(page_of(made)).texts
        bodies = [text for where, text in shown if where == "p"]
        for capsule in made.capsules:
            title = capsule.title or "(no title)"
            assert ("bdi", _visible(title)) in [(w, t) for w, t in shown]
            excerpt = inject_text.shorten(capsule.body, 280)
            assert _visible(excerpt) in bodies
        for tag, name, value in read.attributes:
            assert not name.startswith("on")
            assert name not in ("style", "src", "srcset", "action", "formaction", "srcdoc")
            if name == "href":
                assert value.startswith("#"), (tag, value)

    def test_attributes_that_hold_author_text_hold_it_whole(self, world: ReportWorld) -> None:
        made = hostile(world)
        labels = [v for v in Reader(page_of(made)).values("aria-label") if BREAKOUT in v]
        assert labels  # the marks of the graph are named by titles

    def test_an_element_is_text_and_markup_by_construction(self) -> None:
        made = report_html.el("p", "<b>", report_html.el("i", 3), ["&", None], title='"', hidden=False)
        assert made.text == '<p title="&quot;">&lt;b&gt;<i>3</i>&amp;</p>'
        assert repr(made).startswith("Markup(")
        assert report_html.el("input", hidden=True, x=1.50, max_length=3).text == (
            '<input hidden x="1.5" max-length="3">'
        )
        assert [report_html.render(c) for c in report_html.joined("-", ["a", "b"])] == ["a", "-", "b"]


def _visible(text: str) -> str:
    import html

    return html.unescape(inert.html(text))


class TestPolicy:
    def test_forbids_everything_but_the_pages_own_style_and_script(self, world: ReportWorld) -> None:
        read = Reader(page_of(world.report()))
        (policy,) = [v for v in read.values("content") if "default-src" in v]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules == {
            "default-src": "'none'",
            "style-src": _digest(read.raw["style"]),
            "script-src": _digest(read.raw["script"]),
            "base-uri": "'none'",
            "form-action": "'none'",
        }

    def test_nothing_of_the_page_names_a_place_in_a_network(self, world: ReportWorld) -> None:
        eventful(world)
        page = page_of(world.report())
        assert not re.search(r"https?:|//[a-z]|url\((?!#)|@import|fetch\(|XMLHttp|WebSocket|import\(", page)


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


_MADE: list[str] = []


class TestAccess:
    """What a keyboard and a screen reader need, as far as markup says it."""

    page: str

    @pytest.fixture(autouse=True)
    def read(self, world: ReportWorld) -> Reader:
        """The page of everything, which no test changes: made once."""
        if not _MADE:
            eventful(world)
            _MADE.append(page_of(world.report()))
        self.page = _MADE[0]
        return Reader(self.page)

    def test_every_reference_leads_somewhere(self, read: Reader) -> None:
        ids = read.values("id")
        assert len(set(ids)) == len(ids)
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(read.values(name)) <= set(ids)
        assert {href[1:] for href in read.values("href")} <= set(ids)
        assert {m[5:-1] for m in read.values("marker-end")} <= set(ids)

    def test_headings_go_down_one_level_at_a_time(self, read: Reader) -> None:
        page = [int(tag[1]) for tag in re.findall(r"<(h\d)", self.page)]
        assert page[0] == 1
        assert all(b - a <= 1 for a, b in itertools.pairwise(page))

    def test_the_first_stop_skips_to_the_content(self, read: Reader) -> None:
        first = re.search(r"<body>(<a [^>]*>)", self.page)
        assert first is not None
        assert 'href="#main"' in first.group(1)
        assert 'lang="en"' in self.page

    def test_sections_fields_tables_and_graphics_have_names(self, read: Reader) -> None:
        assert self.page.count("<section ") == len(re.findall(r"<section [^>]*aria-labelledby=", self.page))
        assert self.page.count("<table") == self.page.count("<caption>")
        assert not re.search(r"<th(?! scope=)[^>e]", self.page)
        for svg in re.findall(r"<svg [^>]*>", self.page):
            assert 'aria-hidden="true"' in svg or "aria-label" in svg, svg
        for field in re.findall(r"<(?:input|select)", self.page):
            assert field
        assert len(re.findall(r"<label[^>]*>[^<]+<(?:input|select)", self.page)) == 4

    def test_the_graph_has_a_name_for_every_mark_and_is_there_as_a_table(self, read: Reader) -> None:
        marks = re.findall(r'<(?:a|g) [^>]*class="node"[^>]*>', self.page)
        assert len(marks) == 22
        assert all("aria-label=" in mark for mark in marks)
        assert "The graph as a table (22 rows)" in self.page
        assert "The chart as a table" in self.page

    def test_what_colours_say_is_said_by_words_and_shapes(self, read: Reader) -> None:
        for mark in ("active", "superseded", "retracted", "branching", "dependency-missing", "challenge"):
            assert re.search(rf'class="mark {mark}[ "]', self.page)
        for words in ("recalled by default", "a retraction without effect", "replaced in several ways"):
            assert words in read.text

    @pytest.mark.parametrize("dark", [False, True])
    def test_text_has_contrast_in_both_schemes(self, dark: bool) -> None:
        style = (Path(report_page.__file__).parent / "data/report.css").read_text()
        schemes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", schemes[1 if dark else 0]))
        for front, back in (
            *itertools.product(("ink", "soft", "accent"), ("bg", "panel", "band")),
            ("ok", "ok-soft"), ("warn", "warn-soft"), ("ink", "bad-soft"), ("ok", "panel"), ("warn", "panel"),
            ("bad", "panel"),
        ):  # fmt: skip
            assert _contrast(colours[front], colours[back]) >= 4.5, (front, back)


def _contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class TestSize:
    def test_nothing_one_and_twenty_are_said_as_such(self, world: ReportWorld) -> None:
        empty = Reader(page_of(world.report())).text
        assert "Nothing is remembered yet." in empty
        assert "Nothing is left out" in empty
        world.trust_this_clone()
        store = world.repo()
        world.say(store, store.identity(), "record", NOW, record=world.record(store, "One", "thing"))
        assert "1 capsule, newest first." in Reader(page_of(world.report())).text
        assert "Nothing is remembered yet." not in Reader(page_of(world.report())).text

    def test_whatever_is_left_out_is_said(self, world: ReportWorld, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, most in (("ENTRIES", 1), ("STREAMS", 1), ("NODES", 7), ("RELATIONS", 2), ("CHANGED", 1),
                           ("SESSIONS", 1), ("IN_SESSION", 1), ("LEDGER", 1), ("BODY", 30)):  # fmt: skip
            monkeypatch.setattr(report_data, name, most)
        eventful(world)
        store = world.repo()
        for paths in (["README.md"], ["README.md", "src/retry.py"]):
            record = world.record(store, "Two files", "They go together. " * 30, paths=paths, topics=["x/y"])
            world.say(store, store.identity(), "record", datetime(2098, 1, 1, tzinfo=UTC), record=record)
        text = Reader(page_of(world.report())).text.replace("\n", "")
        for words in (
            "3 streams, the 1 longest", "1 more", "The graph shows 7 of 24 memories, the newest.",
            "2 memories claim a time in the future.", "2 memories of another time, as claimed, are not in",
            "to older ones cannot be drawn", "2 of 8 relations, newest first; the rest is left out",
            "1 of 2 files", "Left out: 1 older session.", "1 of 3 injections", "1 of 2 entries",
            "more characters are not on this page: ,ai-kb show ", "and 1 more", "6 relations, 1 changed file",
        ):  # fmt: skip
            assert words in text, words

    def test_five_thousand_are_counted_and_the_rest_is_said_to_be_left_out(self, world: ReportWorld) -> None:
        eventful(world)
        made = world.report()
        many = replace(made, capsules=tuple(copies(made.capsules[0], 500)), capsules_total=5_000)
        page = page_of(many)
        read = Reader(page)
        assert "The newest 500 of 5,000 capsules." in read.text
        assert "Left out of this page: 4,500 older capsules." in read.text
        assert "4,500 capsules" in read.texts[-1][1] or "4,500 capsules" in read.text
        assert len(page.encode()) < 2_500_000

    def test_a_page_is_bounded_whatever_its_capsules_hold(self, world: ReportWorld) -> None:
        made = world.report()
        world.trust_this_clone()
        store = world.repo()
        text = "\u202e" * 300
        world.say(store, store.identity(), "record", NOW, record=world.record(store, text, "\u202e" * 20_000))
        (capsule,) = world.report().capsules
        worst = replace(
            capsule, topics=Listed(("\u202e" * 120,) * 12, 9), evidence_details=Listed((text,) * 12),
            trailers=(("Refs", text),) * 12, successors=Listed((capsule.id,) * 12),
        )  # fmt: skip
        capsules = tuple(copies(worst, 500))
        page = page_of(replace(made, capsules=capsules, capsules_total=500))
        read = Reader(page)
        assert len(page.encode()) < report_page.PAGE_LIMIT
        shown = len([i for i in read.values("id") if i.startswith("c-") and not i.endswith("-t")])
        assert 20 < shown < 500
        assert f"Left out of this page: {500 - shown} older capsules." in read.text
        ids = set(read.values("id"))
        assert {href[1:] for href in read.values("href")} <= ids  # no link to what is left out

    def test_no_list_of_a_report_is_without_bound(self) -> None:
        text = "\u202e" * report_data.TEXT
        title = "\u202e" * report_data.TITLE
        memory_id = "sha256:" + "f" * 64
        injection = report_data.Injection(memory_id, title, "", True)
        session = report_data.SessionInfo(
            "k" * 81, "t" * 81, "", 1, (injection,) * report_data.IN_SESSION, 99
        )
        relation = report_data.Relation(
            "repo", "challenge", memory_id, memory_id, title, "2026-11-30T12:00:00Z", "f" * 64,
            "\u202e" * 85, "r" * 256, "",
        )  # fmt: skip
        node = report_data.Node(
            memory_id, "repo", "repo:a:b", "supersede", title, "2026-11-30T12:00:00Z", 1.0, "active", "",
            True, True, memory_id,
        )  # fmt: skip
        entry = report_data.LedgerEntry("", "k" * 100, "s" * 81, "\u202e" * 600, False, True)
        made = Report(
            1, "2026-11-30T12:00:00Z", "/w",
            nodes=(node,) * report_data.NODES, nodes_total=9_999,
            relations=(relation,) * report_data.RELATIONS, relations_total=9_999,
            changed=(report_data.Changed("repo", memory_id, title, text, "gone"),) * report_data.CHANGED,
            changed_total=9_999, sessions=(session,) * report_data.SESSIONS, sessions_total=9_999,
            ledger=(entry,) * report_data.LEDGER, ledger_total=9_999,
        )  # fmt: skip
        page = page_of(made)
        assert len(page.encode()) + report_page.CARDS_LIMIT < report_page.PAGE_LIMIT
        for words in ("9,879 memories", "9,799 relations", "9,799 changed files", "9,969 sessions", "9,899"):
            assert words in Reader(page).text


def copies(capsule: CapsuleInfo, count: int) -> Iterator[CapsuleInfo]:
    for number in range(count):
        yield replace(capsule, id=f"sha256:{number:064x}")


# ---------------------------------------------------------------- in a browser

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class Browser:
    """Headless Chromium, one process and one fresh profile for each page."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.log = ""

    def run(self, page: Path, *more: str) -> bytes:
        flags = (
            "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
            "--disable-background-networking --disable-component-update --disable-dev-shm-usage "
            "--enable-logging=stderr --virtual-time-budget=4000"
        ).split()
        # Its socket wants a short path; its profile and whatever else it leaves go with the directory.
        with tempfile.TemporaryDirectory(prefix="crb-", dir="/tmp", ignore_cleanup_errors=True) as short:
            done = subprocess.run(
                [self.program, *flags, f"--user-data-dir={short}/profile", *more, page.as_uri()],
                capture_output=True,
                check=False,
                timeout=PATIENCE,
                env={**os.environ, "TMPDIR": short},
            )
        self.log = done.stderr.decode("utf-8", "replace")
        assert done.returncode == 0, self.log[-3000:]
        return done.stdout

    def console(self) -> list[str]:
        """What the page said on its console: violations of its policy, errors of its script."""
        return [line for line in self.log.splitlines() if "CONSOLE" in line]

    def dom(self, page: Path, *more: str) -> str:
        return self.run(page, "--dump-dom", *more).decode()

    def drive(self, page: Path, script: str) -> str:
        """The DOM after ``script`` did something with the page; its policy is made to allow that one."""
        text = page.read_text()
        # What runs last may use the keyboard and the fields as a person would.
        script = f"addEventListener('load', () => setTimeout(() => {{{script}}}, 50));"
        text = text.replace("script-src ", f"script-src {_digest(script)} ".replace("'", "&#x27;"), 1)
        driven = page.with_name("driven.html")
        driven.write_text(text.replace("</body>", f"<script>{script}</script></body>"))
        return self.dom(driven)

    def screenshot(self, page: Path, *, dark: bool) -> bytes:
        image = self.folder / f"{page.stem}-{'dark' if dark else 'light'}.png"
        self.run(
            page,
            f"--screenshot={image}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--window-size=1280,1600",
            "--hide-scrollbars",
        )
        return image.read_bytes()


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Browser:
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is on PATH (apt-get install chromium)")
    folder = tmp_path / "browser"
    folder.mkdir()
    return Browser(program, folder)


@pytest.fixture
def shown(world: ReportWorld, tmp_path: Path) -> Path:
    if not _MADE:
        eventful(world)
        _MADE.append(page_of(world.report()))
    path = tmp_path / "page.html"
    path.write_text(_MADE[0])
    return path


@pytest.mark.slow
class TestBrowser:
    def test_hostile_texts_do_nothing_and_nothing_is_asked_of_a_network(
        self, browser: Browser, world: ReportWorld, tmp_path: Path
    ) -> None:
        asked: list[str] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_error(404)

            def log_message(self, *_: object) -> None: ...

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}"
            made = hostile(world)
            attack = (
                f'<img src="{url}/img"><link rel=stylesheet href={url}/css><script src={url}/js></script>'
            )
            first = replace(made.capsules[0], title=attack, body=attack * 3)
            path = tmp_path / "hostile.html"
            path.write_bytes(report_page.page(replace(made, capsules=(first, *made.capsules[1:]))))
            dom = browser.dom(path)
            assert browser.console() == []
            assert asked == []
            control = tmp_path / "control.html"
            control.write_text(f"<!DOCTYPE html><title>x</title>{attack}")
            browser.dom(control)
            assert {"/img", "/css", "/js"} <= set(asked)  # so it would have been heard
        finally:
            server.shutdown()
            server.server_close()
        assert "pwned" not in re.findall(r"<title>(.*?)</title>", dom)[0]
        assert "<img" not in dom

    def test_the_policy_stops_what_would_get_past_everything_else(
        self, browser: Browser, shown: Path
    ) -> None:
        text = shown.read_text()
        shown.write_text(
            text.replace(
                "</main>", "<script>document.body.id = 'pwned'</script><b style='color:red'></b></main>"
            )
        )
        assert 'id="pwned"' not in browser.dom(shown)
        assert any("Content Security Policy" in line for line in browser.console())

    def test_the_filter_finds_words_and_states_and_says_how_many(self, browser: Browser, shown: Path) -> None:
        dom = browser.drive(
            shown,
            "const box = document.querySelector('.filter input');"
            "const found = document.querySelector('.found');"
            "const type = (text) => { box.value = text;"
            "  box.dispatchEvent(new Event('change', {bubbles: true}));"
            "  return found.textContent + [...document.querySelectorAll('.card:not([hidden]) h3')]"
            "    .map((h) => h.textContent).join('|'); };"
            "const state = document.querySelector('select[name=state]');"
            "const said = [type('PORT 543'), type('nothing like that')];"
            "state.value = 'changed'; said.push(type(''));"
            "document.querySelector('.filter button').click(); said.push(found.textContent);"
            "document.body.dataset.said = said.join(' ~ ');"
            "document.body.dataset.focus = document.activeElement === box;",
        )
        said = re.findall(r'data-said="(.*?)"', dom)[0].split(" ~ ")
        assert said[0] == (
            "2 of the 18 capsules on this page fit.The test database listens on port 5434|"
            "The test database listens on port 5433"
        )
        assert said[1] == "0 of the 18 capsules on this page fit."
        assert said[2].startswith("2 of the 18 capsules")
        assert said[3] == "18 capsules, newest first."
        assert 'data-focus="true"' in dom
        assert browser.console() == []

    def test_the_graph_is_one_stop_and_arrow_keys_go_on(self, browser: Browser, shown: Path) -> None:
        dom = browser.drive(
            shown,
            "const nodes = [...document.querySelectorAll('.node')]; const said = [];"
            "const note = () => said.push(nodes.indexOf(document.activeElement));"
            "const press = (key) => { document.activeElement.dispatchEvent("
            "  new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true})); note(); };"
            "said.push(nodes.filter((node) => node.getAttribute('tabindex') === '0').length);"
            "nodes[nodes.length - 1].focus(); note();"
            "['ArrowLeft', 'ArrowLeft', 'ArrowRight', 'Home', 'ArrowLeft', 'End', 'Enter'].forEach(press);"
            "document.body.dataset.said = said.join(' ');"
            "document.body.dataset.readout = document.querySelector('.readout').textContent;",
        )
        assert re.findall(r'data-said="(.*?)"', dom)[0] == "1 21 20 19 20 0 0 21 21"
        assert "Retries: where it stands" in re.findall(r'data-readout="(.*?)"', dom)[0]

    def test_a_link_to_a_capsule_that_the_filter_hides_shows_it(self, browser: Browser, shown: Path) -> None:
        dom = browser.drive(
            shown,
            "const box = document.querySelector('.filter input'); box.value = 'nothing like that';"
            "box.dispatchEvent(new Event('change', {bubbles: true}));"
            "const card = document.querySelector('.card'); const before = card.hidden;"
            'document.querySelector(`a[href="#${card.id}"]`).dispatchEvent('
            "  new MouseEvent('click', {bubbles: true, cancelable: true}));"
            "setTimeout(() => { document.body.dataset.said ="
            "  [before, card.hidden, document.activeElement === card].join(' '); }, 200);",
        )
        assert re.findall(r'data-said="(.*?)"', dom) == ["true false true"]

    def test_without_the_script_everything_is_there_but_the_filter(
        self, browser: Browser, shown: Path
    ) -> None:
        text = shown.read_text()
        shown.write_text(re.sub(r"<script>.*</script>", "", text, flags=re.DOTALL))
        dom = browser.dom(shown)
        assert re.search(r'<div class="filter"[^>]*hidden', dom)
        assert dom.count('class="card"') == 18
        assert not re.search(r'<li [^>]*class="card"[^>]*hidden', dom)

    def test_it_is_light_and_dark_as_the_reader_wants(self, browser: Browser, shown: Path) -> None:
        light, dark = (first_pixel(browser.screenshot(shown, dark=dark)) for dark in (False, True))
        assert min(light) > 220
        assert max(dark) < 40


def first_pixel(png: bytes) -> tuple[int, ...]:
    """Red, green and blue of the upper left corner."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    return tuple(zlib.decompress(data)[1:4])  # in the first row no filter changes the first pixel
