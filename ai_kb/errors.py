"""What the capsule side refuses, each with a name of its own."""

from __future__ import annotations

from agent_base.errors import SuiteError


class KbError(SuiteError):
    """Base of every refusal of ``ai_kb`` outside the protocol."""

    code = "kb"


class InvalidCapsule(KbError):
    """A field of a capsule breaks a rule; nothing was changed."""

    exit_code = 2
    code = "invalid-capsule"


class EmptyText(InvalidCapsule):
    """A title, body or value is blank; nothing was changed."""

    code = "empty"


class Oversized(KbError):
    """A title or a whole capsule is longer than what is allowed; nothing was changed."""

    code = "oversized"


class HoldsSecret(KbError):
    """The text holds what looks like a credential; nothing was changed."""

    code = "secret"


class AlreadyKnown(KbError):
    """An active capsule says (almost) the same; nothing was changed."""

    code = "already-known"


class NeedsPerson(KbError):
    """Only a person at a terminal may do this; nothing was changed."""

    code = "needs-person"


class NoStore(KbError):
    """The store that was asked for is not there."""

    code = "no-store"


class NotFound(KbError):
    """No such capsule, or the prefix of its id fits several."""

    code = "not-found"
