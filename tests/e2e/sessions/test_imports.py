"""Chats that come from elsewhere: intents in older shapes, lists that are copies of a preset (tools.md section 1)."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from openprogram.core.errors import BadField, LimitExceeded, OpenProgramError, UnknownPreset
from openprogram.core.events import IntentChanged, TurnStarted
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.protocol.tool_frames import FollowOffer
from openprogram.core.tooling import AgentProfile
from openprogram.session_config.patches import MAX_PICKED
from tests.e2e.sessions.test_older_databases import VERSIONS, database, registry
from tests.support.agent import FakeTool
from tests.support.script import say
from tests.support.sessions import USER, Chats, opened

FILES = tuple(f"file_{n:02d}" for n in range(10))
DEFAULT = AgentProfile()


def tools(*late: str) -> list[FakeTool]:
    search = FakeTool("web_search", provides=("web_search",), network=True, presets=("research",))
    coding = [FakeTool(name, residency="resident", presets=("coding",)) for name in (*FILES, *late)]
    return [*coding, FakeTool("read", presets=("research",)), search]


async def explained(chats: Chats, session_id: str, user: str = USER) -> ToolsAck:
    return cast(ToolsAck, await chats.do("explain_tools", user=user, session_id=session_id))


async def offered(chats: Chats, session_id: str) -> list[tuple[str, ...]]:
    return [turn.tools for turn in await chats.of(session_id, TurnStarted)]


@pytest.mark.parametrize(
    ("shape", "intent", "names"),
    [
        ([], ToolIntent(enabled=False), ()),
        (["read", "gone"], ToolIntent(picked=("read", "gone")), ("read",)),
        (
            {"enabled": True, "toolset": "research", "disabled": ["gone"], "web_search": False},
            ToolIntent(True, "research", None, ("gone",)),
            ("read", "web_search"),
        ),
        ({"enabled": False, "web_search": True}, ToolIntent(enabled=False, web_search=True), ("web_search",)),
        ({}, ToolIntent(), (*FILES, "read")),
        ({"toolset": "research", "web_search": False, "picked": None}, ToolIntent(None, "research", False), ("read",)),
    ],
)
async def test_an_imported_chat_keeps_its_wish_in_place_of_the_users_default(
    tmp_path: Path, shape: JsonValue, intent: ToolIntent, names: tuple[str, ...]
) -> None:  # T1
    async with opened(tmp_path, say("Hi."), tools=tools(), profile=DEFAULT) as chats:
        await chats.do("set_setting", key="new_chats", value={"mode": "fixed", "intent": {"toolset": "none"}})
        session_id = await chats.draft(tools=shape)
        assert (await chats.store.intent(session_id)).intent == intent
        assert await chats.sidebar() == []
        await chats.said("hi", session_id)
        assert await offered(chats, session_id) == [names]
        assert [event.intent for event in await chats.of(session_id, IntentChanged)] == [
            *([] if intent == ToolIntent() else [intent])
        ]


@pytest.mark.parametrize(
    ("shape", "fault", "field"),
    [
        ({"toolset": "nope"}, UnknownPreset, "tools.toolset"),
        ({"toolset": "research", "tool_names": ["read"]}, BadField, "tools.tool_names"),
        ({"disabled": ["web_search"]}, BadField, "tools.disabled"),
        ([f"t{n}" for n in range(MAX_PICKED + 1)], LimitExceeded, "tools.picked"),
    ],
)
async def test_an_import_that_cannot_be_read_leaves_no_chat(
    tmp_path: Path, shape: JsonValue, fault: type[OpenProgramError], field: str
) -> None:
    async with opened(tmp_path, tools=tools(), profile=DEFAULT) as chats:
        with pytest.raises(fault) as raised:
            await chats.draft(tools=shape)
        assert cast(Any, raised.value).field == field
    with closing(sqlite3.connect(tmp_path / "chats.db")) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)


async def test_an_override_of_an_older_program_takes_nothing_away_that_it_did_not_mean(tmp_path: Path) -> None:
    async with opened(tmp_path, say("1"), say("2"), say("3"), say("4"), tools=tools(), profile=DEFAULT) as chats:
        session_id = await chats.said("one", override={"enabled": True, "toolset": "research", "web_search": False})
        await chats.said("two", session_id, override={"toolset": "research", "web_search": False, "picked": None})
        await chats.patch("set_tools_profile", session_id, toolset="research")
        await chats.said("three", session_id, override={"web_search": False})
        await chats.said("four", session_id, override=[])
        assert await offered(chats, session_id) == [("read", "web_search"), ("read",), ("read",), ()]


async def test_an_imported_copy_of_a_preset_is_offered_the_preset_and_gets_what_is_new_once_it_follows(
    tmp_path: Path,
) -> None:  # T1, T5
    copy = [*FILES, "web_search"]
    async with opened(tmp_path, say("1"), say("2"), tools=tools("late"), profile=DEFAULT) as chats:
        session_id = await chats.draft(tools=copy)
        await chats.said("one", session_id)
        ack = await explained(chats, session_id)
        assert ack.offer == FollowOffer(preset="coding", web_search=True)
        assert (await chats.store.intent(session_id)).intent == ToolIntent(picked=tuple(copy))  # an offer, no change
        await chats.patch("set_tools_profile", session_id, toolset=ack.offer.preset)
        await chats.patch("toggle_web_search", session_id, value=True)
        await chats.patch("pick_tools", session_id, tools=None)
        await chats.said("two", session_id)
        assert (await explained(chats, session_id)).offer is None
        assert await offered(chats, session_id) == [tuple(copy), (*FILES, "late", "web_search")]
        assert (await chats.store.intent(session_id)).intent == ToolIntent(toolset="coding", web_search=True)
        # Undone: the list is back, however long.
        await chats.patch("pick_tools", session_id, tools=copy)
        assert (await explained(chats, session_id)).offer is not None


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_copy_in_an_older_database_is_offered_the_preset_too(tmp_path: Path, version: int) -> None:
    database(tmp_path, version)
    with closing(sqlite3.connect(tmp_path / "chats.db")) as db:
        names = ", ".join(f'"{name}"' for name in FILES)
        statement = "UPDATE session_config SET enabled = 1, toolset = NULL, picked = ? WHERE session_id = 's_mix_000'"
        db.execute(statement, (f"[{names}]",))
        db.commit()
    now = registry()
    now.put("plugin:files", [tool.spec for tool in tools()[: len(FILES)]])
    async with opened(tmp_path, registry=now) as chats:
        assert (await explained(chats, "s_mix_000", "u_1")).offer == FollowOffer(preset="coding", web_search=False)
        assert (await explained(chats, "s_mix_001", "u_1")).offer is None
