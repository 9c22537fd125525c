"""Every refusal of ``ai_kb.hn`` is an ``HnError``: untrusted bytes raise nothing else.

A message names the rule that failed and never repeats text of a payload, tree or policy.
"""

from __future__ import annotations

from agent_base.errors import SuiteError


class HnError(SuiteError):
    """Base of every failure that untrusted bytes, a repository or a request can cause."""

    code = "hn"


class HnUsageError(HnError):
    """The command line or a flag cannot be understood; nothing was done."""

    exit_code = 2
    code = "usage"


class InvalidEnvelope(HnError):
    """The bytes are not the canonical form of a valid ``hn-memory/0`` envelope."""

    code = "invalid-envelope"


class InvalidSignature(HnError):
    """The signature does not verify over the exact bytes, or the key proves nothing."""

    code = "invalid-signature"


class InvalidStream(HnError):
    """A commit, tree, ref or the chain of a memory stream breaks a rule."""

    code = "invalid-stream"


class InvalidEvent(HnError):
    """An ``hn/0`` collaboration event or its chain breaks a rule."""

    code = "invalid-event"


class InvalidPolicy(HnError):
    """``.hn/policy.json`` at the query commit breaks a rule."""

    code = "invalid-policy"


class InvalidRequest(HnError):
    """A machine request or a filter breaks a rule; nothing was changed."""

    code = "invalid-request"


class InvalidCursor(HnError):
    """The continuation cursor is malformed or belongs to another query, policy, source or bound."""

    code = "invalid-cursor"


class InvalidIndex(HnError):
    """The private index file is damaged, unsafe or of another version."""

    code = "invalid-index"


class StaleIndex(InvalidIndex):
    """The private index was built from other sources or another policy."""

    code = "stale-index"


class LostRace(HnError):
    """Somebody else moved the stream's head; nothing was changed."""

    code = "lost-race"


class NotFound(HnError):
    """No such memory, identity, revision or remote."""

    code = "not-found"
