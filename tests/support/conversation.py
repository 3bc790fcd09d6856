"""Chats on a running server, and what reached the model's endpoint, told in the same words for both wire formats.

`Chat` is one chat as one tab sees it; the rest reads the requests that a fake API has recorded.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.support.fake import FakeApi
from tests.support.ws import Client, Frame

WIRES = ("openai", "anthropic")
"""Names of the endpoints that `tests.support.server.environment_for` sets up, one for each wire format."""


class Chat:
    """A chat in one tab."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.client = client
        self.id = session_id

    @classmethod
    async def create(cls, client: Client, wire: str, *, mode: str | None = None, **fields: Any) -> "Chat":
        """A new chat with that endpoint's demo model, listened to from its first event."""
        ack = await client.send("create_session", model=f"{wire}/demo", **fields)
        chat = cls(client, ack["session_id"])
        await client.subscribe(chat.id)
        if mode is not None:
            await chat.act("set_permission_mode", mode=mode)
        return chat

    @classmethod
    async def join(cls, client: Client, session_id: str, after_seq: int = 0) -> "Chat":
        """A chat that exists, listened to from `after_seq` on."""
        await client.subscribe(session_id, after_seq)
        return cls(client, session_id)

    async def act(self, action: str, /, **fields: Any) -> Frame:
        """An action on this chat; returns its ack."""
        return await self.client.send(action, session_id=self.id, **fields)

    async def send(self, text: str, **fields: Any) -> Frame:
        """Send a message; returns its ack."""
        return await self.act("chat", text=text, **fields)

    async def event(self, kind: str, /, **fields: Any) -> Frame:
        """The next event of that type."""
        return await self.client.event(kind, self.id, **fields)

    async def turn(self, text: str, **fields: Any) -> Frame:
        """Send a message and wait for the end of its turn: the `turn_finished` event."""
        await self.send(text, **fields)
        return await self.event("turn_finished")

    async def snapshot(self) -> Frame:
        """A fresh snapshot's `state`."""
        await self.client.subscribe(self.id, snapshot=True)
        frame = await self.client.frame("snapshot", session_id=self.id)
        state: Frame = frame["state"]
        return state

    async def messages(self) -> list[Frame]:
        """The active branch."""
        found: list[Frame] = (await self.act("load_messages", limit=500))["messages"]
        return found

    async def tool_names(self) -> list[str]:
        """The tools in force, as the tool panel shows them."""
        tools = (await self.act("explain_tools"))["tools"]
        return [tool["name"] for tool in tools if tool["state"] == "on"]


def texts(message: Frame) -> str:
    """The text of a message."""
    return "".join(block["text"] for block in message["blocks"] if block["type"] == "text")


def log_of(frames: Iterable[Frame], session_id: str) -> list[Frame]:
    """The event frames of a chat, which must follow each other without gap or repetition (P2)."""
    log = [frame for frame in frames if frame["type"] == "event" and frame["session_id"] == session_id]
    seqs = [frame["seq"] for frame in log]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))) if seqs else True, seqs
    return log


def stored_log(database: Path, session_id: str) -> list[Frame]:
    """The event frames of a chat as the database has them."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        of_chat = "SELECT seq, at, payload FROM events JOIN sessions ON n = chat WHERE id = ? ORDER BY seq"
        rows = db.execute(of_chat, (session_id,))
        return [
            {"type": "event", "session_id": session_id, "seq": seq, "at": at, "event": orjson.loads(payload)}
            for seq, at, payload in rows
        ]


# -- what the endpoint was sent ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """One model request: `tools` and `system` as JSON text, `messages` as a list of `(role, JSON text)`."""

    record: dict[str, Any]
    tools: str
    system: str
    messages: tuple[tuple[str, str], ...]

    @property
    def tool_names(self) -> list[str]:
        """The names in the tools array, in order."""
        return [tool["name"] if "name" in tool else tool["function"]["name"] for tool in orjson.loads(self.tools)]

    @property
    def results(self) -> dict[str, str]:
        """The text of each tool result by its call's id; one that came twice fails the test."""
        found: dict[str, str] = {}
        for role, text in self.messages:
            value = orjson.loads(text)
            if role == "tool":
                key, content = value["tool_call_id"], value["content"]
            elif isinstance(value, dict) and value.get("type") == "tool_result":
                key, content = value["tool_use_id"], "".join(part["text"] for part in value.get("content", ()))
            else:
                continue
            assert key not in found, f"{key} has two results"
            found[key] = content
        return found

    @property
    def calls(self) -> list[str]:
        """The ids of the calls in the history, in order."""
        found = []
        for role, text in self.messages:
            value = orjson.loads(text)
            if role == "assistant" and "tool_calls" in value:
                found += [call["id"] for call in value["tool_calls"]]
            elif role == "assistant" and value.get("type") == "tool_use":
                found.append(value["id"])
        return found

    @property
    def text(self) -> str:
        """All of its messages as JSON text, to look for words in."""
        return "\n".join(f"{role}: {text}" for role, text in self.messages)

    def extends(self, other: "Sent") -> bool:
        """Whether this request is `other` with more behind it: what a provider's cache can use."""
        same_head = (self.tools, self.system) == (other.tools, other.system)
        return same_head and self.messages[: len(other.messages)] == other.messages


async def sent(fake: FakeApi, *, accepted: bool = True) -> list[Sent]:
    """The model requests so far. Each must have been accepted by the strict rules, unless `accepted` is false."""
    records = [record for record in await fake.requests() if record["path"] in ("/v1/messages", "/v1/chat/completions")]
    if accepted:
        refused = [(record["rule"], record["error"]) for record in records if record["rule"] is not None]
        assert not refused, refused
    return [_sent(record) for record in records]


def _sent(record: dict[str, Any]) -> Sent:
    body = record["body"]
    if record["path"] == "/v1/messages":
        system = body.get("system", [])
        atoms = [(message["role"], block) for message in body["messages"] for block in _blocks(message["content"])]
    else:
        system = [message for message in body["messages"] if message["role"] in ("system", "developer")]
        atoms = [(message["role"], message) for message in body["messages"] if message not in system]
    messages = tuple((role, _json(atom)) for role, atom in atoms)
    return Sent(record, _json(body.get("tools", [])), _json(system), messages)


def _blocks(content: str | Sequence[Any]) -> Sequence[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _json(value: Any) -> str:
    return orjson.dumps(_unmarked(value)).decode()


def _unmarked(value: Any) -> Any:
    """Without cache breakpoints: they say where to cache, and are no part of what is cached."""
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    return value


# -- scripts -----------------------------------------------------------------------------------------------------


def text_block(*chunks: str | dict[str, str]) -> dict[str, Any]:
    """A script's block of text in exactly these deltas."""
    return {"type": "text", "chunks": list(chunks)}


def call_block(name: str, call_id: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    """A script's block of one call."""
    block = {"type": "tool_use", "name": name, "input": arguments}
    return block if call_id is None else block | {"id": call_id}
