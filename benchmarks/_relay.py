"""A bare relay to compare with: a model's stream to two tabs, with no log, no agent and no protocol.

The same libraries and server settings as openprogram. `/ws/CHAT` is a tab; `POST /start/CHAT` streams one answer to the
chat's tabs. Run as a program: `_relay.py BASE_URL MODEL`; prints `{"url": ...}` when it listens.
"""

import asyncio
import json
import socket
import sys
from collections import defaultdict

import _venv

if __name__ == "__main__":
    _venv.enter()

import aiohttp
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from openprogram.app.serve import uvicorn_config


class Relay:
    """Streams by chat, tabs by chat."""

    def __init__(self, base_url: str, model: str) -> None:
        self._url = f"{base_url}/chat/completions"
        self._body = {"model": model, "stream": True, "messages": [{"role": "user", "content": "go"}]}
        self._tabs: dict[str, list[WebSocket]] = defaultdict(list)
        self._http: aiohttp.ClientSession | None = None
        self._streams: set[asyncio.Task[None]] = set()

    async def tab(self, websocket: WebSocket) -> None:
        """One tab, until it goes."""
        await websocket.accept()
        tabs = self._tabs[websocket.path_params["chat"]]
        tabs.append(websocket)
        try:
            while True:
                await websocket.receive_text()
        except WebSocketDisconnect:
            tabs.remove(websocket)

    async def start(self, request: Request) -> PlainTextResponse:
        """Begin a chat's stream."""
        task = asyncio.create_task(self._stream(request.path_params["chat"]))
        self._streams.add(task)
        task.add_done_callback(self._streams.discard)
        return PlainTextResponse("ok")

    async def _stream(self, chat: str) -> None:
        if self._http is None:
            connector = aiohttp.TCPConnector(limit=0)
            self._http = aiohttp.ClientSession(connector=connector, headers={"Authorization": "Bearer k"})
        tabs = self._tabs[chat]
        rest = b""
        async with self._http.post(self._url, json=self._body) as response:
            async for chunk in response.content.iter_any():
                *blocks, rest = (rest + chunk).split(b"\n\n")
                for block in blocks:
                    if block.startswith(b"data: {"):
                        await self._forward(tabs, chat, orjson.loads(block[6:]))
        for tab in tabs:
            await tab.send_text('{"type":"turn_finished"}')

    async def _forward(
        self, tabs: list[WebSocket], chat: str, data: dict[str, list[dict[str, dict[str, str]]]]
    ) -> None:
        choices = data.get("choices")
        text = choices[0]["delta"].get("content") if choices else None
        if text:
            frame = orjson.dumps({"type": "text_delta", "chat": chat, "text": text}).decode()
            for tab in tabs:
                await tab.send_text(frame)


def main() -> None:
    """Listen on a free port of loopback until ended."""
    relay = Relay(sys.argv[1], sys.argv[2])
    app = Starlette(
        routes=[WebSocketRoute("/ws/{chat}", relay.tab), Route("/start/{chat}", relay.start, methods=["POST"])]
    )
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
    asyncio.run(uvicorn.Server(uvicorn_config(app)).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
