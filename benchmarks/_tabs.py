"""The browsers' side of a measurement: chats with two tabs each, against the program or against the bare relay."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

import aiohttp
import orjson

TABS = 2
_DELTA = '"type":"text_delta"'
_END = '"type":"turn_finished"'


class Tab:
    """One WebSocket: counts what it is shown."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.characters = 0
        self.frames = 0
        self.first_delta = asyncio.Event()
        self.first_delta_at = 0.0
        self.finished = asyncio.Event()
        self.answers: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def read(self) -> None:
        """Take frames until the socket closes."""
        async for message in self.socket:
            text: str = message.data
            if _DELTA in text:
                if not self.first_delta.is_set():
                    self.first_delta_at = time.perf_counter()
                    self.first_delta.set()
                self.frames += 1
                self.characters += len(orjson.loads(text)["event"]["text"])
            elif _END in text:
                self.finished.set()
            elif (waiting := self.answers.pop(orjson.loads(text).get("id"), None)) is not None:
                waiting.set_result(orjson.loads(text))

    async def ask(self, **frame: str | int) -> dict[str, Any]:
        """Send an action and wait for its ack."""
        client_id = uuid.uuid4().hex
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.answers[client_id] = waiting
        await self.socket.send_str(orjson.dumps({"id": client_id, **frame}).decode())
        answer = await waiting
        if answer["type"] != "ack":
            raise RuntimeError(f"refused: {answer}")
        return answer

    def reset(self) -> None:
        """Forget the last answer."""
        self.first_delta.clear()
        self.finished.clear()


class Chat(Protocol):
    """One chat with its tabs."""

    tabs: list[Tab]

    async def begin(self) -> None:
        """Have the model answer."""
        ...


class ProgramChat:
    """A chat of the program."""

    def __init__(self, tabs: list[Tab], session_id: str) -> None:
        self.tabs = tabs
        self._session_id = session_id

    async def begin(self) -> None:
        """Send a message, and do not wait for the ack."""
        frame = {"action": "chat", "id": uuid.uuid4().hex, "session_id": self._session_id, "text": "Go on."}
        await self.tabs[0].socket.send_str(orjson.dumps(frame).decode())


class RelayChat:
    """A chat of the relay."""

    def __init__(self, tabs: list[Tab], model: str) -> None:
        self.tabs = tabs
        self._model = model

    async def begin(self) -> None:
        """Start an answer."""
        await self.tabs[0].socket.send_str(orjson.dumps({"model": self._model}).decode())


@asynccontextmanager
async def program_chats(port: int, token: str, model: str, count: int) -> AsyncIterator[list[Chat]]:
    """New chats of the program, all tabs subscribed."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(_browser({"authorization": f"Bearer {token}"}))
        chats: list[Chat] = []
        for _ in range(count):
            tabs = [await _tab(stack, client, f"ws://127.0.0.1:{port}/ws") for _ in range(TABS)]
            session_id = (await tabs[0].ask(action="create_session", model=f"bench/{model}"))["session_id"]
            for tab in tabs:
                await tab.ask(action="subscribe", session_id=session_id, after_seq=0)
            chats.append(ProgramChat(tabs, session_id))
        yield chats


@asynccontextmanager
async def relay_chats(port: int, model: str, count: int) -> AsyncIterator[list[Chat]]:
    """Chats of the relay, all tabs connected."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(_browser({}))
        chats: list[Chat] = []
        for number in range(count):
            url = f"ws://127.0.0.1:{port}/ws?chat={number}"
            chats.append(RelayChat([await _tab(stack, client, url) for _ in range(TABS)], model))
        yield chats


def _browser(headers: dict[str, str]) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers)


async def _tab(stack: AsyncExitStack, client: aiohttp.ClientSession, url: str) -> Tab:
    socket = await stack.enter_async_context(client.ws_connect(url, compress=0, max_msg_size=0))
    tab = Tab(socket)
    await socket.receive()  # hello
    reader = asyncio.create_task(tab.read())
    stack.callback(reader.cancel)
    return tab
