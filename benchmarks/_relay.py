"""A bare relay, to compare with: an answer's deltas from the endpoint to every tab of a chat, and nothing else.

The same libraries, parser and frames as the program, the same socket settings. No log, no agent loop, no subscription,
no bounded buffer: a tab that is slow holds up the others. `python _relay.py CHAT_COMPLETIONS_URL` prints its port.
"""

import asyncio
import itertools
import sys
from collections import defaultdict

import _venv

_venv.enter()

import aiohttp  # noqa: E402
import orjson  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.routing import WebSocketRoute  # noqa: E402
from starlette.websockets import WebSocket, WebSocketDisconnect  # noqa: E402

from openprogram.app.serve import Server, bind, uvicorn_config  # noqa: E402
from openprogram.providers.sse import SseSplitter  # noqa: E402


def endpoint_client() -> aiohttp.ClientSession:
    """A client for the fake API: it takes any key, and a bad answer raises."""
    connector = aiohttp.TCPConnector(limit=0)
    return aiohttp.ClientSession(connector=connector, headers={"authorization": "Bearer none"}, raise_for_status=True)


def request_body(model: str) -> dict[str, object]:
    """The shortest request for an answer of this model."""
    return {"model": model, "stream": True, "messages": [{"role": "user", "content": "Go on."}]}


def delta_text(data: bytes) -> str:
    """The text in one chunk of a Chat Completions stream; empty if it has none."""
    if data == b"[DONE]":
        return ""
    return "".join(choice["delta"].get("content") or "" for choice in orjson.loads(data)["choices"])


class Relay:
    """The tabs of every chat, and the client that streams to them."""

    def __init__(self, url: str, client: aiohttp.ClientSession) -> None:
        self._url = url
        self._client = client
        self._tabs: defaultdict[str, list[WebSocket]] = defaultdict(list)
        self._streams: set[asyncio.Task[None]] = set()

    async def socket(self, tab: WebSocket) -> None:
        """`/ws?chat=ID`: join the chat; a frame `{"model": ...}` starts an answer."""
        await tab.accept()
        chat = tab.query_params["chat"]
        self._tabs[chat].append(tab)
        await tab.send_text('{"type":"hello"}')
        try:
            while True:
                frame = orjson.loads(await tab.receive_text())
                task = asyncio.create_task(self._stream(chat, frame["model"]))
                self._streams.add(task)
                task.add_done_callback(self._streams.discard)
        except WebSocketDisconnect:
            self._tabs[chat].remove(tab)

    async def _stream(self, chat: str, model: str) -> None:
        seqs = itertools.count(1)
        splitter = SseSplitter()
        async with self._client.post(self._url, json=request_body(model)) as answer:
            async for chunk in answer.content.iter_any():
                for _, data in splitter.feed(chunk):
                    if text := delta_text(data):
                        await self._send(chat, next(seqs), {"type": "text_delta", "block": 0, "text": text})
        await self._send(chat, next(seqs), {"type": "turn_finished", "reason": "done"})

    async def _send(self, chat: str, seq: int, event: dict[str, object]) -> None:
        frame = {"type": "event", "session_id": chat, "seq": seq, "at": "2026-01-01T00:00:00.000Z", "event": event}
        text = orjson.dumps(frame).decode()
        for tab in self._tabs[chat]:
            await tab.send_text(text)


async def serve(url: str) -> None:
    """Serve until the process is ended."""
    async with endpoint_client() as client:
        app = Starlette(routes=[WebSocketRoute("/ws", Relay(url, client).socket)])
        listener = bind("127.0.0.1", 0)
        port = listener.getsockname()[1]
        server = Server(uvicorn_config(app), on_start=lambda: print(port, flush=True), on_stop=lambda: None)
        await server.serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
