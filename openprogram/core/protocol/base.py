"""What actions and acks are made of."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from annotated_types import MaxLen, MinLen
from pydantic import ConfigDict, Discriminator, Tag

ClientId = Annotated[str, MinLen(1), MaxLen(128)]
Name = Annotated[str, MinLen(1), MaxLen(200)]
Title = Annotated[str, MinLen(1), MaxLen(300)]
Workspace = Annotated[str, MinLen(1), MaxLen(4096)]
STRICT: Final = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseAction:
    """What every action has: the client's id for it, which is also its idempotency key."""

    __pydantic_config__ = STRICT
    id: ClientId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAction(BaseAction):
    """An action on one chat."""

    session_id: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A tool intent as a client says it (spec tools.md section 1); null fields fall through."""

    __pydantic_config__ = STRICT
    enabled: bool | None = None
    toolset: str | None = None
    web_search: bool | None = None
    disabled: tuple[str, ...] | None = None
    picked: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderOverride:
    """What older programs write where web search was not added: `web_search` false beside other fields, no `picked`.

    It says nothing about web search. To take that away, say `picked` too (null), or `web_search` alone.
    """

    __pydantic_config__ = STRICT
    web_search: Literal[False]
    enabled: bool | None = None
    toolset: str | None = None
    disabled: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None


_INTENT: Final = "(intent)"
_OLDER: Final = "(older)"
_NAMES: Final = "(names)"
SHAPES: Final = frozenset({_INTENT, _OLDER, _NAMES})
"""What stands in the path of a validation error for the shape; no part of the sender's path."""


def _shape(value: Any) -> str:
    if isinstance(value, list | tuple):
        return _NAMES
    if isinstance(value, OlderOverride):
        return _OLDER
    if not isinstance(value, dict) or value.get("web_search") is not False or "picked" in value:
        return _INTENT
    return _OLDER if value.keys() & {"enabled", "toolset", "disabled", "allowed"} else _INTENT


AnyOverride = Annotated[
    Annotated[Override, Tag(_INTENT)] | Annotated[OlderOverride, Tag(_OLDER)] | Annotated[tuple[str, ...], Tag(_NAMES)],
    Discriminator(_shape),
]
"""An intent in each shape that is read: as this program says it, or as older ones did. A list picks its names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """Done, with nothing more to say."""

    type: Literal["ack"] = "ack"
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAck(Ack):
    """Done to (or made) this chat."""

    session_id: str
