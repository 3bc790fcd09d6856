"""Presets of the user's own: saved, used, changed, deleted; a chat keeps its intent whatever becomes of its preset."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from openprogram.app.presets import PresetSource
from openprogram.core.errors import BadField
from openprogram.core.events import TurnFinished, TurnStarted
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.tooling import AgentProfile, Preset
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.script import say
from tests.support.sessions import Chats, opened

FILE = (Preset("from file", "From the file", entries=("read",), source="config"),)


@asynccontextmanager
async def serving(folder: Path, *scripts: Any) -> AsyncIterator[Chats]:
    """Chats whose registry follows the presets, as the composition root wires it."""
    registry = Registry(FILE)
    registry.put("builtin", [FakeTool(name, readonly=name == "read").spec for name in ("bash", "read", "write")])
    source = PresetSource(registry, FILE, None)
    profile = AgentProfile()
    async with opened(
        folder, *scripts, registry=registry, profile=profile, setting_changed=source.setting_changed
    ) as chats:
        yield chats


async def explained(chats: Chats, session_id: str) -> ToolsAck:
    return cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))


async def offered(chats: Chats, session_id: str) -> list[tuple[str, ...]]:
    return [turn.tools for turn in await chats.of(session_id, TurnStarted)]


async def test_a_saved_preset_can_be_chosen_and_a_change_of_it_reaches_every_chat(tmp_path: Path) -> None:  # T5
    async with serving(tmp_path, say("One."), say("Two.")) as chats:
        session_id = await chats.draft()
        await chats.do("save_preset", name="mine", title=" Mine ", entries=["@readonly"])
        await chats.patch("set_tools_profile", session_id, toolset="mine")
        await chats.said("hi", session_id)
        await chats.do("save_preset", name="mine", entries=["*", "-bash"], includes=["from file"])
        await chats.said("again", session_id)
        assert await offered(chats, session_id) == [("read",), ("read", "write")]
        (mine,) = [preset for preset in (await explained(chats, session_id)).presets if preset.source == "user"]
        assert (mine.name, mine.title, mine.entries, mine.includes) == ("mine", "mine", ("*", "-bash"), ("from file",))


async def test_a_deleted_preset_leaves_the_intent_and_an_explanation(tmp_path: Path) -> None:  # T13
    async with serving(tmp_path, say("Back.")) as chats:
        session_id = await chats.draft()
        await chats.do("save_preset", name="mine", entries=["read"])
        await chats.patch("set_tools_profile", session_id, toolset="mine")
        await chats.do("delete_preset", name="mine")
        explanation = await explained(chats, session_id)
        assert explanation.error is not None
        assert "'mine'" in explanation.error
        assert [tool.layer for tool in explanation.tools] == [None] * 3
        assert (await chats.store.intent(session_id)).intent.toolset == "mine"
        await chats.say("hi", session_id)
        ended = await chats.until(session_id, TurnFinished)
        assert ended.error is not None
        assert ended.error.code == "unknown_preset"
        await chats.rest(session_id)
        await chats.do("save_preset", name="mine", entries=["write"])
        await chats.said("hi", session_id)
        assert (await offered(chats, session_id))[-1] == ("write",)


async def test_each_reason_says_whose_wish_it_is(tmp_path: Path) -> None:  # T9, T12
    async with serving(tmp_path) as chats:
        session_id = await chats.draft()

        async def because(tool: str) -> tuple[str | None, str | None]:
            (state,) = [state for state in (await explained(chats, session_id)).tools if state.name == tool]
            return state.reason, state.layer

        assert await because("write") == (None, None)
        await chats.patch("set_tools_profile", session_id, toolset="from file")
        assert await because("read") == (None, None)
        assert await because("write") == ("not_in_preset", "session")
        await chats.patch("set_tool_disabled", session_id, name="read", value=True)
        assert await because("read") == ("switched_off", "session")
        await chats.patch("pick_tools", session_id, tools=["bash"])
        assert await because("write") == ("not_in_preset", "session")
        await chats.patch("set_tools_enabled", session_id, value=False)
        assert await because("bash") == ("tools_off", "session")


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"name": "full"}, "name", "built in"),
        ({"name": "from file"}, "name", "defined in config.toml"),
        ({"name": "a/b"}, "name", "no name"),
        ({"name": "x", "entries": ["read", "@nothing"]}, "entries", "no attribute"),
        ({"name": "x", "entries": ["-"]}, "entries", "empty"),
        ({"name": "x", "includes": ["gone"]}, "includes", "does not exist"),
        ({"name": "base", "includes": ["top"]}, "includes", "include each other"),
    ],
)
async def test_what_cannot_be_a_preset_is_refused_with_its_field_and_nothing_changes(
    tmp_path: Path, fields: dict[str, Any], field: str, said: str
) -> None:
    async with serving(tmp_path) as chats:
        await chats.do("save_preset", name="base", entries=["read"])
        await chats.do("save_preset", name="top", includes=["base"])
        before = chats.registry.snapshot
        with pytest.raises(BadField, match=said) as raised:
            await chats.do("save_preset", **fields)
        assert (raised.value.field or "").rpartition(".")[2] == field
        assert chats.registry.snapshot is before


@pytest.mark.parametrize(("name", "said"), [("full", "of your own"), ("gone", "of your own"), ("base", "includes")])
async def test_a_preset_that_is_needed_or_not_ones_own_is_not_deleted(tmp_path: Path, name: str, said: str) -> None:
    async with serving(tmp_path) as chats:
        await chats.do("save_preset", name="base", entries=["read"])
        await chats.do("save_preset", name="top", includes=["base"])
        before = chats.registry.snapshot
        with pytest.raises(BadField, match=said):
            await chats.do("delete_preset", name=name)
        assert chats.registry.snapshot is before
