"""Every door through which names of presets and tools come in asks the same, and what it refuses leaves no trace."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.errors import BadField, LimitExceeded, OpenProgramError, UnknownPreset, UnknownTool
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import AgentProfile
from openprogram.session_config.codec import write_intent
from openprogram.session_config.patches import MAX_PICKED
from tests.support.agent import FakeTool
from tests.support.script import say
from tests.support.sessions import Chats, opened

TOOLS = ("bash", "read", "web_search")
Fault = type[OpenProgramError] | None


def fault_of(intent: ToolIntent) -> tuple[Fault, str | None]:
    """What is wrong with an intent, said here a second time: the first field at fault."""
    if "web_search" in intent.disabled:
        return BadField, "disabled"
    if intent.toolset not in (None, "full", "safe"):
        return UnknownPreset, "toolset"
    if any(name not in TOOLS for name in intent.disabled):
        return UnknownTool, "disabled"
    if len(intent.picked or ()) > MAX_PICKED:
        return LimitExceeded, "picked"
    return None, None


many = tuple(f"tool{n}" for n in range(MAX_PICKED + 1))
sent = st.builds(
    ToolIntent,
    enabled=st.sampled_from((None, True, False)),
    toolset=st.sampled_from((None, "full", "safe", "nope", "")),
    web_search=st.sampled_from((None, True, False)),
    disabled=st.lists(st.sampled_from((*TOOLS, "nope")), max_size=2).map(tuple),
    picked=st.sampled_from((None, ("bash",), ("away",), many)),
)


async def through_an_override(chats: Chats, intent: JsonObject) -> None:
    await chats.say("hi", override=intent)


async def through_an_override_of_a_waiting_message(chats: Chats, intent: JsonObject) -> None:
    session_id = await chats.draft()
    await chats.say("hi", session_id, override=intent)


async def through_the_default_for_new_chats(chats: Chats, intent: JsonObject) -> None:
    await chats.do("set_setting", key="new_chats", value={"mode": "fixed", "intent": intent})


async def through_an_import(chats: Chats, intent: JsonObject) -> None:
    await chats.draft(tools=intent)


DOORS = {
    "override": through_an_override,
    "override in a chat": through_an_override_of_a_waiting_message,
    "value.intent": through_the_default_for_new_chats,
    "tools": through_an_import,
}


@settings(max_examples=40)
@given(sent, st.sampled_from(tuple(DOORS)))
def test_every_door_refuses_the_same_names_and_stores_nothing_of_what_it_refuses(intent: ToolIntent, door: str) -> None:
    asyncio.run(_enter(intent, door))


async def _enter(intent: ToolIntent, door: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), say("Hi."), tools=_tools(), profile=AgentProfile()) as chats:
            # An import may name single tools that are not here: they are shown as unknown (T13).
            listed = tuple(name for name in intent.disabled if name != "nope") if door == "tools" else intent.disabled
            fault, field = fault_of(replace(intent, disabled=listed))
            before = await _traces(chats)
            if fault is None:
                await DOORS[door](chats, write_intent(intent))
                return
            with pytest.raises(fault) as raised:
                await DOORS[door](chats, write_intent(intent))
            assert raised.value.field == f"{door.removesuffix(' in a chat')}.{field}"
            assert await _traces(chats) == before


def _tools() -> list[FakeTool]:
    return [FakeTool(name, provides=("web_search",) if name == "web_search" else ()) for name in TOOLS]


async def _traces(chats: Chats) -> list[Any]:
    visible = await chats.sidebar()
    return [visible, await chats.do("get_settings", id="traces")]


@pytest.mark.parametrize("shape", [{"toolset": "nope"}, {"picked": ["bash"], "toolset": "nope"}])
async def test_an_override_with_a_preset_that_does_not_exist_is_not_acked(tmp_path: Path, shape: JsonObject) -> None:
    async with opened(tmp_path) as chats:
        with pytest.raises(UnknownPreset) as raised:
            await chats.say("hi", override=shape)
        assert raised.value.field == "override.toolset"
        assert "choose one of" in str(raised.value.hint)
        assert await chats.sidebar() == []
