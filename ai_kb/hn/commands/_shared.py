"""What the verbs of ``hn memory`` share: the repository, appending, results."""

from __future__ import annotations

from agent_base.cli import Console
from ai_kb.hn import canonical
from ai_kb.hn.commands._where import repository_of
from ai_kb.hn.envelope import Anchor, VerifiedMemory, anchor_mapping
from ai_kb.hn.errors import HnError, HnUsageError, NotFound
from ai_kb.hn.gitstore import ObjectReader
from ai_kb.hn.rendering import WARNING, readable

__all__ = [
    "VERSION",
    "WARNING",
    "Session",
    "ambiguous",
    "not_found",
    "print_appended",
    "readable",
    "wrong_usage",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from ai_kb.hn.identity import Identity
    from ai_kb.hn.streams import Appended

VERSION = 0


class Session:
    """One command's view of its repository: reader and prefixes, closed at the end."""

    def __init__(self, console: Console) -> None:
        from ai_kb.hn.prefixes import PrefixStore

        self.repo = repository_of(console)
        self.reader: ObjectReader = self.repo.objects()
        self.prefixes = PrefixStore.open(self.repo)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.reader.close()
        self.prefixes.close()

    def identity(self) -> Identity:
        """The active identity. Raises NotFound with what to do."""
        from ai_kb.hn.identity import Keyring

        return Keyring.of(self.repo).active()

    def target(self, memory: str, kind: str) -> VerifiedMemory:
        """The record that a supersede, retract or challenge is about; ``kind`` begins the refusal.

        Raises NotFound, or HnError when it is not a record.
        """
        from ai_kb.hn.fields import is_digest
        from ai_kb.hn.projection import is_row
        from ai_kb.hn.streams import find_memory

        found = find_memory(self.repo, self.reader, memory, self.prefixes) if is_digest(memory) else None
        if found is None:
            raise not_found(memory)
        if not is_row(found.envelope):
            raise HnError(f"{kind} target {memory} is not a memory record")
        return found


def not_found(memory: str) -> NotFound:
    """The refusal of an id that no verified stream holds; the caller's own argument is repeated."""
    return NotFound(f"memory {memory} was not found in verified local or accepted streams")


def ambiguous(memory: str, count: int) -> HnError:
    """The refusal of a prefix that fits several memories."""
    return HnError(f"memory {memory} is ambiguous: {count} ids start so", "give more digits")


def wrong_usage(line: str) -> HnUsageError:
    """A command line that lacks something or has too much."""
    return HnUsageError(f"usage: {line}")


def print_appended(console: Console, appended: Appended, *, as_json: bool) -> int:
    """What was appended, as one JSON line or as text."""
    record = appended.envelope.record
    anchor: Anchor | None = None if record is None else record.anchor
    if as_json:
        result: dict[str, object] = {
            "version": VERSION,
            "memoryId": appended.id,
            "stream": appended.stream,
            "actor": appended.envelope.actor,
        }
        if anchor is not None:
            result["anchor"] = anchor_mapping(anchor)
        console.stdout.write(canonical.encode(result).decode() + "\n")
        return 0
    console.out(f"Memory: {appended.id}")
    console.out(f"Stream: {appended.stream}")
    console.out(f"Actor: {appended.envelope.actor}")
    if anchor is not None:
        console.out(f"Anchor: {anchor.commit}")
    return 0
