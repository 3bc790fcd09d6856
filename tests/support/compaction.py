"""Chats with a model whose window has 4,096 tokens, which the strict fake API enforces, and their summaries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.conversation import Chat, Sent, call_block, text_block, texts
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import Client, Frame

SMALL = """
[endpoints.{name}]
api = "{api}"
base_url = "{url}"
key = "test"
models = ["demo-small"]
context_window = 4096
max_output_tokens = 1000
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""
BINDING = """
[endpoints.binding]
api = "anthropic"
base_url = "{url}"
key = "test"
models = ["claude-opus-5-5"]
"""
ASKED = {"match": {"text": "Write the summary"}}
NOTES = "A line of the notes that are kept here.\n" * 85
"""About 1,000 tokens, as a tool shows it: the third reading in a turn is one too many."""


def _config(fake: FakeApi) -> str:
    """Both endpoints with the small model, and one with a model that binds thinking to what stands before it."""
    chat = SMALL.format(name="openai", api="openai-chat", url=fake.openai_url)
    messages = SMALL.format(name="anthropic", api="anthropic", url=fake.anthropic_url)
    return chat + messages + BINDING.format(url=fake.anthropic_url)


@asynccontextmanager
async def small_server(directory: Path, fake: FakeApi) -> AsyncIterator[Server]:
    """A server with both endpoints and the notes."""
    async with running_server(directory, fake, config=_config(fake)) as server:
        (server.workspace / "notes.txt").write_text(NOTES)
        yield server


async def begin(client: Client, wire: str) -> Chat:
    """A chat with the small model and one tool."""
    ack = await client.send("create_session", model=f"{wire}/demo-small")
    chat = Chat(client, ack["session_id"])
    await client.subscribe(chat.id)
    await chat.act("pick_tools", tools=["read"])
    return chat


async def reads(fake: FakeApi, *numbers: int) -> None:
    """Steps that read the notes."""
    for number in numbers:
        await fake.script({"blocks": [call_block("read", f"call_{number}", path="notes.txt")]})


async def summarises(fake: FakeApi, text: str = "The notes were read.", **more: Any) -> None:
    """What the model answers when it is asked for a summary."""
    await fake.script({"blocks": [text_block(text)], **ASKED, **more})


def asks(request: Sent) -> bool:
    """Whether this is the request for a summary."""
    return "Write the summary" in request.messages[-1][1]


def starts_with_summary(request: Sent, text: str) -> bool:
    """Whether the conversation in it begins with that summary."""
    return "<summary>" in request.messages[0][1] and text in request.messages[0][1]


async def compacted(chat: Chat) -> Frame:
    """The end of the next compaction, and that it went well."""
    event = await chat.event("compacted")
    assert event["outcome"] == "done"
    return event


async def compact(chat: Chat) -> None:
    """Ask for a compaction, and wait until it is over."""
    await chat.act("compact")
    await compacted(chat)
    assert (await chat.event("turn_finished"))["reason"] == "done"


async def answered(chat: Chat, text: str) -> list[Frame]:
    """The branch once it ends in that answer."""
    await chat.event("message_added")
    while texts((messages := await chat.messages())[-1]) != text:
        await chat.event("message_added")
    return messages
