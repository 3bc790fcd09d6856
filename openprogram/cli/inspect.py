"""`openprogram cache`, `export` and `replay`: what was sent and what it cost, from the database, without a server."""

import argparse
import asyncio
import io
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Final

from openprogram.app.compose import DATABASE
from openprogram.app.settings import Flags, Settings, load_settings
from openprogram.cli.options import NEWEST
from openprogram.cli.report import chat_lines, dollars, printable, tokens, tool_lines
from openprogram.cli.serve import FAILED, complain
from openprogram.core.errors import BadField, ConfigError, NoEndpoint, OpenProgramError, UnknownSession
from openprogram.core.events import SessionInfo
from openprogram.core.jsonio import canonical, encode
from openprogram.core.prompt import Completed, Failed
from openprogram.core.usage import Usage
from openprogram.providers.config import EndpointConfig
from openprogram.providers.factory import adapter
from openprogram.server.auth import OWNER
from openprogram.sessions.inspect import Exported, cache_of, exported
from openprogram.sessions.tool_misses import tool_misses
from openprogram.store.sqlite import SqliteStore

_SHOWN: Final = 10


def run(options: argparse.Namespace) -> int:
    """Do one of the commands; returns the exit status."""
    _use_any_terminal(machine=options.command == "export" or bool(getattr(options, "json", False)))
    try:
        return asyncio.run(_run(options))
    except OpenProgramError as error:
        return complain(error)
    except BrokenPipeError:  # `| head` has seen enough
        sys.stderr.close()
        return FAILED


def _use_any_terminal(*, machine: bool) -> None:
    """JSON is UTF-8 whatever the locale says; for people, what their terminal cannot show is a question mark."""
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if machine:
        sys.stdout.reconfigure(encoding="utf-8")
    else:
        sys.stdout.reconfigure(errors="replace")


async def _run(options: argparse.Namespace) -> int:
    settings = load_settings(Flags(home=options.home), os.environ)
    async with _opened(settings) as store:
        if options.command == "cache" and options.all:
            return await _all(store, options.json)
        info = await _chat(store, options.session)
        match options.command:
            case "cache":
                return await _cache(store, info, options.json)
            case "export":
                found = await exported(store, info.id, options.step, settings.secrets)
                print(canonical(found.body).decode())
                return 0
            case _:
                found = await exported(store, info.id, options.step)
                return await _replay(found, _endpoint(settings, found, options), options.json)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[SqliteStore]:
    path = settings.home / DATABASE
    if not path.is_file():
        raise ConfigError(
            f"there are no chats in {settings.home}", field="home", hint="name the server's data directory with --home"
        )
    store = await SqliteStore.open(path)
    try:
        yield store
    finally:
        await store.aclose()


async def _chat(store: SqliteStore, wanted: str) -> SessionInfo:
    newest = await store.sessions(OWNER.id, limit=_SHOWN)
    if wanted == NEWEST and newest:
        return newest[0]
    row = await store.session(wanted)
    if row is None:
        known = "".join(f"\n  {info.id}  {printable(info.title)}" for info in newest)
        raise UnknownSession(f"there is no chat {wanted!r}", hint=f"The newest chats:{known}" if newest else None)
    return row.info


async def _cache(store: SqliteStore, info: SessionInfo, as_json: bool) -> int:
    view = await cache_of(store, info.id, time.time())
    if as_json:
        print(encode({"session_id": info.id, "title": info.title, **_fields(view)}).decode())
    else:
        _print(chat_lines(f"{info.title or '(no title)'}  {info.id}", view.steps, view.totals, view.cache))
    return 0


async def _all(store: SqliteStore, as_json: bool) -> int:
    chats, tools = await tool_misses(store, OWNER.id)
    if as_json:
        print(encode({"chats": chats, "tools": tools}).decode())
    else:
        _print(tool_lines(chats, tools))
    return 0


async def _replay(found: Exported, endpoint: EndpointConfig, as_json: bool) -> int:
    provider = adapter(endpoint)
    ended: Completed | Failed | None = None
    try:
        async with aclosing(provider.replay(found.body)) as events:
            async for event in events:
                ended = event if isinstance(event, Completed | Failed) else ended
    finally:
        await provider.aclose()
    if isinstance(ended, Failed) or ended is None:
        message = ended.failure.message if ended else "the endpoint did not answer"
        raise NoEndpoint(message, field="base_url")
    price = endpoint.info(str(found.body.get("model", ""))).price
    cost = price.cost(ended.usage) if price else None
    if as_json:
        print(encode({"usage": ended.usage, "cost": cost, "stop_reason": ended.stop_reason}).decode())
    else:
        _print([*_usage_lines(ended.usage), f"cost      {dollars(cost)}"])
    return 0


def _endpoint(settings: Settings, found: Exported, options: argparse.Namespace) -> EndpointConfig:
    """Where to send it. Raises `BadField` where no endpoint has that name or it speaks another API."""
    name = options.endpoint or found.record.model.partition("/")[0]
    configured = next((each for each in settings.endpoints if each.name == name), None)
    if options.base_url is not None:
        return EndpointConfig("replay", found.record.api, options.base_url.rstrip("/"), "replay")
    if configured is None:
        names = ", ".join(each.name for each in settings.endpoints) or "none"
        raise BadField(f"there is no endpoint {name!r}", field="endpoint", hint=f"configured: {names}; or --base-url")
    if configured.api != found.record.api:
        raise BadField(f"{name} does not speak {found.record.api}, in which the request was made", field="endpoint")
    return configured


def _usage_lines(usage: Usage) -> list[str]:
    written = (usage.cache_write_5m, usage.cache_write_1h)
    known = [count for count in written if count is not None]
    return [
        f"uncached  {tokens(usage.uncached)}",
        f"read      {tokens(usage.cache_read)}",
        f"written   {tokens(sum(known) if known else None)}",
        f"output    {tokens(usage.output)}",
    ]


def _fields(view: object) -> dict[str, object]:
    return {name: getattr(view, name) for name in ("steps", "totals", "cache")}


def _print(lines: Sequence[str]) -> None:
    print("\n".join(map(printable, lines)))
