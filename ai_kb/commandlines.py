"""What a recorded command line runs: its programs, whether two lines are the same, what is junk.

Pure and forgiving: a line that no shell would take is still given back as something. Reads
command lines, never runs one.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple


def names(text: str) -> frozenset[str]:
    """The words of a table written as text."""
    return frozenset(text.split())


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.S)
_REDIRECTION = re.compile(r"[<>]+&?|&>+|<<<?-?")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"\\]?\w+['\"]?[^\n]*\n")
_LEADING = frozenset(
    {"sudo", "time", "nice", "nohup", "exec", "command", "builtin", "env", "then", "do", "!"}
)
_LEADING_WITH_ARGUMENT = frozenset({"timeout", "stdbuf", "ionice", "taskset"})
# Options and their values, durations, masks: what stands before the program there.
_NO_PROGRAM = re.compile(r"-.*|(?:0x)?[0-9a-f]*\d[0-9a-f.]*[smhd]?|[A-Z]+")
_RUNNERS = (
    ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run"),
    ("bundle", "exec"), ("pnpm", "exec"), ("npm", "exec"), ("yarn", "exec"), ("mise", "exec"), ("npx",),
    ("bunx",),
)  # fmt: skip
_KEYWORD = re.compile(r"^(?:do|then|else)\s+")
_PYTHON = re.compile(r"(python|python\d(\.\d+)?|pypy\d?)$")

# Programs whose first argument says what they do.
_WITH_SUBCOMMAND = names(
    """
    ansible apt apt-get aws az brew bun bundle cargo composer conda deno docker dotnet flutter gcloud
    gem gh git go gradle gradlew helm just kubectl lerna make mix mvn mvnw nix npm nx pdm pip pip3 pnpm
    poetry rails rake rustup sbt swift systemctl task terraform tofu tox turbo uv yarn
    """
)
# Looking around, moving files, shell housekeeping: worth nothing to a later session.
_JUNK = names(
    """
    : . [ [[ alias awk basename bat bg cal cat cd chmod chown clear cp cut date declare df diff dirname
    dirs du echo ed egrep emacs env exit export false fd fg fgrep file find grep groups head help
    hexdump history hostname id jobs jq kill less ln local locate ls lsof man mkdir mktemp more mv nano
    nl od open pbcopy pgrep pkill popd printenv printf ps pushd pwd read readlink realpath return rg rm
    rmdir sed seq set shopt sleep sort source stat strings su tac tail tee test top touch tr tree true
    type ulimit umask unalias uname uniq unset vi vim wait wc whereis which who whoami xargs xxd yes for
    while until if case done fi esac
    """
)
_JUNK_GIT = names(
    """
    add blame branch checkout config diff fetch log ls-files remote restore rev-parse show stash status
    switch
    """
)
# May fail in a way worth knowing, but doing it often teaches nothing.
_ROUTINE = frozenset(
    (
        "git clone", "git commit", "git merge", "git pull", "git push", "git rebase",
        "git reset", "git tag", "git worktree", "git rm", "gh pr"
    )
)  # fmt: skip
_SUITE = frozenset({",agent-memory", ",ai-kb", "agent-memory", "ai-kb", "hn"})
_SUITE_FILES = names(
    """
    worklog_dispatcher.sh worklog_recorder.py session_context.py perturn_recall.py
    correction_detector.py spec_mirror.py
    """
)
_INLINE = frozenset({"-c", "-e", "-", "--eval", "-p", "--print"})


class Step(NamedTuple):
    """One program of a command line: ``program`` with its subcommand, positional arguments, all words."""

    program: str
    arguments: tuple[str, ...]
    words: tuple[str, ...]


class Line(NamedTuple):
    """A command line: ``text`` as it was written, from the first to the last step that is not junk.

    ``suite``: it runs a part of this suite. ``inline``: a program was written on the line itself.
    """

    text: str
    steps: tuple[Step, ...]
    suite: bool
    inline: bool

    @property
    def key(self) -> tuple[str, ...]:
        """The programs: what two lines have in common that do the same thing to different things."""
        return tuple(step.program for step in self.steps)

    @property
    def identity(self) -> tuple[tuple[str, ...], ...]:
        """All words but junk: two lines with the same identity did the same."""
        return tuple(step.words for step in self.steps)

    @property
    def arguments(self) -> frozenset[str]:
        """All positional arguments."""
        return frozenset(a for step in self.steps for a in step.arguments)

    @property
    def routine(self) -> bool:
        """Nothing but what everybody does all day."""
        return all(step.program in _ROUTINE for step in self.steps)


def parse(command: str) -> Line:
    """``command`` taken apart. A line of nothing but junk has no steps."""
    command = command.strip()
    steps: list[Step] = []
    suite = inline = False
    first = last = 0
    for words, start, end in _segments(command):
        step = _step(words)
        if step is None:
            continue
        suite = suite or _is_suite(step, words)
        if _is_junk(step):
            continue
        inline = inline or _is_inline(step)
        if not steps:
            first = start
        last = end
        steps.append(step)
    text = _KEYWORD.sub("", command[first:last].strip())
    return Line(text, tuple(steps), suite, inline)


def covers(success: Line, failure: Line) -> bool:
    """Whether ``success`` shows that what failed in ``failure`` now works: the same programs on the
    same things, or on more (fewer arguments that narrow it down)."""
    if success.identity == failure.identity:
        return True
    return success.key == failure.key and success.arguments <= failure.arguments


def _segments(command: str) -> list[tuple[list[str], int, int]]:
    """The words of each simple command, without redirections, and where it stands in ``command``."""
    here = _HERE_DOCUMENT.search(command)
    if here is not None:  # what is fed to a program is no command
        command = command[: here.end()].rstrip()
    found: list[tuple[list[str], int, int]] = []
    start = position = 0
    while position <= len(command):
        size = _separator(command, position) if position < len(command) else 1
        if size:
            words = _words(command[start:position])
            if words:
                found.append((words, start, position))
            position += size
            start = position
        else:
            position = min(_after(command, position), len(command))
    return found


def _separator(text: str, position: int) -> int:
    """Length of the control operator at ``position``, 0 for none."""
    if text[position] in ";|\n(){}":
        # Braces and parentheses stand alone; in ${x}, {a,b} and $(…) they do not.
        if text[position] in "{}" and not (_blank(text, position - 1) and _blank(text, position + 1)):
            return 0
        return 1
    if text[position] == "&":
        redirection = (position > 0 and text[position - 1] in "<>") or text[
            position + 1 : position + 2
        ] == ">"
        return 0 if redirection else 1
    return 0


def _blank(text: str, position: int) -> bool:
    return not 0 <= position < len(text) or text[position] in " \t\n;"


def _after(text: str, position: int) -> int:
    """Where the character, quotation or substitution at ``position`` ends."""
    char = text[position]
    if char == "\\":
        return position + 2
    if char in "'\"`":
        end = position + 1
        while end < len(text) and text[end] != char:
            end += 2 if text[end] == "\\" and char != "'" else 1
        return end + 1
    if text.startswith("$(", position):
        depth, end = 1, position + 2
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end = _after(text, end) if text[end] in "\\'\"`" else end + 1
        return end
    return position + 1


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars="<>&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # an unclosed quote
        tokens = text.split()
    words: list[str] = []
    skip = False
    for token in tokens:
        if _REDIRECTION.fullmatch(token):
            if words and words[-1].isdigit():  # 2>&1
                words.pop()
            skip = True
        elif skip:
            skip = False
        else:
            words.append(token)
    return words


def _step(words: list[str]) -> Step | None:
    rest = list(words)
    while rest:
        first = rest[0]
        if _ASSIGNMENT.fullmatch(first) or _name(first) in _LEADING:
            rest = rest[1:]
            while rest and rest[0].startswith("-"):
                rest = rest[1:]
        elif _name(first) in _LEADING_WITH_ARGUMENT:
            rest = rest[1:]
            while rest and _NO_PROGRAM.fullmatch(rest[0]):
                rest = rest[1:]
        else:
            runner = next((r for r in _RUNNERS if tuple(rest[: len(r)]) == r), None)
            if runner is None:
                break
            rest = rest[len(runner) :]
            while rest and rest[0].startswith("-"):
                rest = rest[1:]
    if not rest:
        return None
    program, arguments = _name(rest[0]), rest[1:]
    if _PYTHON.match(program) and len(arguments) > 1 and arguments[0] == "-m":
        program, arguments = arguments[1], arguments[2:]
    positional = [a for a in arguments if not a.startswith("-")]
    if program in _WITH_SUBCOMMAND and positional:
        program, positional = f"{program} {positional[0]}", positional[1:]
    return Step(program, tuple(positional), tuple(rest))


def _name(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _is_suite(step: Step, words: list[str]) -> bool:
    names = {_name(w) for w in words}
    return step.program in _SUITE or bool(names & _SUITE_FILES) or bool({_name(step.words[0])} & _SUITE)


def _is_junk(step: Step) -> bool:
    program, _, subcommand = step.program.partition(" ")
    if program in _JUNK:
        return True
    return program == "git" and (not subcommand or subcommand in _JUNK_GIT)


def _is_inline(step: Step) -> bool:
    """A program written on the line or fed to it: never the same twice, nothing to repeat."""
    interpreter = _PYTHON.match(_name(step.words[0])) or _name(step.words[0]) in {
        "node", "ruby", "perl", "php", "sh", "bash", "zsh", "deno", "bun",
    }  # fmt: skip
    return bool(interpreter) and (len(step.words) == 1 or step.words[1] in _INLINE)
