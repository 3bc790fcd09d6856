"""Actions that ask what requests cost and why."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from openprogram.core.protocol.base import BaseAction, Name, SessionAction

Toggle = Literal[
    "set_tools_profile",
    "toggle_web_search",
    "set_tools_enabled",
    "set_tool_disabled",
    "pick_tools",
    "set_model",
    "force_rebase",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectCache(SessionAction):
    """Ask for a row per model request: tokens read, written, uncached, output, the cost so far, causes of misses.

    `limit` leaves out all but the newest rows; the sums are over all.
    """

    action: Literal["inspect_cache"]
    limit: Annotated[int, Ge(1)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectStep(SessionAction):
    """Ask for one request's segments and where it first differs from the one before it at the same endpoint.

    `body` true: with the exact body that was sent, in which configured secrets are replaced.
    """

    action: Literal["inspect_step"]
    turn_id: Name
    step: Annotated[int, Ge(1)]
    body: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotals(BaseAction):
    """Ask what all the user's chats used, by chat, model, day and kind of request."""

    action: Literal["usage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceRebase(SessionAction):
    """Declare the chat's tools anew with the next request, which drops what is masked or no longer needed.

    The ack says what that costs at the next send, and what each turn saves from then on; `preview_toggle` says it
    before.
    """

    action: Literal["force_rebase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewToggle(SessionAction):
    """Ask what a switch would cost before it is flipped. `toggle` is the action, the other fields are that action's."""

    action: Literal["preview_toggle"]
    toggle: Toggle
    toolset: Name | None = None
    value: bool | None = None
    name: Name | None = None
    tools: tuple[Name, ...] | None = None
    model: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewSend(SessionAction):
    """Ask what the next message would read anew, before it is sent: after a break, or with another model."""

    action: Literal["preview_send"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewModels(SessionAction):
    """Ask what the next message would read anew at each of the models, before one is chosen."""

    action: Literal["preview_models"]


CacheAction = ForceRebase | InspectCache | InspectStep | PreviewModels | PreviewSend | PreviewToggle | UsageTotals
