"""``hn memory record``: sign and append one record. Its flags are also those of handoff and supersede."""

from __future__ import annotations

import argparse
import os
import stat
from typing import Any

from agent_base.cli import Console
from ai_kb.hn.commands import _shared
from ai_kb.hn.envelope import Handoff, Record
from ai_kb.hn.errors import HnError, InvalidRequest
from ai_kb.hn.flags import ONE_SIDE, FlagParser
from ai_kb.hn.gitstore import quoted
from ai_kb.hn.recordrequest import HANDOFF, RecordRequest, from_flags, from_json
from ai_kb.hn.streams import append, is_stream_id
from ai_kb.hn.strictjson import MAX_REQUEST_BYTES

_USAGE = "hn memory record --kind KIND --at REV --applies MODE --content TEXT"
_LISTS = ("completed", "assumption", "blocker", "next_action")
_FLAGS = (
    "stream",
    "actor",
    "kind",
    "content",
    "at",
    "applies",
    "subject",
    "path",
    "blob",
    "topic",
    "evidence",
    "outcome",
    *_LISTS,
)

_DESCRIPTION = """\
Sign one record and append it to your stream. A record says one thing and says where it holds:
at exactly one commit, at that commit and its descendants, or for one subject. Only what you
state here is read; nothing is captured from prompts, terminals or the environment.

KIND     observation, decision, assumption, attempt (with --outcome), verification (with
         --evidence) or handoff
MODE     exact: at REV only; descendants: at REV and what follows it; subject: for --subject
SUBJECT  issue:, proposal:, event:, policy:, pipeline: or run: and a full sha256: id
EVIDENCE git:<full object id>, event:sha256:<id> or memory:sha256:<id>
PATH     is anchored to the blob it has at REV, or to absent; --blob states which one it must be"""

_EXAMPLES = """\
examples:
  hn memory record --kind decision --at HEAD --applies descendants \\
    --topic architecture --evidence git:$(git rev-parse HEAD) \\
    --content "Keep memory streams separate from collaboration actor chains."
  hn memory record --kind attempt --outcome failed --at HEAD --applies exact \\
    --path src/app.py --content "Rebasing loses the merge."
  hn memory record --input request.json --json

request.json:
  {"version": 0, "kind": "observation", "content": "…",
   "anchor": {"commit": "<full id>", "paths": [{"path": "src/app.py", "blob": "<full id>|absent"}]},
   "applicability": {"mode": "descendants"}, "topics": [], "evidence": []}
"""


def add_record_flags(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the flags of a record."""
    add = parser.add_argument
    add("--kind", default="", help="memory kind")
    add("--at", default="", help="exact Git revision")
    add("--applies", default="", help="applicability mode")
    add("--content", default="", help="memory content")
    add("--subject", default="", help="full typed subject ID")
    add("--path", action="append", default=[], help="repository-relative path")
    add("--blob", action="append", default=[], help="exact blob ID or absent")
    add("--topic", action="append", default=[], help="topic")
    add("--evidence", action="append", default=[], help="typed evidence ID")
    add("--outcome", default="", help="attempt outcome")
    add("--completed", action="append", default=[], help="completed handoff statement")
    add("--assumption", action="append", default=[], help="handoff assumption")
    add("--blocker", action="append", default=[], help="handoff blocker")
    add("--next-action", action="append", default=[], help="proposed inert next action")
    add("--stream", default="", help="full stream ID")
    add("--actor", default="", help="full actor fingerprint")
    add("--input", default="", help="strict JSON input file or -")
    add("--json", action="store_true", help="emit JSON")


def add_parser(subparsers: Any) -> None:
    """The parser of ``hn memory record``."""
    parser: FlagParser = subparsers.add_parser(
        "record",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        usage_line=_USAGE,
        flags_stand=ONE_SIDE,
    )
    add_record_flags(parser)
    parser.add_argument("text", nargs="*", metavar="CONTENT", help="memory content, instead of --content")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, console: Console) -> int:
    """Append a record."""
    return append_record(args, console, operation="record", positional=args.text)


def append_record(
    args: argparse.Namespace,
    console: Console,
    *,
    operation: str,
    positional: list[str],
    target: str = "",
    handoff: bool = False,
) -> int:
    """Append the record that ``args`` describe; ``target`` is what a supersede replaces."""
    data = _check_sources(args, console, positional, handoff)
    with _shared.Session(console) as session:
        identity = session.identity()
        if target:
            found = session.target(target, "supersession")
            if found.envelope.actor != identity.actor:
                raise HnError(f"only the target author may supersede memory {target}")
        if data is None:
            request = RecordRequest(_from_flags(args, session, positional, handoff), args.stream, args.actor)
        else:
            request = from_json(session.reader, data, handoff=handoff, at=args.at, applies=args.applies)
        if request.actor not in ("", identity.actor):
            raise InvalidRequest("record input actor does not match the active identity")
        if request.stream and not is_stream_id(request.stream):
            raise InvalidRequest("invalid memory stream")
        appended = append(
            session.repo,
            session.reader,
            identity,
            operation=operation,
            now=console.now(),
            stream=request.stream,
            record=request.record,
            target=target,
            prefixes=session.prefixes,
        )
    return _shared.print_appended(console, appended, as_json=args.json)


def _check_sources(
    args: argparse.Namespace, console: Console, positional: list[str], handoff: bool
) -> bytes | None:
    """The machine request, None when flags describe the record. Raises HnError when both do, or neither."""
    context = ("at", "applies") if handoff else ()
    if args.input:
        if positional or any(getattr(args, name) for name in _FLAGS if name not in context):
            raise InvalidRequest("--input cannot be combined with record flags or positional content")
        if not args.json:
            raise InvalidRequest("--input requires --json")
        return read_input(args.input, console)
    if len(positional) > 1 or (positional and args.content):
        raise InvalidRequest("record content must have exactly one explicit source")
    kind = args.kind or (HANDOFF if handoff else "")
    if not (kind and args.at and args.applies and (args.content or positional)):
        raise _shared.wrong_usage(_USAGE)
    return None


def _from_flags(
    args: argparse.Namespace, session: _shared.Session, positional: list[str], handoff: bool
) -> Record:
    kind = HANDOFF if handoff else args.kind
    lists = [tuple(getattr(args, name)) for name in _LISTS]
    record = from_flags(
        session.reader,
        kind=kind,
        content=args.content or positional[0],
        at=args.at,
        applies=args.applies,
        subject=args.subject,
        paths=args.path,
        blobs=args.blob,
        topics=args.topic,
        evidence=args.evidence,
        outcome=args.outcome,
        handoff=Handoff(*lists) if kind == HANDOFF or any(lists) else None,
    )
    if handoff and args.kind not in ("", HANDOFF):
        raise InvalidRequest("handoff field kind must be handoff")
    return record


def read_input(name: str, console: Console) -> bytes:
    """The bytes of a machine request: of stdin for ``-``, else of a regular file. At most 1 MiB and one byte,
    so that what is too large can be told."""
    if name == "-":
        stream = getattr(console.stdin, "buffer", None)
        if stream is None:
            return console.stdin.read(MAX_REQUEST_BYTES + 1).encode("utf-8", "surrogateescape")
        data: bytes = stream.read(MAX_REQUEST_BYTES + 1)
        return data
    path = os.path.join(console.cwd, name)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InvalidRequest("explicit input must be a regular file")
        with open(path, "rb") as file:
            return file.read(MAX_REQUEST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InvalidRequest(f"open explicit input file: stat {name}: {reason}") from error
    except ValueError as error:  # a NUL in the name
        raise InvalidRequest(f"open explicit input file: {quoted(name)} is no file name") from error
