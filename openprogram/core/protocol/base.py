"""What actions are made of."""

from dataclasses import dataclass
from typing import Annotated, Final

from annotated_types import MaxLen, MinLen
from pydantic import ConfigDict

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
    """Per-turn override of the tool intent (spec tools.md T9); null fields fall through."""

    __pydantic_config__ = STRICT
    enabled: bool | None = None
    toolset: str | None = None
    web_search: bool | None = None
    disabled: tuple[str, ...] = ()
    picked: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None
