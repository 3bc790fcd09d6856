"""Changes of intent: patches of one field each, and the one function through which every writer changes one (T8, T10).

A patch says what the user did, not what the intent should become: patches of different fields commute, and of two
patches of one field the later wins, so a compare-and-set that failed is simply tried again on the newer intent.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Literal, assert_never

from openprogram.core.errors import BadField, LimitExceeded, RequestError, UnknownPreset, UnknownTool
from openprogram.core.intent import IntentField, StoredIntent, ToolIntent
from openprogram.core.tooling import Preset, Snapshot

WEB_SEARCH: Final = "web_search"
"""Both the chip's tool and the capability that the chip governs."""

MAX_PICKED: Final = 1_000
"""Above what an import brings and its undo puts back. Long before that a list that looks like a preset's is pointed out
(`tools.fixed_lists`)."""


@dataclass(frozen=True, slots=True)
class SetEnabled:
    """The master switch; None follows the layers below."""

    value: bool | None
    type: Literal["set_enabled"] = "set_enabled"


@dataclass(frozen=True, slots=True)
class SetToolset:
    """Choose a preset by name; None follows the layers below."""

    name: str | None
    type: Literal["set_toolset"] = "set_toolset"


@dataclass(frozen=True, slots=True)
class SetWebSearch:
    """The chip: add it, take it away everywhere, or (None) leave it to the preset."""

    value: bool | None
    type: Literal["set_web_search"] = "set_web_search"


@dataclass(frozen=True, slots=True)
class SetToolDisabled:
    """Switch one tool off (True), or stop switching it off (False)."""

    name: str
    value: bool
    type: Literal["set_tool_disabled"] = "set_tool_disabled"


@dataclass(frozen=True, slots=True)
class SetPicked:
    """The user's own short selection in place of the preset; None goes back to the preset."""

    names: tuple[str, ...] | None
    type: Literal["set_picked"] = "set_picked"


Patch = SetEnabled | SetToolset | SetWebSearch | SetToolDisabled | SetPicked


def apply(intent: ToolIntent, patch: Patch) -> ToolIntent:
    """The intent with one field changed. Total: what may be asked for is `change_intent`'s to decide."""
    match patch:
        case SetEnabled(value):
            return replace(intent, enabled=value)
        case SetToolset(name):
            return replace(intent, toolset=name)
        case SetWebSearch(value):
            return replace(intent, web_search=value)
        case SetToolDisabled(name, value):
            rest = tuple(other for other in intent.disabled if other != name)
            return replace(intent, disabled=(*rest, name) if value else rest)
        case SetPicked(names):
            return replace(intent, picked=None if names is None else tuple(dict.fromkeys(names)))
        case _:
            assert_never(patch)


def change_intent(stored: StoredIntent, patch: Patch, snapshot: Snapshot) -> ToolIntent | None:
    """The intent to store under `stored.revision + 1`, or None where the patch changes nothing.

    Names are checked against the tools and presets that exist now. A pick may name a tool that is away: it is shown
    as unknown until it is back. Raises `UnknownPreset` or `UnknownTool` with what there is instead, `BadField` for the
    chip's own tool in the list of switched-off ones, `LimitExceeded` for a selection that is a preset in disguise.
    """
    match patch:
        case SetToolset(str() as name) if name not in snapshot.presets:
            raise unknown_preset(name, snapshot.presets)
        case SetToolDisabled(name, _) if name == WEB_SEARCH:
            raise BadField(
                "web_search has a switch of its own", field="name", hint="use toggle_web_search to take it away"
            )
        case SetToolDisabled(name, True) if snapshot.get(name) is None:
            raise UnknownTool(
                f"there is no tool {name[:100]!r}", field="name", hint="explain_tools lists all that there are"
            )
        case SetPicked(names) if names is not None and len(set(names)) > MAX_PICKED:
            raise LimitExceeded(
                f"a selection holds at most {MAX_PICKED} tools", field="tools", hint="make it a preset, or follow one"
            )
    changed = apply(stored.intent, patch)
    return None if changed == stored.intent else changed


def check_intent(intent: ToolIntent, snapshot: Snapshot) -> None:
    """Hold a whole intent that a client sent (an override, a default) to what `change_intent` asks of each patch.

    Raises what that raises, with the field of the intent.
    """
    patches: list[tuple[IntentField, Patch]] = [
        ("toolset", SetToolset(intent.toolset)),
        *(("disabled", SetToolDisabled(name, value=True)) for name in intent.disabled),
        ("picked", SetPicked(intent.picked)),
    ]
    for field, patch in patches:
        try:
            change_intent(StoredIntent(), patch, snapshot)
        except RequestError as error:
            raise type(error)(error.message, field=field, hint=error.hint) from error


@contextmanager
def within(place: str) -> Iterator[None]:
    """Put `place` before the field of a `RequestError` about a part of it."""
    try:
        yield
    except RequestError as error:
        field = place if error.field is None else f"{place}.{error.field}"
        raise type(error)(error.message, field=field, hint=error.hint) from error


def unknown_preset(name: str, presets: Mapping[str, Preset]) -> UnknownPreset:
    """The error for a preset that does not exist, with the choices."""
    choices = ", ".join(sorted(presets))
    return UnknownPreset(
        f"there is no preset {name[:100]!r}",
        field="toolset",
        hint=f"choose one of {choices}; or null to follow the profile",
    )
