"""Chats of every released schema get the tools of today (spec tools.md T5): databases as those versions left them."""

import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import cast

import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.events import LoadedChanged, TurnFinished, TurnStarted
from openprogram.core.intent import ToolIntent
from openprogram.core.protocol.frames import ToolsAck
from openprogram.store.sqlite.schema import APPLICATION_ID, MIGRATIONS
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.deferral import declared, deferred
from tests.support.script import MODEL, call, say, use
from tests.support.sessions import Chats, opened
from tests.support.tree import ROOT

GOLDEN = ROOT / "tests" / "golden" / "store"
USER = "u_1"
VERSIONS = range(1, len(MIGRATIONS) + 1)
MIX = list(product((None, 0, 1), (None, "research", "full", "none"), (None, 0, 1), ("[]", '["bash"]', None)))
"""What a chat of back then may have stored: master switch, preset, chip, single switches."""


def database(folder: Path, version: int) -> None:
    """A database as that version left it, with the golden rows and a chat for each intent of `MIX`."""
    parts = [(GOLDEN / f"{kind}_v{version}.sql").read_text("utf-8") for kind in ("schema", "rows")]
    with closing(sqlite3.connect(folder / "chats.db")) as db:
        db.executescript(f"BEGIN; {''.join(parts)} PRAGMA application_id = {APPLICATION_ID}; COMMIT;")
        # The golden chat's model and directory are of a machine that is not here.
        db.execute("UPDATE sessions SET model = ?, workspace = NULL", (MODEL.id,))
        columns = "id, user_id, title, created_at, updated_at, visible, pinned, deleted, permission_mode"
        at = "2026-01-01T00:00:00.000Z"
        for number, (enabled, toolset, web_search, disabled) in enumerate(MIX):
            row = (f"s_mix_{number:03d}", USER, "Old", at, at, 1, 0, 0, "auto")
            db.execute(f"INSERT INTO sessions ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            intent = (row[0], enabled, toolset, web_search, disabled)
            db.execute("INSERT INTO session_config VALUES (?, ?, ?, ?, ?, NULL, NULL, 1)", intent)
        db.commit()


def registry() -> Registry:
    """What the program of back then had, as far as it matters, and a plug-in that came since."""
    made = Registry()
    search = FakeTool("web_search", provides=("web_search",), presets=("research",))
    made.put("builtin", [tool_search, FakeTool("bash").spec, FakeTool("read", presets=("research",)).spec, search.spec])
    made.put("plugin:new", [deferred("newcomer", presets=("research",)).spec])
    return made


async def states(chats: Chats, session_id: str) -> dict[str, str]:
    ack = cast(ToolsAck, await chats.do("explain_tools", user=USER, session_id=session_id))
    return {tool.name: tool.state for tool in ack.tools}


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_chat_of_an_older_database_has_the_new_tool_where_its_preset_includes_it(
    tmp_path: Path, version: int
) -> None:  # T5, T2
    database(tmp_path, version)
    async with opened(tmp_path, registry=registry()) as chats:
        assert len(MIX) > 100
        for number, (enabled, toolset, web_search, disabled) in enumerate(MIX):
            found = await states(chats, f"s_mix_{number:03d}")
            on = enabled != 0 and toolset != "none"
            bash = on and toolset in (None, "full") and disabled != '["bash"]'
            searching = web_search == 1 or (on and web_search is None)  # the profile of this test is `full`
            assert (found["newcomer"] != "off") is on, MIX[number]
            assert (found["bash"] == "on") is bash, MIX[number]
            assert (found["web_search"] != "off") is searching, MIX[number]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_chat_of_an_older_database_calls_the_new_tool_at_its_next_turn(
    tmp_path: Path, version: int
) -> None:  # T5, T23: a row from before the loaded set was stored has none
    database(tmp_path, version)
    async with opened(tmp_path, call(use("newcomer")), say("Done."), registry=registry()) as chats:
        before = await chats.store.intent("s_1")
        assert (await chats.row("s_1")).loaded == (() if version == 1 else ("weather", "notes"))
        assert (await chats.of("s_1", TurnFinished))[0].reason == "interrupted"  # nobody works on its turn any more
        for waiting in await chats.store.queue("s_1"):
            await chats.do("edit_queue", user=USER, session_id="s_1", queued_id=waiting.id, text=None)
        await chats.do("chat", user=USER, session_id="s_1", text="and now?")
        await chats.until("s_1", TurnFinished, 2)
        await chats.rest("s_1")
        (started,) = await chats.of("s_1", TurnStarted)
        assert started.tools == ("newcomer", "read", "tool_search")
        assert "newcomer" in declared(chats.provider.requests[-1])
        assert (await chats.of("s_1", LoadedChanged))[-1].added == ("newcomer",)
        assert await chats.store.intent("s_1") == before
        assert before.intent == ToolIntent(True, "research", False, ("bash",), None, ("web_*",))
