"""Tools that change in mid-conversation, and pictures, with the official anthropic SDK as the client."""

import base64
import io
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest
import pytest_asyncio
from anthropic.types import ImageDimensionsTooLargeError, ToolReferenceUnresolvedError
from PIL import Image

from tests.support.fake import FakeApi, fake_api

pytestmark = pytest.mark.asyncio(loop_scope="module")

READ: Any = {"name": "read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@pytest_asyncio.fixture(loop_scope="module")
async def client(fake: FakeApi) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        base_url=fake.anthropic_url, api_key="test", max_retries=0, _strict_response_validation=True
    ) as made:
        yield made


@pytest.mark.parametrize("by_value", [True, False])
async def test_tools_change_in_mid_conversation_without_moving_the_cache(
    fake: FakeApi, client: anthropic.AsyncAnthropic, by_value: bool
) -> None:
    beta: Any = "inline-tools-2026-09-15" if by_value else "mid-conversation-tool-changes-2026-07-01"
    late = {**READ, "name": "late"}
    reserve = {**READ, "name": "reserved", "defer_loading": True}
    target: Any = {"type": "tool_reference", "name": "late"}
    if by_value:
        target = {"type": "tool_definition", "definition": late}
    asked: dict[str, Any] = {
        "model": "claude-opus-5-5",
        "max_tokens": 500,
        "betas": [beta],
        "cache_control": {"type": "ephemeral"},
        "system": "rule " * 1000,
        "tools": [READ, {**late, "defer_loading": True}, reserve] if not by_value else [READ, reserve],
    }
    messages: Any = [{"role": "user", "content": 'call late {"path": "a"}'}]
    first = await client.beta.messages.create(messages=messages, **asked)
    assert "late" not in [block.name for block in first.content if block.type == "tool_use"]
    changes: Any = [
        {"type": "tool_addition", "tool": target},
        {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "read"}},
    ]
    messages = [*messages, {"role": "system", "content": changes}]
    second = await client.beta.messages.create(messages=messages, **asked)
    [call] = [block for block in second.content if block.type == "tool_use"]
    assert (call.name, call.input) == ("late", {"path": "a"})
    wrote = first.usage.cache_creation_input_tokens
    assert wrote is not None
    assert second.usage.cache_read_input_tokens == wrote > 1000
    changes[1]["tool"]["name"] = "gone"
    with pytest.raises(ToolReferenceUnresolvedError) as caught:
        await client.beta.messages.create(messages=messages, **asked)
    assert caught.value.details.error_code == "tool_reference_unresolved"


async def test_a_picture_that_is_too_large_is_the_sdks_own_error(client: anthropic.AsyncAnthropic) -> None:
    held = io.BytesIO()
    Image.new("1", (8001, 1)).save(held, "PNG")
    data = base64.b64encode(held.getvalue()).decode()
    source: Any = {"type": "base64", "media_type": "image/png", "data": data}
    asked: Any = [{"role": "user", "content": [{"type": "image", "source": source}]}]
    with pytest.raises(ImageDimensionsTooLargeError) as caught:
        await client.messages.create(model="demo", max_tokens=9, messages=asked)
    assert caught.value.details.paths == ["messages.0.content.0"]
