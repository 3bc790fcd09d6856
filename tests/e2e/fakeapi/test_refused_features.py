"""Features that an endpoint stops taking, seen over the wire (C9)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from openprogram.fakeapi.refusals import FEATURES, feature_names
from tests.support.fake import HEADERS, PATHS, FakeApi, fake_api

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA: Any = {"type": "object"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


async def send(fake: FakeApi, api: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Status and answer; the answer of a stream is not looked at."""
    async with fake.http.post(PATHS[api], json=body, headers=HEADERS[api] | {"anthropic-beta": INLINE}) as response:
        return response.status, None if body.get("stream") and response.status == 200 else await response.json()


REFERENCE = {"type": "tool_reference", "name": "read"}
TOOLS: Any = [
    {"name": "read", "input_schema": SCHEMA},
    {"name": "late", "input_schema": SCHEMA, "defer_loading": True},
]
DEFINED = {"type": "tool_definition", "definition": {"name": "new", "input_schema": SCHEMA}}
INLINE = "inline-tools-2026-09-15"
FUNCTION: Any = {"type": "function", "name": "read", "parameters": SCHEMA}
CHAT_TOOL: Any = {"type": "function", "function": {"name": "read", "parameters": SCHEMA}}
CALLED: Any = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]},
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "tool_reference", "tool_name": "late"}]}
        ],
    },
]


def messages(*more: Any, **other: Any) -> dict[str, Any]:
    return {"model": "demo", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}, *more], **other}


def chat(*more: Any, **other: Any) -> dict[str, Any]:
    return {"model": "demo", "messages": [{"role": "user", "content": "hi"}, *more], **other}


def responses(*more: Any, **other: Any) -> dict[str, Any]:
    return {"model": "demo", "input": [{"role": "user", "content": "hi"}, *more], "store": False, **other}


def system(kind: str, tool: Any) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": kind, "tool": tool}]}


MASK: Any = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read"}]}
CHAT_MASK: Any = {
    "type": "allowed_tools",
    "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "read"}}]},
}
USES: dict[tuple[str, str], dict[str, Any]] = {
    ("anthropic", "betas"): messages(),
    ("anthropic", "tool_changes"): messages(system("tool_removal", REFERENCE), tools=TOOLS),
    ("anthropic", "inline_tools"): messages(system("tool_addition", DEFINED), tools=TOOLS),
    ("anthropic", "system_messages"): messages({"role": "system", "content": "note"}),
    ("anthropic", "deferred_tools"): messages(tools=TOOLS),
    ("anthropic", "tool_references"): messages(*CALLED, tools=TOOLS),
    ("chat", "system_messages"): chat({"role": "system", "content": "note"}),
    ("chat", "allowed_tools"): chat(tools=[CHAT_TOOL], tool_choice=CHAT_MASK),
    ("chat", "tool_choice"): chat(tools=[CHAT_TOOL], tool_choice="none"),
    ("chat", "prompt_cache_key"): chat(prompt_cache_key="k"),
    ("chat", "prompt_cache_options"): chat(model="gpt-6", prompt_cache_options={}),
    ("chat", "stream_options"): chat(stream=True, stream_options={"include_usage": True}),
    ("responses", "additional_tools"): responses(
        {"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}
    ),
    ("responses", "tool_search"): responses(tools=[{"type": "tool_search", "execution": "client"}]),
    ("responses", "allowed_tools"): responses(tools=[FUNCTION], tool_choice=MASK),
    ("responses", "prompt_cache_key"): responses(prompt_cache_key="k"),
    ("responses", "prompt_cache_options"): responses(prompt_cache_options={}),
}
PLAIN = {"anthropic": messages(), "chat": chat(), "responses": responses()}


async def test_every_feature_has_a_request_that_uses_it() -> None:
    assert set(USES) == {(api, name) for api, features in FEATURES.items() for name in features}


@pytest.mark.parametrize(("api", "feature"), sorted(USES))
async def test_a_feature_is_refused_from_a_chosen_moment_on(fake: FakeApi, api: str, feature: str) -> None:  # C9
    uses = USES[api, feature]
    assert (await send(fake, api, uses))[0] == 200
    await fake.refuse(feature)
    refused, answer = await send(fake, api, uses)
    assert (refused, answer["error"]["type"]) == (400, "invalid_request_error")
    assert (await fake.requests())[-1]["rule"] == f"refused: {feature}"
    if feature != "betas":
        assert (await send(fake, api, PLAIN[api]))[0] == 200
    await fake.refuse(feature, model="another")
    assert (await send(fake, api, uses))[0] == 200
    await fake.refuse()
    assert (await send(fake, api, uses))[0] == 200


async def test_an_unknown_feature_is_a_mistake_of_the_test(fake: FakeApi) -> None:
    async with fake.http.post("/__fake/refuse", json={"features": ["magic"]}) as response:
        assert response.status == 400
        assert "tool_changes" in (await response.json())["error"]
    assert "magic" not in feature_names()
