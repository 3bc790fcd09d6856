"""Actions that concern no chat: the user's settings and presets, the models, and the link itself."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MaxLen, MinLen

from openprogram.core.jsonio import JsonValue
from openprogram.core.protocol.base import BaseAction, Name

Entry = Annotated[str, MinLen(1), MaxLen(200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListModels(BaseAction):
    """The models that can be chosen now; the hint `models_changed` says that there are others."""

    action: Literal["list_models"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSettings(BaseAction):
    """The user's settings."""

    action: Literal["get_settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSetting(BaseAction):
    """Change one setting; null goes back to its default."""

    action: Literal["set_setting"]
    key: Name
    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SavePreset(BaseAction):
    """Make a preset of the user's own, or put another in its place.

    `entries` apply in order after what is included: a tool's name, a pattern, an attribute such as `@readonly`; with
    `-` in front it takes away.
    """

    action: Literal["save_preset"]
    name: Name
    title: Annotated[str, MaxLen(100)] = ""
    description: Annotated[str, MaxLen(500)] = ""
    entries: Annotated[tuple[Entry, ...], MaxLen(200)] = ()
    includes: Annotated[tuple[Name, ...], MaxLen(50)] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePreset(BaseAction):
    """Forget a preset of the user's own. Chats that use it keep their intent and say that it is gone."""

    action: Literal["delete_preset"]
    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(BaseAction):
    """Answered by pong."""

    action: Literal["ping"]
