"""The base of every error that a command turns into one line and an exit code."""


class SuiteError(Exception):
    """A failure with a message for people.

    ``message`` says what was expected, what was found, and that nothing was changed
    where that is so; ``hint`` (may be empty) says what to do next. ``exit_code`` is
    what a command ends with: 1 failed, 2 usage.
    """

    exit_code = 1
    code = "failed"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SuiteError):
    """The command line cannot be understood; nothing was done."""

    exit_code = 2
    code = "usage"


class UnsafePath(SuiteError):
    """A file or directory that another user could have planted or could change."""

    code = "unsafe-path"
