"""The protocol's verbs under ``,ai-kb``: the same code as ``hn memory …``, once per store.

A verb's own flags go to the protocol's parser; ``--store``, ``--workspace`` and the session are read
here. Where a memory id is expected, 8 or more hex digits of its beginning do. What is beside the
protocol's fields (``store``, ``source_changed``) is added here and never inside an envelope's rows.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_base.cli import Console
from agent_base.errors import SuiteError, UsageError
from agent_base.inert import clean_surrogates
from agent_base.parsing import Parser
from ai_kb import consent, stores
from ai_kb.capsule import BY_AGENT
from ai_kb.cli import PROG
from ai_kb.commands import _common
from ai_kb.errors import KbError, NotFound
from ai_kb.held import digits_of, full_id
from ai_kb.hn.commands._where import InRepository
from ai_kb.hn.commands.record import read_input
from ai_kb.hn.envelope_types import VerifiedMemory
from ai_kb.hn.errors import HnUsageError, InvalidRequest
from ai_kb.hn.flags import FlagParser, Verbs, is_on
from ai_kb.hn.pattern import InvalidPattern
from ai_kb.hn.prefixes import PrefixStore
from ai_kb.hn.streams import find_starting
from ai_kb.hn.strictjson import Reader, fold
from ai_kb.remember import project_of
from ai_kb.stores import HOME, Store

_OWN = ("store", "workspace", "session-id", "session-key")


class Words:
    """A protocol verb's command line taken apart.

    Attributes:
        rest: the words for the protocol's parser.
        place: where the command works.
        store: HOME, REPO or ``""``.
    """

    def __init__(self, rest: list[str], place: _common.Place, store: str) -> None:
        self.rest = rest
        self.place = place
        self.store = store

    @property
    def as_json(self) -> bool:
        """Whether JSON is asked for (before any ``--``)."""
        before = self.rest[: self.rest.index("--")] if "--" in self.rest else self.rest
        return "--json" in before


def add_words(subparsers: Any, verb: str, summary: str) -> Parser:
    """A parser that leaves every word of ``verb`` as it is."""
    # No character can start an option here: the protocol's parser reads them.
    parser: Parser = subparsers.add_parser(verb, help=summary, add_help=False, prefix_chars="\0")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    return parser


def parser_of(verb: str) -> FlagParser:
    """The protocol's parser of ``verb``, speaking as ``,ai-kb``."""
    verbs = Verbs(PROG)
    _module(verb).add_parser(verbs)
    parser = verbs.parser
    assert parser is not None
    own = "where:\n  --store home|repo, --workspace DIR, --session-id ID"
    for name in ("description", "epilog", "usage_line"):
        setattr(parser, name, _as_ours(getattr(parser, name) or ""))
    parser.epilog = f"{own}\n\n{parser.epilog}"
    for action in parser._actions:
        if action.dest == "memory" and action.help:
            action.help = action.help.replace("full id of", "id, or at least 8 hex digits, of")
    return parser


def _as_ours(text: str) -> str:
    """What the protocol's command says about itself, said of ``,ai-kb``."""
    return text.replace("hn memory ", f"{PROG} ").replace("hn sync", f"{PROG} sync")


def _module(verb: str) -> Any:
    try:
        return importlib.import_module(f"ai_kb.hn.commands.{verb}")
    except ModuleNotFoundError as error:
        raise KbError(f"{verb} is not part of this installation") from error


def split(verb: str, words: Sequence[str], console: Console) -> Words:
    """Take this command's own options out of ``words``. Raises UsageError."""
    flags = parser_of(verb)._flags()
    own: dict[str, str] = {}
    rest: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word == "--":
            rest += words[position - 1 :]
            break
        if len(word) < 2 or word[0] != "-":
            rest.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        takes_value = name in _OWN or (name in flags and flags[name].nargs != 0)
        if takes_value and not equals:
            if position >= len(words):
                raise UsageError(f"flag needs an argument: --{name}", f"see `{PROG} {verb} --help`")
            value = words[position]
            position += 1
            if name not in _OWN:
                rest += [word, value]
                continue
        if name in _OWN:
            own[name] = value
        elif name == "json" and name in flags and is_on(value, equals) is not None:
            rest += ["--json"] if is_on(value, equals) else []
        else:
            rest.append(word)
    store = own.get("store", "")
    if store and store not in stores.STORES:
        raise UsageError(f"there is no store {store[:40]!r}", "--store home or --store repo")
    args = argparse.Namespace(
        workspace=own.get("workspace"),
        session_id=own.get("session-id", ""),
        session_key=own.get("session-key", ""),
    )
    return Words(rest, _common.place(args, console), store)


def usable(words: Words, console: Console) -> list[Store]:
    """The stores a query goes to: a repository without a commit holds nothing to query."""
    found = stores.stores(words.place.workspace, console.env, words.store)
    return [store for store in found if words.store or store.name == HOME or _has_commit(store)]


def _has_commit(store: Store) -> bool:
    with store.repo.objects() as reader:
        return reader.head() is not None


def run_in(store: Store, verb: str, rest: Sequence[str], console: Console) -> tuple[int, str]:
    """Run the protocol's ``verb`` in ``store``: exit code, and what it printed."""
    return _handle(store, verb, parser_of(verb).parse_args(list(rest)), console)


def _handle(store: Store, verb: str, args: argparse.Namespace, console: Console) -> tuple[int, str]:
    printed = io.StringIO()
    handler = getattr(args, "run", _module(verb).run)
    try:
        status: int = handler(args, InRepository(console, store.repo, printed))
    except HnUsageError as error:
        raise HnUsageError(_as_ours(error.message), _as_ours(error.hint)) from error
    return status, printed.getvalue()


def wants_help(verb: str, words: Sequence[str], console: Console) -> bool:
    """Print the verb's help when that is all that is asked for."""
    if not words or words[0] not in ("-h", "-help", "--help"):
        return False
    console.stdout.write(parser_of(verb).format_help())
    return True


# ---------------------------------------------------------------- queries


def query(verb: str, words: Sequence[str], console: Console) -> int:
    """``recall`` and ``grep``: one envelope per store, home first; 1 when a store failed."""
    if wants_help(verb, words, console):
        return 0
    split_words = split(verb, words, console)
    if verb == "grep":
        split_words.rest = _flags_first(split_words.rest)
    found = usable(split_words, console)
    if len(found) > 1 and any(w.lstrip("-").split("=")[0] == "cursor" for w in split_words.rest):
        raise UsageError("a cursor belongs to one store", "say which: --store home or --store repo")
    as_json = split_words.as_json
    machine = (as_json and split_words.rest) or ["--json", *split_words.rest]
    envelopes: list[dict[str, object]] = []
    failed = False
    for store in found:
        try:
            _, out = run_in(store, verb, machine, console)
            envelope: dict[str, Any] = json.loads(out)
            changed = source_changed(store, envelope)
            envelopes.append({"store": store.name, "source_changed": changed, **envelope})
            if not as_json:
                _, text = run_in(store, verb, split_words.rest, console)
                _show(store, text, changed, console)
        except SuiteError as error:
            # A pattern is as wrong in the other store.
            if error.exit_code == 2 or len(found) == 1 or isinstance(error, InvalidPattern):
                raise
            failed = True
            envelopes.append({"store": store.name, "error": {"code": error.code, "message": error.message}})
            console.err(f"{PROG}: {store.described}: {_common.shown(error.message)}")
    if as_json:
        console.json(envelopes)
    elif not found:
        console.err(f"{PROG}: there is no store here yet ({PROG} init makes one)")
    if failed:
        return 1
    return 0 if verb != "grep" or any(envelope.get("memories") for envelope in envelopes) else 1


def _flags_first(words: Sequence[str]) -> list[str]:
    """``words`` of grep with the pattern last: here flags may stand behind it too."""
    position = _first_positional("grep", words)
    if position is None or words[position - 1 : position] == ["--"]:
        return list(words)
    rest = [*words[:position], *words[position + 1 :]]
    return [*rest, "--", words[position]] if "--" not in rest else list(words)


def _show(store: Store, text: str, changed: Mapping[str, Sequence[str]], console: Console) -> None:
    console.out(f"== {store.described}")
    _common.say_lines(console, text)
    for memory_id, paths in changed.items():
        _common.say(console, f"source changed: {memory_id}: {', '.join(paths)}")


def source_changed(store: Store, envelope: Mapping[str, Any]) -> dict[str, list[str]]:
    """Anchored paths that HEAD has no longer as they were, by id of the memories in ``envelope``."""
    asked = [
        (str(row["id"]), str(entry["path"]), str(entry["blob"]))
        for row in envelope.get("memories") or ()
        for entry in row["anchor"].get("paths") or ()
    ]
    return drift(store, asked)


def drift(store: Store, asked: Sequence[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Of (id, path, blob) those whose path is another blob at HEAD: paths by id."""
    found: dict[str, list[str]] = {}
    if not asked:
        return found
    with store.repo.objects() as reader:
        head = reader.head()
        if head is None:
            return found
        paths = list(dict.fromkeys(path for _, path, _ in asked))
        now = dict(zip(paths, reader.path_blobs(head, paths), strict=True))
    for memory_id, path, blob in asked:
        if now[path] is not None and now[path] != blob:
            found.setdefault(memory_id, []).append(path)
    return found


# ---------------------------------------------------------------- one memory


def find(text: str, words: Words, console: Console, *, reading: bool = False) -> tuple[Store, VerifiedMemory]:
    """The store and the verified memory that an id or the beginning of one names.

    Raises NotFound; where it is not found and a store cannot be verified, that store's error.
    """
    digits = digits_of(text)
    holders: dict[str, tuple[Store, VerifiedMemory]] = {}
    failure: SuiteError | None = None
    for store in stores.stores(words.place.workspace, console.env, words.store):
        try:
            with store.repo.objects() as reader, PrefixStore.open(store.repo) as prefixes:
                found = find_starting(store.repo, reader, digits, prefixes) if digits else {}
        except SuiteError as error:
            failure = error
            continue
        for memory_id, memory in found.items():
            holders.setdefault(memory_id, (store, memory))
    try:
        return holders[full_id(text, holders, reading=reading)]
    except NotFound:
        if failure is not None:
            raise failure from None
        raise


def about(verb: str, words: Sequence[str], console: Console) -> tuple[Store, Words, list[str]]:
    """For a verb whose first argument is a memory: its store, the words, and the words with the full id."""
    split_words = split(verb, words, console)
    position = _first_positional(verb, split_words.rest)
    if position is None:
        raise UsageError(f"usage: {parser_of(verb).usage_line}")
    store, memory = find(split_words.rest[position], split_words, console, reading=verb == "show")
    rest = list(split_words.rest)
    rest[position] = memory.id
    return store, split_words, rest


def _first_positional(verb: str, words: Sequence[str]) -> int | None:
    flags = parser_of(verb)._flags()
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            return position + 1 if position + 1 < len(words) else None
        if len(word) < 2 or word[0] != "-":
            return position
        name, equals, _ = word.lstrip("-").partition("=")
        position += 2 if name in flags and flags[name].nargs != 0 and not equals else 1
    return None


# ---------------------------------------------------------------- signing a record


def sign(
    store: Store,
    verb: str,
    rest: Sequence[str],
    place: _common.Place,
    console: Console,
    request: bytes | None = None,
) -> tuple[int, str]:
    """Run a protocol's verb that signs a record: exit code, and what it printed.

    Anchor and applicability that are left out are the home store's root, or HEAD, and ``descendants``.
    What no person signs carries the mark of an agent, whichever way it is said, and no mark of another
    project or workspace than that of ``place``.

    Args:
        request: the machine request, where it was read already.
    """
    args = parser_of(verb).parse_args(list(rest))
    by_agent = not consent.is_person(console)
    stated: set[str] = set()
    if args.input:
        data = read_input(args.input, console) if request is None else request
        value = load_request(data)
        if isinstance(value, dict):
            stated = {fold(name) for name, entry in value.items() if entry is not None}
        if by_agent:
            data = _marked(value, place, console)
        args.input = "-"
        console = _reading(console, data)
    elif by_agent:
        args.topic = _agents_topics(args.topic, place, console)
    if not args.input or verb == "handoff":
        if not args.at and "anchor" not in stated:
            args.at = stores.HOME_ROOT if store.name == HOME else "HEAD"
        if not args.applies and "applicability" not in stated:
            args.applies = "descendants"
    return _handle(store, verb, args, console)


def load_request(data: bytes) -> object:
    """The JSON value of a machine request. Raises InvalidRequest."""
    return Reader("record input", InvalidRequest).load(data)


def _agents_topics(topics: Sequence[str | None], place: _common.Place, console: Console) -> list[str | None]:
    """``topics`` with the mark of an agent. Raises KbError for one that says another project or workspace."""
    own: set[str] = set()
    for topic in filter(None, topics):
        name = topic.strip().lower()  # as the protocol normalizes it
        if not name.startswith(("project/", "workspace/")):
            continue
        if not own:
            project = project_of(place.workspace, console.env)
            own = {*(f"project/{i}" for i in project.ids), f"workspace/{project.digest}"}
        if name not in own:
            raise KbError(
                f"the topic {topic[:80]!r} names another project or workspace than this; nothing was changed",
                "only a person at a terminal says where else something belongs",
            )
    return [*topics, BY_AGENT]


def _marked(value: object, place: _common.Place, console: Console) -> bytes:
    """A machine request with the mark of an agent among its topics."""
    if isinstance(value, dict):
        for name, topics in value.items():  # the case of keys does not count
            if fold(name) == "topics" and isinstance(topics, list):
                if all(topic is None or isinstance(topic, str) for topic in topics):
                    value[name] = _agents_topics(topics, place, console)
    return clean_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()


def _reading(console: Console, data: bytes) -> Console:
    """``console`` with ``data`` on its standard input."""
    return Console(
        env=console.env,
        stdin=io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"),
        stdout=console.stdout,
        stderr=console.stderr,
        now=console.now,
        cwd=console.cwd,
    )
