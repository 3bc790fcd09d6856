"""A switch is an intent: what the row holds, who wins, what arrives later, what a new chat starts from."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from openprogram.core.errors import StorageError
from openprogram.core.events import IntentChanged, TurnStarted
from openprogram.core.intent import ToolIntent
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.storage import PutIntent
from openprogram.core.tooling import AgentProfile
from tests.support.agent import FakeTool
from tests.support.script import say
from tests.support.sessions import Chats, failing, opened

DEFAULT = AgentProfile()
SEARCH: dict[str, Any] = {"provides": ("web_search",), "network": True}


def _tools() -> list[FakeTool]:
    return [
        FakeTool("bash", residency="resident", presets=("coding",)),
        FakeTool("read", presets=("coding", "research")),
        FakeTool("web_search", presets=("research",), residency="deferred", **SEARCH),
    ]


def _stored(folder: Path, session_id: str) -> dict[str, Any]:
    with closing(sqlite3.connect(folder / "chats.db")) as db:
        db.row_factory = sqlite3.Row
        row = db.execute("SELECT * FROM session_config WHERE session_id = ?", (session_id,)).fetchone()
        return dict(row)


async def _offered(chats: Chats, session_id: str) -> list[tuple[str, ...]]:
    return [turn.tools for turn in await chats.of(session_id, TurnStarted)]


async def test_a_chat_that_begins_with_its_message_begins_with_the_users_default_for_new_chats(
    tmp_path: Path,
) -> None:  # T7
    async with opened(tmp_path, say("Hi."), say("Hello."), tools=_tools(), profile=DEFAULT) as chats:
        fixed = {"mode": "fixed", "intent": {"toolset": "research", "web_search": True}}
        await chats.do("set_setting", key="new_chats", value=fixed)
        session_id = await chats.said("hi")
        (first,) = await chats.of(session_id, TurnStarted)
        assert (first.tools, first.intent_revision) == (("read", "web_search"), 1)
        await chats.said("more", session_id)
        assert await _offered(chats, session_id) == [("read", "web_search")] * 2


# -- no snapshot (T1) -------------------------------------------------------------------------------------------


async def test_the_row_holds_an_intent_and_no_list_of_names(tmp_path: Path) -> None:  # T1
    async with opened(tmp_path, say("Hi."), tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        await chats.patch("toggle_web_search", session_id, value=True)
        await chats.patch("set_tools_profile", session_id, toolset="research")
        await chats.said("hi", session_id)
        row = _stored(tmp_path, session_id)
    assert {key: value for key, value in row.items() if value is not None and key != "session_id"} == {
        "web_search": 1,
        "toolset": "research",
        "disabled": "[]",
        "revision": 2,
    }


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("toggle_web_search", {"value": True}),
        ("set_tools_profile", {"toolset": "full"}),
        ("set_tools_enabled", {"value": True}),
    ],
)
async def test_no_switch_of_many_tools_writes_a_name(tmp_path: Path, action: str, fields: dict[str, Any]) -> None:
    async with opened(tmp_path, tools=_tools(), profile=DEFAULT) as chats:  # T1
        session_id = await chats.draft()
        await chats.patch(action, session_id, **fields)
        row = _stored(tmp_path, session_id)
    assert (row["disabled"], row["picked"], row["allowed"]) == ("[]", None, None)


# -- new tools arrive (T5) --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        (None, {}),
        ("toggle_web_search", {"value": True}),
        ("set_tools_profile", {"toolset": "research"}),
        ("set_tools_profile", {"toolset": "full"}),
        ("set_tools_enabled", {"value": True}),
        ("set_tool_disabled", {"name": "bash", "value": True}),
    ],
)
async def test_a_tool_registered_later_is_offered_to_an_old_chat_at_its_next_turn(
    tmp_path: Path, action: str | None, fields: dict[str, Any]
) -> None:  # T5
    async with opened(tmp_path, say("One."), tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        if action is not None:
            await chats.patch(action, session_id, **fields)
        await chats.said("one", session_id)
        (before,) = await _offered(chats, session_id)
    late = FakeTool("late", residency="resident", presets=("research",))
    async with opened(tmp_path, say("Two."), say("Three."), tools=[*_tools(), late], profile=DEFAULT) as chats:
        await chats.said("two", session_id)
        assert (await _offered(chats, session_id))[1] == tuple(sorted((*before, "late")))
        chats.registry.put("builtin", [tool.spec for tool in _tools()])
        await chats.said("three", session_id)
        assert (await _offered(chats, session_id))[2] == before


# -- before the first message (T6) ------------------------------------------------------------------------------


async def test_a_draft_takes_every_switch_and_keeps_it(tmp_path: Path) -> None:  # T6
    async with opened(tmp_path, say("Hi."), tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        acks = [
            await chats.patch("toggle_web_search", session_id, value=True),
            await chats.patch("set_tools_profile", session_id, toolset="coding"),
            await chats.patch("set_tool_disabled", session_id, name="bash", value=True),
        ]
        assert [(ack.revision, ack.applies) for ack in acks] == [(1, "now"), (2, "now"), (3, "now")]
    async with opened(tmp_path, say("Hi."), tools=_tools(), profile=DEFAULT) as chats:  # a reload, in another process
        state = (await chats.snapshot(session_id)).state
        assert state.intent == ToolIntent(toolset="coding", web_search=True, disabled=("bash",))
        assert state.effective.web_search.state == "on"
        await chats.said("hi", session_id)
        assert await _offered(chats, session_id) == [("read", "web_search")]
        assert (await chats.snapshot(session_id)).state.revision == 3


async def test_a_draft_leaves_no_ghost_in_the_sidebar(tmp_path: Path) -> None:  # T6
    async with opened(tmp_path, say("Hi."), tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        await chats.patch("toggle_web_search", session_id, value=True)
        assert await chats.sidebar() == []
        await chats.said("hi", session_id)
        assert await chats.sidebar() == [session_id]


# -- isolation (T7) ---------------------------------------------------------------------------------------------


async def test_a_switch_moves_to_no_other_chat(tmp_path: Path) -> None:  # T7
    async with opened(tmp_path, say("A."), say("B."), tools=_tools(), profile=DEFAULT) as chats:
        one, other = await chats.draft(), await chats.draft()
        await chats.patch("toggle_web_search", one, value=True)
        await chats.said("a", one)
        await chats.said("b", other)
        assert await _offered(chats, one) == [("bash", "read", "web_search")]
        assert await _offered(chats, other) == [("bash", "read")]
        assert (await chats.snapshot(other)).state.intent == ToolIntent()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, ToolIntent()),
        ({"mode": "follow_profile"}, ToolIntent()),
        ({"mode": "last_used"}, ToolIntent(web_search=True)),
        ({"mode": "fixed", "intent": {"toolset": "safe"}}, ToolIntent(toolset="safe")),
    ],
)
async def test_a_new_chat_starts_from_the_stated_default(
    tmp_path: Path, setting: dict[str, Any] | None, expected: ToolIntent
) -> None:  # T7
    async with opened(tmp_path, say("A."), say("B."), tools=_tools(), profile=DEFAULT) as chats:
        first = await chats.draft()
        await chats.patch("toggle_web_search", first, value=True)
        await chats.said("a", first)
        if setting is not None:
            await chats.do("set_setting", key="new_chats", value=setting)
        assert (await chats.snapshot(await chats.draft())).state.intent == expected
        sent = await chats.said("b")
        assert (await chats.snapshot(sent)).state.intent == expected
        assert (await chats.snapshot(first)).state.intent == ToolIntent(web_search=True)


# -- concurrent edits (T8) --------------------------------------------------------------------------------------


async def test_patches_of_different_fields_from_many_tabs_all_win(tmp_path: Path) -> None:  # T8
    tools = [*_tools(), *(FakeTool(f"tool_{number:02d}") for number in range(60))]
    async with opened(tmp_path, tools=tools, profile=DEFAULT) as chats:
        session_id = await chats.draft()
        acks = await asyncio.gather(
            chats.patch("toggle_web_search", session_id, value=False),
            chats.patch("set_tools_profile", session_id, toolset="full"),
            chats.patch("set_tools_enabled", session_id, value=True),
            *(chats.patch("set_tool_disabled", session_id, name=f"tool_{n:02d}", value=True) for n in range(60)),
        )
        stored = await chats.store.intent(session_id)
        assert stored.intent == ToolIntent(True, "full", False, tuple(f"tool_{n:02d}" for n in range(60)))
        assert sorted(ack.revision for ack in acks) == list(range(1, 64))
        events = await chats.of(session_id, IntentChanged)
        assert [event.revision for event in events] == list(range(1, 64))  # tabs converge in order of revision


async def test_patches_from_two_processes_all_win_and_twins_have_one_effect(tmp_path: Path) -> None:  # P5, T8
    """Two services on one database know nothing of each other: only the store's conditions hold them together."""
    tools = [FakeTool(f"tool_{number}") for number in range(8)]
    async with opened(tmp_path, tools=tools) as one, opened(tmp_path, tools=tools) as other:
        session_id = await one.draft()
        await asyncio.gather(
            *(
                (one, other)[number % 2].patch("set_tool_disabled", session_id, name=f"tool_{number}", value=True)
                for number in range(8)
            )
        )
        assert (await one.store.intent(session_id)).intent.disabled == tuple(f"tool_{number}" for number in range(8))
        twins = await asyncio.gather(
            *(
                chats.patch("set_tools_profile", session_id, toolset="safe", id=f"twin_{number}")
                for number in range(4)
                for chats in (one, other)
            )
        )
        assert [twins[at] == twins[at + 1] for at in range(0, 8, 2)] == [True] * 4
        assert (await other.store.intent(session_id)).revision == 9


async def test_the_later_patch_of_one_field_wins(tmp_path: Path) -> None:  # T8
    async with opened(tmp_path, tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        acks = await asyncio.gather(
            *(chats.patch("set_tools_profile", session_id, toolset=name) for name in ("coding", "research", "safe"))
        )
        newest = max(zip(acks, ("coding", "research", "safe"), strict=True), key=lambda pair: pair[0].revision)
        assert (await chats.store.intent(session_id)).intent.toolset == newest[1]


async def test_a_write_that_fails_leaves_the_old_intent_and_says_so(tmp_path: Path) -> None:  # T8, report 1
    async with opened(tmp_path, tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        await chats.patch("set_tools_profile", session_id, toolset="coding")
        failing(chats.store, PutIntent)
        with pytest.raises(StorageError, match="disk is full"):
            await chats.patch("set_tools_profile", session_id, toolset="research", id="again")
        chats.store.before_commit = None
        state = (await chats.snapshot(session_id)).state
        assert (state.intent.toolset, state.revision) == ("coding", 1)
        assert (await chats.patch("set_tools_profile", session_id, toolset="research", id="again")).revision == 2


async def test_a_patch_that_changes_nothing_keeps_the_revision_and_emits_no_event(tmp_path: Path) -> None:
    async with opened(tmp_path, tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        first = await chats.patch("toggle_web_search", session_id, value=True)
        before = await chats.log(session_id)
        again = await chats.patch("toggle_web_search", session_id, value=True)
        assert (first.revision, again.revision) == (1, 1)
        assert await chats.log(session_id) == before


async def test_switch_twins_have_one_effect(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        acks = await asyncio.gather(
            *(chats.patch("toggle_web_search", session_id, value=True, id="twin") for _ in range(4))
        )
        await chats.patch("toggle_web_search", session_id, value=False)
        late = await chats.patch("toggle_web_search", session_id, value=True, id="twin")
        assert {ack.revision for ack in (*acks, late)} == {1}
        assert (await chats.store.intent(session_id)).intent.web_search is False


# -- precedence (T9) --------------------------------------------------------------------------------------------


async def test_the_layer_that_decided_is_named(tmp_path: Path) -> None:  # T9
    profile = AgentProfile(intent=ToolIntent(toolset="coding", disabled=("bash",)))
    async with opened(tmp_path, tools=_tools(), profile=profile) as chats:
        session_id = await chats.draft()
        await chats.patch("toggle_web_search", session_id, value=True)
        ack = cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))
        decided = {one.field: (one.layer, one.value) for one in ack.decided}
        assert decided["web_search"] == ("session", True)
        assert decided["toolset"] == ("profile", "coding")
        assert decided["disabled"] == ("profile", ("bash",))
        states = {tool.name: (tool.state, tool.reason) for tool in ack.tools}
        assert states == {
            "bash": ("off", "switched_off"),
            "read": ("on", None),
            "web_search": ("on", None),
        }


# -- unknown names (T13) ----------------------------------------------------------------------------------------
