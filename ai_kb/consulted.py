"""What a store has to say about a capsule that is to be made: the memories it names, and what is like it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ai_kb import alike, shelf
from ai_kb.capsule import Capsule
from ai_kb.held import digits_of
from ai_kb.hn.envelope import VerifiedMemory
from ai_kb.hn.projection import ACTIVE
from ai_kb.likeness import Known
from ai_kb.shelf import Shelf
from ai_kb.stores import Store


class Consulted:
    """The answer of one store.

    Attributes:
        named: memories of any operation that one of the names may mean, by id.
        near: active capsules that may say almost the same, newest first.
    """

    __slots__ = ("named", "near", "store")

    def __init__(self, store: Store, named: dict[str, VerifiedMemory], near: list[Known]) -> None:
        self.store = store
        self.named = named
        self.near = near

    def capsule(self, memory_id: str) -> Capsule | None:
        """The capsule with that id among ``named``."""
        memory = self.named.get(memory_id)
        record = None if memory is None else memory.envelope.record
        return None if record is None else Capsule(record.kind, record.content, record.topics)


def consult(store: Store, names: Iterable[str], title: str, body: str) -> Consulted:
    """Ask ``store`` for the memories that ``names`` may mean (ids, or at least 8 hex digits of them), and for
    what may say almost the same as ``title`` and ``body``.

    Raises HnError for an invalid stream or policy, IndexUnavailable.
    """
    digits = [digits_of(name) for name in names]

    def answer(held: Shelf) -> Consulted:
        named = {memory_id: memory for start in digits for memory_id, memory in held.starting(start).items()}
        near = alike.near(held.index, store.name, title, body, held.lifecycle(ACTIVE))
        return Consulted(store, named, near)

    return shelf.ask(store, answer)


def holders(answers: Sequence[Consulted]) -> dict[str, Consulted]:
    """Whose every named memory is."""
    return {memory_id: answer for answer in answers for memory_id in answer.named}
