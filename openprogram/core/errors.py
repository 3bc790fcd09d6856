"""What can go wrong, as one tree. Each class has a stable `code` that clients may rely on.

    OpenProgramError
    ├── RequestError                what a client sent cannot be done; nothing was applied
    │   ├── BadJson                 bad_json
    │   ├── BadFrame                bad_frame
    │   ├── UnknownAction           unknown_action
    │   ├── BadField                bad_field
    │   ├── TooLarge                too_large
    │   ├── UnknownSession          unknown_session    (also for someone else's)
    │   ├── UnknownPreset           unknown_preset
    │   ├── UnknownTool             unknown_tool
    │   ├── IdConflict              id_conflict
    │   ├── Busy                    busy
    │   ├── LimitExceeded           limit_exceeded
    │   ├── NoEndpoint              no_endpoint
    │   └── Unauthorised            unauthorised
    ├── StorageError                storage_failed     the disk or database refused; nothing was applied
    │   ├── DatabaseTooNew          written by a newer program
    │   ├── DatabaseCorrupt
    │   └── Conflict                a compare-and-set met a newer value; retried inside, never shown
    ├── ConfigError                 bad_config         the server cannot start or keeps its last good settings
    └── ToolFailure                 tool_failed        told to the model as the result of its call
        └── BadArguments            bad_arguments      the call never ran; says which argument and what was expected

Provider failures are values, not exceptions: see `openprogram.core.prompt.ProviderFailure`.
"""

from typing import ClassVar


class OpenProgramError(Exception):
    """Base of all errors of this program: a message for people, and perhaps where and what to do.

    `field` is a dotted path into what was sent; `hint` says what to do next.
    """

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.hint = hint


class RequestError(OpenProgramError):
    """What a client sent cannot be done. Nothing of it was applied."""

    code = "bad_frame"


class BadJson(RequestError):
    """The bytes are not JSON."""

    code = "bad_json"


class BadFrame(RequestError):
    """JSON, but not a frame of this protocol."""

    code = "bad_frame"


class UnknownAction(RequestError):
    """No action of that name."""

    code = "unknown_action"


class BadField(RequestError):
    """A field is missing, of the wrong type or out of range; `field` says which."""

    code = "bad_field"


class TooLarge(RequestError):
    """Larger than the protocol allows."""

    code = "too_large"


class UnknownSession(RequestError):
    """No such chat, or not this user's: the two are not told apart."""

    code = "unknown_session"


class UnknownPreset(RequestError):
    """No preset of that name; `hint` lists the choices."""

    code = "unknown_preset"


class UnknownTool(RequestError):
    """No tool of that name in the registry."""

    code = "unknown_tool"


class IdConflict(RequestError):
    """A client id was used before for something else."""

    code = "id_conflict"


class Busy(RequestError):
    """Not now: a turn is running, or the server is shutting down."""

    code = "busy"


class LimitExceeded(RequestError):
    """A limit of this server was reached."""

    code = "limit_exceeded"


class NoEndpoint(RequestError):
    """No model endpoint can serve this chat."""

    code = "no_endpoint"


class Unauthorised(RequestError):
    """The credential is missing or wrong."""

    code = "unauthorised"


class StorageError(OpenProgramError):
    """The disk or the database refused. Nothing of the commit was applied."""

    code = "storage_failed"


class DatabaseTooNew(StorageError):
    """The database was written by a newer version of the program."""


class DatabaseCorrupt(StorageError):
    """The database file is damaged."""


class Conflict(StorageError):
    """A compare-and-set found another revision, or a unique key was taken. Read again and retry."""


class ConfigError(OpenProgramError):
    """A configuration file or option cannot be used; `field` names the key."""

    code = "bad_config"


class ToolFailure(OpenProgramError):
    """A tool could not do what was asked. The message goes to the model as the call's result."""

    code = "tool_failed"


class BadArguments(ToolFailure):
    """The arguments of a call do not fit the tool's schema; nothing ran. `field` is the first faulty argument."""

    code = "bad_arguments"
