"""What tools are said to cost is what they cost on the wire (spec tools.md section 5)."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from openprogram.agent.tool_search import tool_search
from openprogram.core.jsonio import JsonObject, canonical
from openprogram.core.prompt import Api, Counting, ProviderRequest
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.tooling import ToolSpec
from openprogram.providers import anthropic_prompt, chat_prompt, responses_prompt
from openprogram.providers.catalog import UNKNOWN
from openprogram.providers.hosts import Quirks
from openprogram.tokens import count_tokens
from openprogram.tools.registry import Registry
from tests.support.script import MODEL, say
from tests.support.sessions import opened
from tests.support.tools import spec

WITHIN = 0.05
NO_SHRINK = (Phase.explicit, Phase.reuse, Phase.generate)

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=60)
properties = st.dictionaries(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.builds(lambda text: {"type": "string", "description": text}, words) | st.just({"type": "integer"}),
    max_size=4,
)
schemas = st.builds(lambda found: {"type": "object", "properties": found}, properties) | st.just({"type": "object"})


@st.composite
def tool_sets(draw: st.DrawFn) -> Registry:
    """Built-in tools, resident and deferred, with or without the one that finds others, and tools of servers."""
    names = draw(st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True), unique=True, max_size=12))
    tools: list[ToolSpec] = [
        spec(
            name,
            description=draw(words),
            parameters=draw(schemas),
            residency=draw(st.sampled_from(("resident", "deferred"))),
        )
        for name in names
        if name != tool_search.name
    ]
    registry = Registry()
    registry.put("builtin", [*tools, tool_search] if draw(st.booleans()) else tools)
    for server in range(draw(st.integers(0, 3))):
        number = draw(st.sampled_from((1, 7, 150)))
        registry.put(f"mcp:server{server}", [spec(f"server{server}_tool_{each}") for each in range(number)])
    return registry


def body_of(api: Api, request: ProviderRequest) -> JsonObject:
    """The body that the endpoint's adapter sends."""
    if api == "anthropic":
        return anthropic_prompt.request_body(request, "fake/model", UNKNOWN)
    if api == "openai-responses":
        return responses_prompt.request_body(request, "fake/model", UNKNOWN)
    return chat_prompt.request_body(request, "fake/model", UNKNOWN, Quirks())


def close(estimate: int | None, truth: int) -> bool:
    return estimate is not None and abs(estimate - truth) <= WITHIN * truth


@pytest.mark.parametrize("api", get_args(Api))
@given(registry=tool_sets(), data=st.data())
@settings(max_examples=25, phases=NO_SHRINK)
async def test_each_half_is_within_five_percent_of_what_is_sent(
    api: Api, registry: Registry, data: st.DataObject
) -> None:  # spec 5, T16, T19
    names = [tool.name for tool in registry.snapshot.tools]
    off = data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True) if names else st.just([]))
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder), say("."), registry=registry) as chats:
            chats.catalog.model = replace(MODEL, counting=Counting(api))
            session_id = await chats.draft()
            for name in off:
                await chats.patch("set_tool_disabled", session_id, name=name, value=True)
            await chats.do("explain_tools", session_id=session_id)  # has what is new counted
            await chats.service._hub.meter.idle()
            ack = cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))
            await chats.said("hello", session_id)
            (request,) = chats.provider.requests
    body = body_of(api, request)
    sent = body.get("tools", [])
    assert isinstance(sent, list)
    assert ack.budget.declared == len(sent) == len(request.tools)
    assert ack.budget.resident is not None
    if sent:
        assert close(ack.budget.resident, count_tokens(canonical(sent).decode()))
        priced = [tool.tokens or 0 for tool in ack.tools if tool.tokens_now == tool.tokens]
        assert sum(priced) <= ack.budget.resident
    else:
        assert ack.budget.resident == 0
    catalog = next((text for text in request.system if text.startswith("Tools that can be loaded")), "")
    assert catalog in canonical(body).decode().replace("\\n", "\n")
    assert (ack.budget.deferred > 0) == bool(catalog)
    assert close(ack.budget.catalog, count_tokens(catalog))
