"""A chat that goes on after a restart or an upgrade is sent as it was, to the byte (cache.md C10, C13; reports 13, 16).

The golden databases are chats as a released version left them, one for each strategy, with changes of the tools, a
discovery, calls that were denied and called through the bridge, and reasoning.
"""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.jsonio import JsonObject, JsonValue, canonical
from openprogram.core.messages import ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import Completed, ProviderRequest, ResponseStarted
from openprogram.core.surface import BRIDGE_NAME, Capability, Strategy
from openprogram.core.usage import Usage
from openprogram.providers import anthropic_prompt, chat_prompt, responses_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.hosts import Quirks
from openprogram.providers.segments import segments
from openprogram.store.sqlite.schema import APPLICATION_ID, MIGRATIONS
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.deferral import deferred, select
from tests.support.golden import check
from tests.support.script import MODEL, Script, call, say, use
from tests.support.sessions import Chats, opened
from tests.support.tree import ROOT

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
GOLDEN = ROOT / "tests" / "golden" / "histories"
THOUGHT: Script = (
    ResponseStarted(),
    Completed((ReasoningBlock("A greeting.", "c2lnbmVk"), TextBlock("Hi.")), "end_turn", Usage()),
)


def registry() -> Registry:
    """Two tools that are there from the start and two that wait."""
    made = Registry()
    tools = (FakeTool("bash"), FakeTool("read"), deferred("notes"), deferred("weather"))
    made.put("builtin", [tool_search, *(tool.spec for tool in tools)])
    return made


def of(chats: Chats, strategy: Strategy) -> None:
    """The chats' endpoint changes tools so."""
    chats.catalog.model = replace(MODEL, capability=Capability(strategy=strategy, cache_ttl_s=300.0))


async def played(chats: Chats, strategy: Strategy) -> str:
    """A chat in which everything happens that a history can hold of its tools."""
    of(chats, strategy)
    found: ToolUseBlock = use("weather", "c_4")
    if strategy == "bridge":
        found = replace(use(BRIDGE_NAME, "c_4"), arguments={"name": "weather", "arguments": {}})
    chats.provider.scripts = [
        THOUGHT,
        call(use("read", "c_1"), use("bash", "c_2")),
        say("It is off."),
        call(select("weather", call_id="c_3")),
        call(found),
        say("Sunny."),
        say("On again."),
    ]
    session_id = await chats.said("Hello")
    await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
    await chats.said("Run it", session_id)
    await chats.said("The weather?", session_id)
    await chats.patch("set_tool_disabled", session_id, name="bash", value=False)
    await chats.said("And now?", session_id)
    branch = await chats.branch(session_id)
    assert [result.status for each in branch for result in each.results] == ["ok", "denied", "ok", "ok"]
    return session_id


def bodies(request: ProviderRequest) -> dict[str, JsonObject]:
    """The request as each wire format that carries its strategy has it."""
    made: dict[str, JsonObject] = {}
    strategy = request.strategy
    if strategy not in ("additional_tools", "client_tool_search"):
        made["anthropic"] = anthropic_prompt.request_body(request, MODEL.id, facts_of("claude-opus-5"))
    if strategy not in ("inline_changes", "reference_changes", "tool_reference"):
        made["responses"] = responses_prompt.request_body(request, MODEL.id, facts_of("gpt-6-sol"))
    if strategy in ("append", "bridge", "frozen"):
        made["chat"] = chat_prompt.request_body(request, MODEL.id, facts_of("gpt-4.1"), Quirks())
    return made


def history(body: JsonObject) -> list[JsonValue]:
    """What stands behind the system prompt, piece by piece, without the cache's marks."""
    sent: dict[str, Any] = orjson.loads(canonical(body))
    pieces: list[JsonValue] = []
    for item in sent.get("messages") or sent["input"]:
        content = item.get("content")
        for block in content if isinstance(content, list) else [None]:
            kept = {key: value for key, value in (block or {}).items() if key != "cache_control"}
            pieces.append({**item, "content": kept} if block else item)
    return pieces[1:] if pieces[0]["role"] == "system" else pieces  # type: ignore[index, call-overload]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_after_a_restart_the_history_is_sent_byte_by_byte_as_it_was(
    strategy: Strategy, tmp_path: Path
) -> None:  # C10, C13, reports 13 and 16
    async with opened(tmp_path, registry=registry()) as chats:
        session_id = await played(chats, strategy)
        before = chats.provider.requests[-1]
        branch = await chats.branch(session_id)
    async with opened(tmp_path, say("Yes."), registry=registry()) as chats:
        of(chats, strategy)
        await chats.said("Still there?", session_id)
        [after] = chats.provider.requests
        assert (await chats.branch(session_id))[: len(branch)] == branch
    old, new = segments(before), segments(after)
    assert new[: len(old)] == old
    assert (after.tools, after.system, after.deltas) == (before.tools, before.system, before.deltas)
    for wire, body in bodies(after).items():
        earlier = history(bodies(before)[wire])
        assert history(body)[: len(earlier)] == earlier


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_while_a_server_still_connects_old_history_that_refers_to_its_tools_is_sent_as_it_was(
    strategy: Strategy, tmp_path: Path
) -> None:  # C5, C10, report 13
    sky = [deferred("star").spec, deferred("moon").spec]
    tools = registry()
    tools.put("mcp:sky", sky)
    seek = use("star", "c_2")
    if strategy == "bridge":
        seek = replace(use(BRIDGE_NAME, "c_2"), arguments={"name": "star", "arguments": {}})
    scripts = (call(select("star", call_id="c_1")), call(seek), say("Bright."))
    async with opened(tmp_path, *scripts, registry=tools) as chats:
        of(chats, strategy)
        session_id = await chats.said("Which star?")
        requests = [chats.provider.requests[-1]]
    fresh = registry()  # the server has not answered yet
    again = replace(seek, call_id="c_3")
    async with opened(tmp_path, call(again), say("Later."), say("Back."), registry=fresh) as chats:
        of(chats, strategy)
        await chats.said("And now?", session_id)
        fresh.put("mcp:sky", sky[::-1])
        await chats.said("And now?", session_id)
        requests += chats.provider.requests
        results = [result.status for each in await chats.branch(session_id) for result in each.results]
    assert results == ["ok", "ok", "denied"]
    for before, after in pairwise(requests):
        old, new = segments(before), segments(after)
        assert new[: len(old)] == old


# -- what released versions left ------------------------------------------------------------------------------------


def dumped(folder: Path) -> str:
    """The database as SQL, with its JSON for reading."""
    with closing(sqlite3.connect(folder / "chats.db")) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        lines = [re.sub("X'([0-9A-F]+)'", _readable, line) for line in db.iterdump()]
    return "\n".join([*lines, f"PRAGMA user_version = {version};", ""])


def _readable(blob: re.Match[str]) -> str:
    text = bytes.fromhex(blob[1]).decode().replace("'", "''")
    return f"CAST('{text}' AS BLOB)"


def restored(folder: Path, dump: Path) -> None:
    with closing(sqlite3.connect(folder / "chats.db")) as db:
        db.executescript(dump.read_text("utf-8"))
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.commit()


async def only_chat(chats: Chats) -> str:
    [session_id] = await chats.sidebar()
    return session_id


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_chat_of_a_released_version_is_sent_as_that_version_sent_it(
    strategy: Strategy, tmp_path: Path, pytestconfig: pytest.Config
) -> None:  # C13, report 16
    dump = GOLDEN / f"{strategy}_v{len(MIGRATIONS)}.sql"
    regenerate = bool(pytestconfig.getoption("--regenerate-goldens"))
    if regenerate and not dump.exists():
        (tmp_path / "made").mkdir()
        async with opened(tmp_path / "made", registry=registry()) as chats:
            await played(chats, strategy)
        GOLDEN.mkdir(exist_ok=True)
        dump.write_text(dumped(tmp_path / "made"), "utf-8")
    for number, released in enumerate(sorted(GOLDEN.glob(f"{strategy}_v*.sql"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        restored(folder, released)
        async with opened(folder, say("Yes."), registry=registry()) as chats:
            of(chats, strategy)
            await chats.said("Still there?", await only_chat(chats))
            [request] = chats.provider.requests
        sent = {wire: history(body) for wire, body in bodies(request).items()}
        check(released.with_suffix(".json"), {"tools": list(request.tools), **sent}, regenerate=regenerate)


async def test_a_chat_whose_system_prompt_once_named_its_directory_keeps_it_there_until_it_moves(
    tmp_path: Path,
) -> None:  # law 4, C11, C12
    folder = tmp_path / "there"
    folder.mkdir()
    restored(tmp_path, GOLDEN / "append_v6.sql")
    async with opened(tmp_path, say("Here."), say("There."), say("Still."), registry=registry()) as chats:
        of(chats, "append")
        session_id = await only_chat(chats)
        await chats.said("Where are we?", session_id)
        await chats.do("set_workspace", session_id=session_id, workspace=str(folder))
        await chats.said("And now?", session_id)
        await chats.said("And now?", session_id)
        here, moved, stayed = chats.provider.requests
        notices = [message.text for message in await chats.branch(session_id) if message.role == "notice"]
    assert "Working directory: /tmp\n" in "\n".join(here.system)
    assert "Working directory: " not in "\n".join(moved.system)
    assert stayed.system == moved.system
    told = [line for text in notices for line in text.splitlines() if line.startswith("Working directory: ")]
    assert told == [f"Working directory: {folder}"]
