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
# Stands for a block of code or a quoted block that was taken out.
_MATERIAL = "\0"
_PAIRS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "`": "`", "‘": "'"}
_BULLETS = ("- ", "* ", "+ ", "• ", "– ")
_CODE_STARTS = (
    "$ ",
    "# ",
    "% ",
    "{",
    "}",
    "[",
    "<",
    "//",
    "/*",
    "at ",
    "...",
    "def ",
    "class ",
    "import ",
    "! [",
)
_ANSWERS = ("[y/N]", "[Y/n]", "[y/n]", "\\", "{", ";")
# Verbs that ask for something to be done to a text.
_TRANSFORMS = frozenset(
    "summarize summarise translate explain convert classify cluster detect rewrite rephrase paraphrase "
    "proofread shorten condense parse label transcribe quote draft format tabulate categorize categorise "
    "interpret decode extract count spellcheck sort group dedupe deduplicate anonymize anonymise reword "
    "polish annotate reply analyse analyze".split()
)
# Words by which a sentence announces a text that is not the user's own.
_TEXTS = frozenset(
    "log logs output message messages error errors warning warnings transcript trace traceback stacktrace "
    "dump text texts mail email e-mail comment comments review reviews feedback string strings sentence "
    "sentences line lines chat conversation history mails emails letter tweet post posts quote complaint "
    "complaints snippet following below paste example examples subject subjects title entry faq template "
    "phrase prompt alerts events says prints prints: wrote writes said commits csv json yaml diff script "
    "file data note notes tests test compiler console terminal sql slide headline heading banner toast "
    "tooltip label caption subtitle this these those here stderr stdout sentry ci docker terraform mypy "
    "gcc npm build".split()
)
_UTTERANCES = frozenset(
    "sentence sentences phrase phrases words strings messages prompts texts lines inputs things "
    "comments".split()
)
_LEADING = frozenset("of like with as to for into in than".split())
_POINTING = frozenset("this these those here test tests code file".split())
_POLITE = frozenset("please can could you now then and hey hi ok okay just".split())
_GREETINGS = frozenset("hi hello hey morning evening afternoon ok okay so thanks".split())
_QUESTIONS = frozenset("what why how which where who when any can could do does is are".split())
_LEVELS = (
    "error", "warning", "warn", "info", "debug", "fatal", "traceback", "exception", "failed", "fail", "note",
    "hint", "npm", "panic", "trace", "assert",
)  # fmt: skip
_SHOUTED = frozenset(
    "ERR! ERROR ERROR: WARN WARNING WARNING: INFO DEBUG FATAL FATAL: FAILED FAIL PASS PASSED".split()
)
# "wait: …" is the user; "remote: …", "ValueError: …" and "bob: …" are not.
_OWN_OPENINGS = frozenset(
    "no nope ok okay wait again please so also but and well hey first second third ps p.s btw question "
    "fyi update edit problem issue wrong reminder correction plus listen look yes sorry quoting remember "
    "important seriously missing incomplete broken unfinished revert undo stop forgot finally result "
    "remark tldr tl;dr repeat once nb context".split()
)


def user_prose(prompt: str) -> list[str]:
    """The sentences of ``prompt`` that are the user's own words, lower case, in order.

    Fenced and indented code, block quotes, quotations, log, diff and chat lines are left out; of a
    prompt that hands over a text to work on ("translate: …"), only what introduces it is left.
    """
    paragraphs = _paragraphs(_outer_lines(prompt))
    if paragraphs == [] or paragraphs[0] == [_MATERIAL]:
        paragraphs = [lines for lines in paragraphs if lines != [_MATERIAL]]
    if not paragraphs or _hands_over_text(paragraphs):
        return []
    said: list[str] = []
    for lines in _own(paragraphs):
        for line in _without_repeated(lines):
            if line != _MATERIAL and not _is_machine_line(line):
                said.extend(_sentences(_without_quotations(_without_material(line))))
    return said


def _outer_lines(prompt: str) -> list[str]:
    """Lines from both ends, code fences and quoted blocks removed; an empty line separates paragraphs."""
    if len(prompt) > 2 * MOST_LINES * LINE_LENGTH:
        prompt = prompt[: MOST_LINES * LINE_LENGTH] + "\n\n" + prompt[-MOST_LINES * LINE_LENGTH :]
    lines = prompt.replace("\r", "\n").split("\n")
    if len(lines) > 2 * MOST_LINES:
        lines = [*lines[:MOST_LINES], *lines[-MOST_LINES:]]
    kept: list[str] = []
    fence = ""
    for line in lines:
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fence = "" if fence else stripped[:3]
            kept.extend(("", _MATERIAL, ""))
        elif (
            fence
            or stripped.startswith((">", "|", "+++", "---", "@@"))
            or (line.startswith(("    ", "\t")) and kept and kept[-1] in {"", _MATERIAL})
        ):
            kept.extend(("", _MATERIAL, ""))
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


def _bare(line: str) -> list[str]:
    """The lower-case words of ``line`` without the marks around them."""
    return [word.strip(":.!?,;'\"()") for word in line.lower().split()]


def _hands_over_text(paragraphs: list[list[str]]) -> bool:
    """The prompt starts by asking for something to be done to a text that follows."""
    first = paragraphs[0][0]
    if ":" not in first and len(paragraphs) == 1 and len(paragraphs[0]) == 1:
        return False
    for word in _bare(first)[:4]:
        if word in _TRANSFORMS:
            return True
        if word not in _POLITE:
            return False
    return False


def _own(paragraphs: list[list[str]]) -> list[list[str]]:
    """The paragraphs, or the lines of them, that are the user's."""
    first, rest = paragraphs[0], paragraphs[1:]
    if len(first) > 1 and first[0].endswith(":") and _announces(_bare(first[0])):
        # "stderr:", the output, perhaps a last line of the user's
        paragraphs = [[first[0], *first[-1:]] if len(first) > 2 and not rest else first[:1], *rest]
        first = paragraphs[0]
    if rest and rest[0] != [_MATERIAL] and _presents(first, rest[0]):
        last = rest[-1]
        closing = [last] if len(rest) > 1 and len(last) <= 2 and not _looks_pasted(last) else []
        return [first, *closing]
    kept: list[list[str]] = []
    for index, lines in enumerate(paragraphs):
        if len(lines) > 1 and _looks_pasted(lines):
            ends = [lines[0]] if index == 0 else []
            if index == len(paragraphs) - 1 and len(lines) > 2:
                ends.append(lines[-1])
            kept.append(ends)
        else:
            kept.append(lines)
    return kept


def _presents(first: list[str], following: list[str]) -> bool:
    """The first paragraph introduces what follows as somebody's text: "mypy says", "what is this?"."""
    line = first[-1]
    words = _bare(line)
    if len(first) > 2 or _is_machine_line(line) or (words[0] in _GREETINGS and len(words) < 3):
        return False
    if line.endswith(":"):
        return len(following) > 2 or _looks_pasted(following) or not _TEXTS.isdisjoint(words)
    addressed = not {"you", "your", "u", "i", "again", "same", "still"}.isdisjoint(words)
    if len(words) > 16 or (addressed and words[0] not in _QUESTIONS):
        return False
    if not _TEXTS.isdisjoint(words):
        return True
    return len(following) > 1 and (
        words[0] in _QUESTIONS or line.endswith("?") or len(words) < 3 or _looks_pasted(following)
    )


def _without_repeated(lines: list[str]) -> list[str]:
    """``lines`` without those of a list, table or log: three of them start with the same two words."""
    if len(lines) < 4:
        return lines
    starts = [_start(line) for line in lines]
    return [line for line, start in zip(lines, starts, strict=True) if starts.count(start) < 3]


def _start(line: str) -> str:
    words = line.split(None, 2)[:2]
    return " ".join(word.rstrip("0123456789:.,])").lstrip("[(0123456789") for word in words)


def _is_machine_line(line: str) -> bool:
    """A line that a program, a chat export or a list of files wrote."""
    if line.startswith(_BULLETS) or line.startswith(_CODE_STARTS) or line.endswith(_ANSWERS):
        return True
    if not _SHOUTED.isdisjoint(line.split(" ", 3)[:3]):
        return True
    first, _, rest = line.partition(" ")
    low = first.lower()
    if first.endswith(":") and low[:-1] not in _OWN_OPENINGS:
        return True
    if low in _LEVELS and (rest.lstrip()[:1].isupper() or first.isupper()):
        return True
    if first[:1].isdigit() and any(c in first for c in ":-/|."):
        return True
    if first.isupper() and len(first) > 3 and rest[:1] in {":", "["}:
        return True
    if (first in {"M", "A", "D", "R", "??", "AM", "MM"} and rest) or line.startswith("not ok "):
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


def _without_material(line: str) -> str:
    """``line`` up to a colon after which stands a text that it announces: "a user wrote: …"."""
    low = line.lower()
    for comparison in (" like ", " such as "):
        at = low.find(comparison)
        if at > 0 and not _UTTERANCES.isdisjoint(_bare(low[:at])[-2:]):
            line, low = line[:at], low[:at]
    at = line.find(": ")
    if at < 0:
        return line
    words = _bare(line[:at])
    announced = len(words) > 1 and (_announces(words) or words[-1] in _LEADING)
    return line[: at + 1] if announced else line


def _announces(words: list[str]) -> bool:
    """Whether a line of these words, ended by a colon, introduces a text that is not the user's own."""
    if not {"you", "your", "u", "ur", "i", "my", "same", "again"}.isdisjoint(words):
        return False
    return not (_TEXTS - _POINTING).isdisjoint(words) or not _TRANSFORMS.isdisjoint(words[:4])


def _without_quotations(line: str) -> str:
    """``line`` with each quoted part replaced by the word ``quoted``, so that no phrase spans it."""
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
        following = line[index + 1 : index + 2]
        ends = char in ".!?。！？" and not (following.isalnum() or following in {".", "_", "-", "/"})
        if ends or char in ";；":
            out.append(line[start : index + 1])
            start = index + 1
    out.append(line[start:])
    # "??" and "?!" stay with the sentence that they end
    joined: list[str] = []
    for sentence in out:
        if joined and sentence and not sentence.strip(" .!?;"):
            joined[-1] += sentence.strip()
        else:
            joined.append(sentence)
    return [sentence.strip().lower() for sentence in joined if sentence.strip(" .!?;")]
