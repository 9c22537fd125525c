"""The frame of what is injected: command lines to copy, sections, and the size bound.

Text that is not the suite's own stands indented or as JSON, so that it cannot look like a line of this
frame. The whole stays below 9,500 UTF-16 units: what is needed least is left out first, whole.
"""

from __future__ import annotations

from agent_base import inert, shell
from agent_memory import cleanroom
from agent_memory import workspace as places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memory.views import TopicView

BUCKETS = "### Topic Buckets"
SPEC = "### Active Topic Spec"
WORKLOG = "### Recent Hook Worklog"
LEARNINGS = "### Relevant Learnings (,ai-kb)"
KNOWLEDGE = "### Durable memory (,ai-kb)"

BIND_RULE = (
    "Bind this session when exactly one bucket matches the request, create one when none does, ask the user "
    "when several do."
)
_SESSION_ID_LIMIT = 512


class Commands:
    """Command lines for one session of one workspace, quoted for a shell.

    Each carries ``--workspace`` and ``--session-id``. An id that no argument can hold (a NUL, a lone
    surrogate, a final line break, hundreds of characters, ``--``) is given by its key: ``--session-key``.
    """

    __slots__ = ("_where",)

    def __init__(self, workspace: str, session_id: str, session_key: str | None = None) -> None:
        # A shell's $(…) loses final line breaks; of a directory "/." keeps them.
        self._where = shell.option("workspace", f"{workspace}/." if workspace.endswith("\n") else workspace)
        if session_id and _argument_holds(session_id):
            self._where += " " + shell.option("session-id", session_id)
        elif session_id or session_key:
            key = session_key or places.session_key(session_id)
            self._where += " " + shell.option("session-key", key)

    def memory(self, *words: str) -> str:
        """A ``,agent-memory`` command."""
        return f",agent-memory {' '.join(words)} {self._where}"

    def knowledge(self, *words: str) -> str:
        """A ``,ai-kb`` command."""
        return f",ai-kb {' '.join(words)} {self._where}"


def _argument_holds(text: str) -> bool:
    short = len(text) <= _SESSION_ID_LIMIT and not text.endswith("\n") and text != "--"
    return short and "\0" not in text and inert.clean_surrogates(text) == text


class Draft:
    """Sections that can be left out, least needed first, until the whole is below the bound."""

    def __init__(
        self,
        *,
        commands: Commands,
        view: TopicView | None = None,
        learnings: list[str] | None = None,
    ) -> None:
        self.commands = commands
        self.head: list[str] = []
        self.prefix = ""
        self.prefix_pointer = ""
        self.index = False
        self.buckets: list[str] = []
        self.more_buckets = 0
        self.hint = ""
        self.view = view
        self.learnings: list[str] = learnings or []
        self.footer: list[str] = []

    def says_something(self) -> bool:
        """Whether there is anything but the heading."""
        view = self.view
        shows = view is not None and (view.total > 0 or (view.spec_shown and view.spec is not None))
        return self.index or bool(self.hint) or shows or bool(self.learnings)

    def fitted(self) -> str:
        """The text, below 9,500 UTF-16 units whatever its parts are."""
        text = self._text()
        while cleanroom.utf16_units(text) >= cleanroom.INJECTION_LIMIT:
            if not self._leave_something_out():
                return (
                    "## Session memory\nThe paths of this workspace are too long to be shown; "
                    "see `,agent-memory status`."
                )
            text = self._text()
        return text

    def _leave_something_out(self) -> bool:
        view = self.view
        if self.learnings:
            self.learnings.pop()
        elif view is not None and view.entries:
            del view.entries[0], view.ids[0]
        elif view is not None and view.spec_shown and view.spec is not None and not view.too_long:
            view.too_long = True
        elif self.buckets:
            self.buckets.pop()
            self.more_buckets += 1
        elif self.prefix:
            self.prefix = ""
        elif self.footer:
            self.footer = []
        else:
            return False
        return True

    def _text(self) -> str:
        sections = ["\n".join(self.head), self.prefix or self.prefix_pointer]
        if self.index:
            sections.append(self._index_text())
        sections.append(self.hint)
        if self.view is not None:
            sections += [self._spec_text(self.view), self._worklog_text(self.view)]
        if self.learnings:
            sections.append("\n".join([LEARNINGS, *self.learnings]))
        sections.append("\n".join(self.footer))
        return "\n\n".join(section for section in sections if section)

    def _index_text(self) -> str:
        lines = [BUCKETS, BIND_RULE, *(self.buckets or ["(none yet)"])]
        if self.more_buckets:
            lines.append(f"- {self.more_buckets} more: {self.commands.memory('list')}")
        lines += [
            f"Create one: {self.commands.memory('select', 'NEW-TOPIC', '--create')}",
            f"Give a topic its `summary:` line: {self.commands.memory('spec', '--summary', 'TEXT')}",
        ]
        return "\n".join(lines)

    def _spec_text(self, view: TopicView) -> str:
        if not view.spec_shown:
            return ""
        lines = [SPEC, f"File: {inert.json_line(view.spec_file)}"]
        if view.review:
            lines.append("(Review topic: earlier findings, the worklog and learnings are left out.)")
        if view.spec is None:
            lines.append(f"(none yet: {self.commands.memory('spec', '--append', 'TEXT')})")
        elif view.too_long:
            lines.append("(Too long to be shown here: read the file.)")
        elif view.spec.strip():
            lines.append(inert.block(view.spec.strip("\r\n")))
        return "\n".join(lines)

    def _worklog_text(self, view: TopicView) -> str:
        if not view.total:
            return ""
        lines = [WORKLOG, *view.entries]
        older = view.total - len(view.entries)
        if older > 0:
            entries = "entry is" if older == 1 else "entries are"
            lines.insert(1, f"({older} older {entries} left out: {self.commands.memory('log')})")
        return "\n".join(lines)
