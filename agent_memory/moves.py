"""Changes of several files that happen as a whole: select, merge, wipe.

Each holds the activity lock exclusively, so no writer is in the middle of anything. Select and merge
publish an *intent* first (``.intent-v1.json``); every step after it can be repeated, and whoever comes
next carries a left-over intent out (``recover``). So, killed at any point, nothing has changed or a
second run finishes it. Wipe needs none: run again, it removes the rest.

What was removed never comes back through the mirror: it is forgotten there under the mirror's lock
before it goes here. "Hook memory, ,agent-memory commands".
"""

from __future__ import annotations

import os

from agent_base import files, lightjson
from agent_base.digests import sha256_hex
from agent_base.errors import SuiteError
from agent_memory import locks, queue, topics, upkeep, worklog
from agent_memory import workspace as places
from agent_memory.mirror import Forgetting, Mirror, topic_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_memory.topics import State

SELECT = "select"
MERGE = "merge"
LOCK_SECONDS = 30.0
_INTENT_LIMIT = 1 << 16


class NoSuchTopic(SuiteError):
    """The topic has neither spec nor worklog."""

    code = "no-such-topic"


class TopicExists(SuiteError):
    """A topic that should be made is there already."""

    code = "topic-exists"


class Intent:
    """What a select or merge is about to do.

    Attributes:
        verb: ``select`` or ``merge``.
        source, target: the bucket that is folded, and into which.
        key: of a select, the session that is bound; "" of a merge.
        moment: when it was asked for, RFC 3339; stands in the separator between specs.
        seed: of a select that creates, the text of the new spec; else "".
    """

    __slots__ = ("key", "moment", "seed", "source", "target", "verb")

    def __init__(
        self, verb: str, source: str, target: str, moment: str, key: str = "", seed: str = ""
    ) -> None:
        self.verb = verb
        self.source = source
        self.target = target
        self.moment = moment
        self.key = key
        self.seed = seed

    def same_as(self, other: Intent) -> bool:
        """Whether both ask for the same, whenever they were asked."""
        return (self.verb, self.source, self.target, self.key) == (
            other.verb, other.source, other.target, other.key,
        )  # fmt: skip

    def to_bytes(self) -> bytes:
        """As it stands in its file."""
        return lightjson.dumps({name: getattr(self, name) for name in self.__slots__}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Intent:
        """Read an intent. SuiteError when it is none that this version could have written."""
        try:
            value = lightjson.loads(data)
            fields = [str(value[name]) for name in ("verb", "source", "target", "moment", "key", "seed")]
        except (ValueError, RecursionError, KeyError, TypeError):
            raise SuiteError("the note of an unfinished select or merge is damaged", _REPAIR) from None
        intent = cls(*fields)
        names = places.is_bucket_name(intent.source) and places.is_topic(intent.target)
        select = intent.verb == SELECT and intent.source == places.session_topic(intent.key)
        if not names or not (select or (intent.verb == MERGE and not intent.key)):
            raise SuiteError("the note of an unfinished select or merge is damaged", _REPAIR)
        return intent


_REPAIR = "`,agent-memory doctor --repair` removes it"


class Moved:
    """What a select or merge did. ``folded``: worklog records; ``finished``: an earlier run had been
    killed and this one carried it out; ``flush``: what is still pending; ``created``: a topic was made."""

    __slots__ = ("created", "finished", "flush", "folded")

    def __init__(
        self,
        folded: int = 0,
        finished: bool = False,
        flush: queue.FlushResult | None = None,
        *,
        created: bool = False,
    ) -> None:
        self.created = created
        self.folded = folded
        self.finished = finished
        self.flush = flush or queue.FlushResult()


# ---------------------------------------------------------------- recovery


def unfinished(state: State) -> bool:
    """Whether a select or merge was killed and is not carried out yet."""
    return os.path.lexists(state.path(topics.INTENT))


def recover(state: State, mirror: Mirror | None, *, timeout: float | None = LOCK_SECONDS) -> None:
    """Carry out a select or merge that was killed, if there is one. LockTimeout when others write."""
    if unfinished(state):
        with locks.activity(state.spec_dir, exclusive=True, timeout=timeout):
            _recover_held(state, mirror)


def _recover_held(state: State, mirror: Mirror | None) -> Intent | None:
    """With the activity lock held: the intent that was carried out, or None."""
    try:
        intent = Intent.from_bytes(files.read_private(state.path(topics.INTENT), _INTENT_LIMIT))
    except FileNotFoundError:
        return None
    try:
        _carry_out(state, mirror, intent)
    except (SuiteError, OSError) as error:
        message = (
            f"an unfinished {intent.verb} of {intent.source!r} into {intent.target!r} cannot be finished: "
            f"{error}"
        )
        if isinstance(error, SuiteError):
            raise type(error)(message, error.hint) from error
        raise SuiteError(message) from error
    return intent


def discard_intent(state: State) -> bool:
    """Remove an intent that cannot be read (``doctor --repair``); whether one was removed."""
    with locks.activity(state.spec_dir, exclusive=True, timeout=LOCK_SECONDS):
        try:
            Intent.from_bytes(files.read_private(state.path(topics.INTENT), _INTENT_LIMIT))
        except FileNotFoundError:
            return False
        except SuiteError:
            return topics.remove(state.path(topics.INTENT))
    return False


# ---------------------------------------------------------------- select and merge


def select(
    state: State, mirror: Mirror | None, key: str, topic: str, *, create: bool, summary: str, moment: str
) -> Moved:
    """Bind the session ``key`` to ``topic`` and fold its fallback bucket into it.

    Raises:
        UnsafeTopicName, NoSuchTopic, TopicExists: nothing was changed.
    """
    places.safe_topic(topic)
    state.ensure()
    seed = f"topic: {topic}\nsummary: {' '.join(summary.split())}\n" if create else ""
    intent = Intent(SELECT, places.session_topic(key), topic, moment, key, seed)
    with locks.activity(state.spec_dir, exclusive=True, timeout=LOCK_SECONDS):
        earlier = _recover_held(state, mirror)
        flush = queue.flush(state.spec_dir, key, held=True)
        if earlier is not None and earlier.same_as(intent):
            return Moved(finished=True, flush=flush)
        exists, bound = state.bucket_exists(topic), state.binding(key) == topic
        if create and exists and not bound:
            raise TopicExists(
                f"topic {topic!r} exists already; nothing was changed",
                "leave out --create to bind this session to it, or choose another name",
            )
        if not create and not exists and not bound:
            raise NoSuchTopic(
                f"there is no topic {topic!r} in this workspace; nothing was changed",
                _similar(state, topic),
            )
        return Moved(_begin(state, mirror, intent), flush=flush, created=create and not exists)


def merge(state: State, mirror: Mirror | None, source: str, target: str, *, moment: str) -> Moved:
    """Fold the topic ``source`` into ``target``: pending events, worklog, spec, bindings, pointer.

    Where it was merged already (the earlier run may have been killed before it could say so), that is
    said and nothing is done.

    Raises:
        UnsafeTopicName, NoSuchTopic: nothing was changed.
    """
    _check_merge(source, target)
    if not state.exists():
        _need_both(state, source, target)
    intent = Intent(MERGE, source, target, moment)
    with locks.activity(state.spec_dir, exclusive=True, timeout=LOCK_SECONDS):
        earlier = _recover_held(state, mirror)
        flush = queue.flush(state.spec_dir, held=True)
        if earlier is not None and earlier.same_as(intent):
            return Moved(finished=True, flush=flush)
        if not state.bucket_exists(source) and state.merged_into().get(source) == target:
            return Moved(finished=True, flush=flush)
        _need_both(state, source, target)
        return Moved(_begin(state, mirror, intent), flush=flush)


def plan_merge(state: State, source: str, target: str) -> dict[str, object]:
    """What ``merge`` would do, as far as it can be seen without flushing. Changes nothing."""
    _check_merge(source, target)
    _need_both(state, source, target)
    _merged_spec(state, Intent(MERGE, source, target, ""))
    waiting = [n for k, n in queue.pending(state.spec_dir)]
    moved = worklog.read(state.worklog_path(source))
    together = worklog.merged(worklog.read(state.worklog_path(target)), moved, topic=target)
    return {
        "source": source,
        "target": target,
        "worklog_entries": len(moved),
        "dropped_by_cap": max(0, len(together) - worklog.KEEP),
        "pending": len(waiting),
        "spec": os.path.lexists(state.spec_path(source)),
        "bindings": sorted(k for k, topic in state.bindings().items() if topic == source),
        "pointer": state.pointer() == source,
        "no_context": os.path.lexists(state.no_context_path(source)),
    }


def _check_merge(source: str, target: str) -> None:
    if source == target:
        raise SuiteError(f"a topic cannot be merged into itself ({source!r}); nothing was changed")
    places.safe_topic(target)
    if not places.is_bucket_name(source):
        places.safe_topic(source)


def _need_both(state: State, source: str, target: str) -> None:
    for topic in (source, target):
        if not state.bucket_exists(topic):
            raise NoSuchTopic(
                f"there is no topic {topic!r} in this workspace; nothing was changed", _similar(state, topic)
            )


def need(state: State, topic: str) -> None:
    """Raises NoSuchTopic where ``topic`` has neither spec nor worklog."""
    if not state.bucket_exists(topic):
        raise NoSuchTopic(f"there is no topic {topic!r} in this workspace", _similar(state, topic))


def _similar(state: State, topic: str) -> str:
    merged = state.merged_into().get(topic)
    if merged is not None:
        return f"it was merged into {merged}"
    from difflib import get_close_matches

    named = [bucket.topic for bucket in state.buckets() if bucket.named]
    close = get_close_matches(topic, named, 3, 0.5) or named[:3]
    return f"there is: {', '.join(close)}" if close else "add --create to `select` to make one"


def _begin(state: State, mirror: Mirror | None, intent: Intent) -> int:
    _check(state, mirror, intent)
    files.write_atomic(state.path(topics.INTENT), intent.to_bytes())
    return _carry_out(state, mirror, intent)


def _check(state: State, mirror: Mirror | None, intent: Intent) -> None:
    """Read all that will be read: what somebody else could have written, or would be too long, is refused
    while nothing has changed, rather than found half-way."""
    try:
        _merged_spec(state, intent)
        if worklog.read(state.worklog_path(intent.source)):
            worklog.read(state.worklog_path(intent.target))
        if intent.verb == MERGE:
            state.pointer()
        if mirror is not None:
            mirror.check_can_forget(topic_files(intent.source))
    except SuiteError as error:
        unchanged = "nothing was changed"
        message = error.message if unchanged in error.message else f"{error.message}; {unchanged}"
        raise type(error)(message, error.hint) from error


def _carry_out(state: State, mirror: Mirror | None, intent: Intent) -> int:
    """Every step, in an order that loses nothing when it stops anywhere; each can be repeated."""
    # (1) What is created, and who is bound: from here on new events go to the target.
    if intent.seed and not state.bucket_exists(intent.target):
        state.write_spec(intent.target, intent.seed)
    if intent.seed:
        state.note_merged(intent.target, None)
    for key, topic in state.bindings().items():
        if intent.verb == MERGE and topic == intent.source:
            state.bind(key, intent.target)
    if intent.verb == SELECT and state.binding(intent.key) != intent.target:
        state.bind(intent.key, intent.target)
    if intent.verb == MERGE and state.pointer() == intent.source:
        state.set_pointer(intent.target)
    # (2) The source's content, added to the target's.
    folded = upkeep.fold(state.spec_dir, intent.source, intent.target, timeout=LOCK_SECONDS)
    text = _merged_spec(state, intent)
    if text is not None:
        state.write_spec(intent.target, text)
    # (3) The source, first where it could come back from.
    with Forgetting(mirror) as forgetting:
        kept = (topics.POINTER, *topic_files(intent.target))
        forgetting.forget(topic_files(intent.source), kept)
        topics.remove(state.spec_path(intent.source))
        topics.remove(state.no_context_path(intent.source))
        files.fsync_dir(state.spec_dir)
    # (4) Done; asked again, a merge says so.
    if intent.verb == MERGE:
        state.note_merged(intent.source, intent.target)
    topics.remove(state.path(topics.INTENT))
    files.fsync_dir(state.spec_dir)
    return folded


def _merged_spec(state: State, intent: Intent) -> str | None:
    """The target's spec with the source's below a dated separator; None when there is nothing to add.

    The separator carries a digest of what stands below it: a repeated run adds nothing twice.
    """
    source = state.read_spec(intent.source)
    if source is None or not source.strip():
        return None
    digest = sha256_hex(source.encode("utf-8", "replace"))[:12]
    target = (state.read_spec(intent.target) or "").rstrip("\n")
    if f"({digest}) ---" in target:
        return None
    separator = f"--- merged from {intent.source} on {intent.moment} ({digest}) ---"
    text = f"{target}\n\n{separator}\n{source.strip(chr(10))}\n".lstrip("\n")
    state.check_spec_size(intent.target, text)
    return text


# ---------------------------------------------------------------- wipe


def wipe(state: State, mirror: Mirror | None, topic: str, *, reset_pointer: bool) -> list[str]:
    """Remove a topic's spec, worklog and sentinel, with its pending events, here and in the mirror;
    names of what went. Bindings stay: their sessions start over."""
    with locks.activity(state.spec_dir, exclusive=True, timeout=LOCK_SECONDS):
        _recover_held(state, mirror)
        queue.flush(state.spec_dir, held=True)
        names = list(topic_files(topic))
        if reset_pointer:
            names.append(topics.POINTER)
        if mirror is not None:
            mirror.check_can_forget(names)
        with Forgetting(mirror) as forgetting:
            forgetting.forget(names)
            removed = [name for name in names if topics.remove(state.path(name))]
            files.fsync_dir(state.spec_dir)
    return removed


def wipe_candidates(state: State, topic: str, *, reset_pointer: bool) -> list[str]:
    """Names of what ``wipe`` would remove as things stand."""
    names = [*topic_files(topic), *((topics.POINTER,) if reset_pointer else ())]
    return [name for name in names if os.path.lexists(state.path(name))]
