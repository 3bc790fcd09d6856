"""One WebSocket: a task that reads actions, tasks that serve them, a task that writes, and a heartbeat."""

import asyncio
from dataclasses import replace
from typing import Final

import structlog
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from openprogram.core.clock import iso_time
from openprogram.core.errors import BadFrame, LimitExceeded, OpenProgramError
from openprogram.core.ids import new_id
from openprogram.core.protocol import VERSION
from openprogram.core.protocol.actions import Action, Stop, Subscribe, Unsubscribe
from openprogram.core.protocol.frames import ErrorFrame, PingFrame, SubscribeAck
from openprogram.core.protocol.user_actions import Ping
from openprogram.server.auth import user_of
from openprogram.server.edge import Edge
from openprogram.server.lanes import Lanes
from openprogram.server.outbox import Outbox
from openprogram.server.ws_actions.base import Context
from openprogram.server.ws_actions.dispatch import error_frame, read, serve

MAX_SUBSCRIPTIONS: Final = 200
"""Chats that one socket may listen to."""

INTERNAL_ERROR: Final = 1011

_log: Final = structlog.get_logger(__name__)


class SocketEndpoint:
    """`/ws`: serves an upgrade request that was let in, until either side goes."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Supervise one connection: whatever fails in it closes this socket with 1011; the client comes back."""
        websocket, metrics = WebSocket(scope, receive, send), self._edge.metrics
        connection = Connection(websocket, send, self._edge)
        metrics.sockets += 1
        metrics.sockets_opened += 1
        try:
            await connection.run()
        except* WebSocketDisconnect:
            _log.debug("socket_lost")
        except* OpenProgramError as group:
            for error in group.exceptions:
                _log.error("socket_failed", error=str(error))
            await _give_up(websocket)
        except* Exception:
            _log.exception("socket_failed")
            await _give_up(websocket)
        finally:
            metrics.sockets -= 1
            connection.close()


async def _give_up(websocket: WebSocket) -> None:
    if websocket.application_state is WebSocketState.CONNECTED:
        await websocket.close(INTERNAL_ERROR, "the server failed; connect again")


class Connection:
    """A tab, while it is connected. Also the link by which its actions come."""

    def __init__(self, websocket: WebSocket, send: Send, edge: Edge) -> None:
        self._websocket = websocket
        self._send_message = send
        self._edge = edge
        self._user = user_of(websocket)
        self._outbox = Outbox()
        self._context = Context(user=self._user, link=self, service=edge.service, metrics=edge.metrics)
        self._heartbeat: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Say hello, then answer until the client goes. Raises an `ExceptionGroup` of what went wrong."""
        offered = self._websocket.scope.get("subprotocols", ())
        await self._websocket.accept(VERSION if VERSION in offered else None)
        self._outbox.answer(await self._edge.service.hello(self._user))
        self._schedule_heartbeat()
        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(self._outbox.write(self._send))
            await self._read(Lanes(tasks, self._serve, self._repeat))
            writer.cancel()
            self._outbox.end()  # what was sent before the client went is done all the same

    def close(self) -> None:
        """Let go of timers and subscriptions."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._outbox.close()

    async def subscribe(self, action: Subscribe) -> SubscribeAck:
        """Begin to send a chat's events after `after_seq` (null: all), or the user's hints."""
        key = action.session_id
        if key not in self._outbox.sources and len(self._outbox.sources) >= MAX_SUBSCRIPTIONS:
            raise LimitExceeded(
                f"this socket listens to {MAX_SUBSCRIPTIONS} chats already", hint="unsubscribe from some"
            )
        if key is None:
            self._outbox.attach(None, self._edge.fanout.hints(self._user.id, wake=self._outbox.wake))
            return SubscribeAck(id=action.id, session_id=None, seq=0)
        subscription, newest = await self._edge.fanout.subscribe(
            self._user.id, key, action.after_seq or 0, snapshot=action.snapshot, wake=self._outbox.wake
        )
        self._outbox.attach(key, subscription)
        return SubscribeAck(id=action.id, session_id=key, seq=newest)

    def unsubscribe(self, action: Unsubscribe) -> None:
        """Send no more of this chat."""
        self._outbox.detach(action.session_id)

    async def _read(self, lanes: Lanes) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is None:
                self._outbox.answer(error_frame(BadFrame("frames are text, not binary")))
            else:
                await self._take(read(self._context, text), lanes)
            await lanes.room()
            await self._outbox.thinned()

    async def _take(self, action: Action | ErrorFrame, lanes: Lanes) -> None:
        match action:
            case ErrorFrame():
                self._outbox.answer(action)
            case Ping() | Subscribe() | Unsubscribe():
                self._outbox.answer(await serve(self._context, action))
            case _:
                lanes.add(action)

    async def _serve(self, action: Action) -> None:
        if not isinstance(action, Stop):
            await self._outbox.room()
        self._outbox.answer(await serve(self._context, action))

    async def _repeat(self, action: Action) -> None:
        """Do again what was answered before."""
        reply = await serve(self._context, replace(action, id=new_id("c")))
        if isinstance(reply, ErrorFrame):
            self._outbox.answer(replace(reply, id=None))

    async def _send(self, text: str) -> None:
        self._edge.metrics.frames += 1
        try:
            await self._send_message({"type": "websocket.send", "text": text})
        except (OSError, RuntimeError) as error:
            # The client is gone; or the ASGI server has closed the socket (protocol violation, no pong).
            raise WebSocketDisconnect(1006) from error

    def _schedule_heartbeat(self) -> None:
        self._heartbeat = asyncio.get_running_loop().call_later(self._edge.heartbeat_s, self._beat)

    def _beat(self) -> None:
        if self._outbox.idle:  # a ping behind unsent answers would tell the client nothing new
            self._outbox.answer(PingFrame(at=iso_time(self._edge.clock())))
        self._outbox.check()
        self._schedule_heartbeat()
