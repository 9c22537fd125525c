"""What the user says in a prompt, apart from what is quoted, pasted, logged or coded in it.

Pure and bounded: the work depends on the length of the prompt only through a few
``str`` methods; at most ``MOST_LINES`` lines of at most ``LINE_LENGTH`` characters are looked at,
taken from both ends. No regular expressions: hooks run this at every prompt.
"""

from __future__ import annotations

MOST_LINES = 60
LINE_LENGTH = 500
# A quotation is cut out only when it ends on the same line within this many characters.
_QUOTATION = 400
_PAIRS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "`": "`", "‘": "'"}
_BULLETS = ("- ", "* ", "+ ", "• ", "– ")
_TRANSFORMS = frozenset(
    "summarize summarise translate explain convert classify cluster detect rewrite rephrase paraphrase "
    "proofread shorten condense parse label transcribe quote draft format tabulate categorize categorise interpret "
    "decode extract count spellcheck".split()
)
_LOG_MARKS = (
    "error", "warning", "warn", "info", "debug", "fatal", "traceback", "exception", "failed", "fail", "note",
    "hint", "npm", "panic", "trace", "assert",
)  # fmt: skip
_SHOUTED = frozenset(
    "ERR! ERROR ERROR: WARN WARNING WARNING: INFO DEBUG FATAL FATAL: FAILED FAIL PASS PASSED".split()
)


def user_prose(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that are the user's own words, lower case, in order.

    Fenced and indented code, block quotes, quotations, log, diff and chat lines are left out; of a
    prompt that hands over text to work on ("translate: …"), nothing is left.
    """
    paragraphs = _paragraphs(_outer_lines(prompt))
    if not paragraphs:
        return []
    if _hands_over_text(paragraphs[0]):
        return []
    introduces_paste = paragraphs[0][-1].rstrip().endswith(":")
    said: list[str] = []
    last = len(paragraphs) - 1
    for index, lines in enumerate(paragraphs):
        if index not in (0, last) and (introduces_paste or len(lines) > 2):
            continue
        if index == last != 0 and introduces_paste and _looks_pasted(lines):
            continue
        pasted = len(paragraphs) > 1 and len(lines) > 1 and _looks_pasted(lines)
        if pasted and index != 0:
            continue
        kept = lines[:1] if pasted else lines
        for line in kept:
            if not _is_machine_line(line):
                said.extend(_sentences(_without_quotations(line)))
    return said


def _outer_lines(prompt: str) -> list[str]:
    """Lines from both ends, code fences and quoted blocks removed; an empty line separates paragraphs."""
    if len(prompt) > 2 * MOST_LINES * LINE_LENGTH:
        prompt = prompt[: MOST_LINES * LINE_LENGTH] + "\n\n" + prompt[-MOST_LINES * LINE_LENGTH :]
    lines = prompt.replace("\r", "\n").split("\n")
    if len(lines) > 2 * MOST_LINES:
        lines = [*lines[:MOST_LINES], "", *lines[-MOST_LINES:]]
    kept: list[str] = []
    fence = ""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fence = "" if fence else stripped[:3]
            kept.append("")
        elif fence or stripped.startswith((">", "|", "+++", "---", "@@")):
            kept.append("")
        elif line.startswith(("    ", "\t")) and kept and not kept[-1].strip():
            kept.append("")
        else:
            kept.append(stripped if len(stripped) <= LINE_LENGTH else "")
    return kept


def _paragraphs(lines: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def _hands_over_text(paragraph: list[str]) -> bool:
    """The prompt starts by asking for something to be done to a text that follows."""
    words = paragraph[0].lower().replace(",", " ").split()
    for word in words[:4]:
        bare = word.strip(":.!?'\"")
        if bare in _TRANSFORMS:
            return True
        if bare not in {"please", "can", "could", "you", "now", "then", "and", "hey", "hi", "ok", "okay"}:
            return False
    return False


def _is_machine_line(line: str) -> bool:
    """A line that a program, a chat export or a list of files wrote."""
    if line.startswith(_BULLETS) or line.startswith(
        ("$ ", "# ", "% ", "{", "}", "[", "<", "//", "/*", "at ")
    ):
        return True
    if line.endswith(("[y/N]", "[Y/n]", "[y/n]")) or not _SHOUTED.isdisjoint(line.split(" ", 3)[:3]):
        return True
    first, _, rest = line.partition(" ")
    low = first.lower()
    if first.endswith(":") and low[:-1] in _LOG_MARKS:
        return True
    if first[:1].isdigit() and any(c in first for c in ":-/|."):
        return True
    if first.isupper() and len(first) > 3 and (rest[:1] in ":[" or low.strip(":!") in _LOG_MARKS):
        return True
    if first in {"M", "A", "D", "R", "??", "AM", "MM"} and rest:
        return True
    symbols = sum(c in "{}()[]<>=;|\\/_$#*~^@" for c in line)
    return symbols * 8 > len(line)


def _looks_pasted(lines: list[str]) -> bool:
    """Most lines were written by a machine, or every line starts with a speaker or a column."""
    machine = sum(_is_machine_line(line) for line in lines)
    if machine * 2 >= len(lines):
        return True
    spoken = sum(":" in line.split(" ", 1)[0] or line.split(" ", 2)[1:2] == [":"] for line in lines)
    columns = sum("  " in line for line in lines)
    return spoken * 2 > len(lines) or columns * 2 > len(lines)


def _without_quotations(line: str) -> str:
    """``line`` with quoted parts replaced by `` ; `` (a boundary, so that no phrase spans it)."""
    line = line.replace("’", "'").replace("´", "'")
    out: list[str] = []
    position = 0
    while position < len(line):
        char = line[position]
        closing = _PAIRS.get(char, "")
        if char == "'" and (position == 0 or not line[position - 1].isalnum()):
            closing = "'"
        end = -1
        if closing:
            for close in closing:
                end = max(end, _closing(line, position + 1, close))
        if end > 0:
            out.append(" quoted ")
            position = end + 1
        else:
            out.append(char)
            position += 1
    return "".join(out)


def _closing(line: str, start: int, close: str) -> int:
    """Index of the closing mark, or -1; an apostrophe inside a word does not close."""
    position = line.find(close, start, start + _QUOTATION)
    while position > 0 and close == "'" and line[position + 1 : position + 2].isalnum():
        position = line.find(close, position + 1, start + _QUOTATION)
    return position if position > start else -1


def _sentences(line: str) -> list[str]:
    """``line`` split where a sentence ends; the end mark stays, so that a question can be told."""
    out: list[str] = []
    start = 0
    for index, char in enumerate(line):
        ends = char in ".!?。！？" and (index + 1 == len(line) or not line[index + 1].isalnum())
        if ends or char in ";；":
            out.append(line[start : index + 1])
            start = index + 1
    out.append(line[start:])
    return [sentence.strip().lower() for sentence in out if sentence.strip(" .!?;")]
