"""560 tools of 14 servers, with names twice and names too long, through the strict fake API (report 40)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from openprogram.agent.tool_search import tool_search
from openprogram.context.catalog import BOUND, HEADER, entries_of, uncovered
from openprogram.core.events import ErrorRaised, StepStarted, ToolCallFinished, TurnFinished, TurnStarted
from openprogram.core.prompt import Api
from openprogram.core.tooling import ToolSpec
from openprogram.tokens import count_tokens
from openprogram.tools.registry import Registry
from tests.support.deferral import system
from tests.support.fake import FakeApi, fake_api
from tests.support.providers import APIS, fake_address, provider_at
from tests.support.script import MODEL, say
from tests.support.sessions import opened
from tests.support.tools import spec

SERVERS = 14
EACH = 40
VERBS = ("create", "list", "update", "delete", "search")
THINGS = ("issue", "invoice", "calendar event", "spreadsheet", "weather report", "pull request", "contact", "playlist")


def tools_of(server: int) -> list[ToolSpec]:
    """The tools of one server: names as strangers choose them, the same ones on every server, some far too long."""
    return [
        spec(
            f"{'a_rather_long_prefix_' * 4 if thing == 'playlist' else ''}{verb} {thing}",
            description=f"{verb.capitalize()} a {thing} of tenant {server}.",
            parameters={
                "type": "object",
                "properties": {"id": {"type": "string", "description": f"Id of the {thing}"}},
            },
        )
        for verb in VERBS
        for thing in THINGS
    ]


def registry() -> Registry:
    made = Registry()
    made.put("builtin", [tool_search, spec("read", residency="resident")])
    for server in range(SERVERS):
        made.put(f"mcp:server{server}", tools_of(server))
    return made


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[FakeApi]:
    async with fake_api() as running:
        yield running


def uses(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"blocks": [{"type": "tool_use", "name": name, "input": arguments} for name, arguments in calls]}


def sent(request: dict[str, Any]) -> list[str]:
    """Names of the tools in a request of either wire format."""
    return [tool["name"] if "name" in tool else tool["function"]["name"] for tool in request["body"]["tools"]]


@pytest.mark.parametrize("api", APIS)
async def test_560_tools_are_offered_found_and_called_without_an_error(
    tmp_path: Path, fake: FakeApi, api: Api
) -> None:  # report 40
    tools = registry()
    snapshot = tools.snapshot
    names = [tool.name for tool in snapshot.tools]
    assert len(set(names)) == SERVERS * EACH + 2
    twin = next(tool for tool in snapshot.tools if tool.source == "mcp:server9" and "weather" in tool.name)
    await fake.script(
        uses(("tool_search", {"query": "weather report tenant 9"})),
        uses(("tool_search", {"query": f"select:{twin.name}"}), (names[0], {"id": "7"})),
        uses((twin.name, {"id": "1"}), ("read", {})),
    )
    await fake.say("Done.")
    async with opened(tmp_path, registry=tools) as chats, provider_at(api, fake_address(api, fake)) as provider:
        chats.catalog.provider = provider
        chats.catalog.model = replace(MODEL, model="demo")
        session_id = await chats.said("do it")
        (finished,) = await chats.of(session_id, TurnFinished)
        assert finished.error is None, finished.error
        assert finished.reason == "done"
        assert [event.status for event in await chats.of(session_id, ToolCallFinished)] == ["ok"] * 5
        assert await chats.of(session_id, ErrorRaised) == []
        (started,) = await chats.of(session_id, TurnStarted)
        assert set(started.tools) == set(names)
        steps = await chats.of(session_id, StepStarted)
        assert [step.deferred_count for step in steps] == [560, 560, 558, 558]
        assert steps[-1].loaded == (twin.name, names[0])
    requests = await fake.requests()
    for before, after in pairwise(requests):
        assert sent(after)[: len(sent(before))] == sent(before)
    assert sent(requests[-1]) == ["read", "tool_search", twin.name, names[0]]


async def test_the_catalog_of_560_tools_is_within_its_bound_and_tells_of_all(tmp_path: Path) -> None:
    tools = registry()
    async with opened(tmp_path, say("Hi."), registry=tools) as chats:
        await chats.said("hello")
        text = HEADER + system(chats.provider.requests[0]).partition(HEADER)[2]
    assert count_tokens(text) <= BOUND
    assert "server7 (40)" in entries_of(text)
    assert uncovered((tool for tool in tools.snapshot.tools if tool.source != "builtin"), entries_of(text)) == ()
