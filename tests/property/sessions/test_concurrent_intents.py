"""Patches of an intent from two processes at once (spec tools.md T8).

Two services, each with a connection of its own to one database, know nothing of each other.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.events import IntentChanged
from openprogram.core.intent import ToolIntent
from openprogram.core.protocol.frames import IntentAck
from tests.support.agent import FakeTool
from tests.support.sessions import opened

TOOLS = ("bash", "notes", "read")
Act = tuple[str, dict[str, Any]]

acts: st.SearchStrategy[Act] = st.one_of(
    st.tuples(st.just("toggle_web_search"), st.fixed_dictionaries({"value": st.sampled_from((True, False, None))})),
    st.tuples(st.just("set_tools_enabled"), st.fixed_dictionaries({"value": st.sampled_from((True, False, None))})),
    st.tuples(
        st.just("set_tools_profile"), st.fixed_dictionaries({"toolset": st.sampled_from(("coding", "full", None))})
    ),
    st.tuples(
        st.just("set_tool_disabled"),
        st.fixed_dictionaries({"name": st.sampled_from(TOOLS), "value": st.booleans()}),
    ),
    st.tuples(
        st.just("pick_tools"),
        st.fixed_dictionaries({"tools": st.none() | st.lists(st.sampled_from(TOOLS), unique=True)}),
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(acts, max_size=6), st.lists(acts, max_size=6))
def test_different_fields_all_win_and_of_one_field_the_later(one: list[Act], other: list[Act]) -> None:  # T8
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_check(Path(folder), one, other))


async def _check(folder: Path, *programs: Sequence[Act]) -> None:
    tools = [FakeTool(name) for name in TOOLS]
    async with opened(folder, tools=tools) as first, opened(folder, tools=tools) as second:
        session_id = await first.draft()
        performed = [
            (act, chats.patch(act[0], session_id, **act[1]))
            for chats, program in zip((first, second), programs, strict=True)
            for act in program
        ]
        acks = await asyncio.gather(*(patching for _, patching in performed))
        done = [(act, ack) for (act, _), ack in zip(performed, acks, strict=True)]
        stored = await first.store.intent(session_id)
        changes = await second.of(session_id, IntentChanged)
        # Every tab, of either process, sees the same intents in the same order.
        assert [change.revision for change in changes] == list(range(1, stored.revision + 1))
        assert stored.intent == (changes[-1].intent if changes else ToolIntent())
        for act in {_field(act): None for act, _ in done}:
            assert _value(stored.intent, act) == _last(done, act)


def _field(act: Act) -> str:
    """What an action changes: a field, or one name in `disabled`."""
    return act[1]["name"] if act[0] == "set_tool_disabled" else act[0]


def _value(intent: ToolIntent, field: str) -> object:
    match field:
        case "toggle_web_search":
            return intent.web_search
        case "set_tools_enabled":
            return intent.enabled
        case "set_tools_profile":
            return intent.toolset
        case "pick_tools":
            return intent.picked
        case _:
            return field in intent.disabled


def _last(done: Sequence[tuple[Act, IntentAck]], field: str) -> object:
    """What the latest action on this field asked for. One that changed nothing has the revision that it found."""
    (_, said), _ = max((pair for pair in done if _field(pair[0]) == field), key=lambda pair: pair[1].revision)
    value = said["toolset"] if "toolset" in said else said["tools"] if "tools" in said else said["value"]
    return tuple(value) if isinstance(value, list) else value
