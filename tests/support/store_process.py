"""Programs that use a database in a process of their own: `python -m tests.support.store_process WHAT PATH [...]`.

Each prints JSON lines, at once.
"""

import asyncio
import json
import logging
import os
import resource
import sys
from pathlib import Path

import structlog

from openprogram.core.errors import Conflict, StorageError
from openprogram.core.intent import ToolIntent
from openprogram.core.storage import PutIntent, PutMessage, SetLeaf
from openprogram.store.sqlite import SqliteStore
from tests.support.store_values import delta, info, message, new_chat

NOBODY = 65534
SHARED = "s_shared"
ROUNDS = 40
SWITCHES = 5
LARGE = "x" * 20_000


def say(**values: object) -> None:
    """One line for the parent."""
    print(json.dumps(values), flush=True)


async def stream(path: Path) -> None:
    """Commit without end from three chats, and tell of each commit once it is acknowledged."""
    store = await SqliteStore.open(path)

    async def chat(session_id: str) -> None:
        await store.commit(session_id, [], [new_chat(session_id)])
        number = 0
        while True:
            number += 1
            text = f"{session_id} {number}"
            events = await store.commit(session_id, [delta(text)])
            say(session_id=session_id, seq=events[0].seq, text=text)
            if number % 5 == 0:
                written = message(f"m_{session_id}_{number}")
                switched = PutIntent(ToolIntent(toolset=text), number // 5 - 1)
                await store.commit(session_id, [], [PutMessage(written), SetLeaf(written.id), switched])
                say(session_id=session_id, message_id=written.id, revision=number // 5, toolset=text)

    async with asyncio.TaskGroup() as group:
        for session_id in ("s_1", "s_2", "s_3"):
            group.create_task(chat(session_id))


async def share(path: Path, name: str) -> None:
    """Write to a chat of one's own and to one that all processes share, and switch the shared intent."""
    store = await SqliteStore.open(path)
    mine = f"s_{name}"
    await store.commit(mine, [], [new_chat(mine)])
    await store.commit(SHARED, [], [new_chat(SHARED)])
    for number in range(ROUNDS):
        await asyncio.gather(
            store.commit(mine, [delta(f"{name} {number}")]), store.commit(SHARED, [delta(f"{name} {number}")])
        )
    switched = 0
    while switched < SWITCHES:
        revision = (await store.intent(SHARED)).revision
        try:
            await store.commit(SHARED, [], [PutIntent(ToolIntent(toolset=name), revision)])
        except Conflict:
            continue
        switched += 1
    await store.aclose()
    say(done=name)


async def fill(path: Path) -> None:
    """Commit until the system lets the files grow no further, then again when it does."""
    store = await SqliteStore.open(path)
    await store.commit("s_1", [], [new_chat()])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))
    stored = 0
    try:
        while True:
            await store.commit("s_1", [delta(LARGE)])
            stored += 1
    except StorageError as error:
        seen = len(await store.events("s_1", 0, limit=10_000))
        say(stored=stored, seen=seen, error=error.message, hint=error.hint)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    (again,) = await store.commit("s_1", [delta(LARGE)])
    await store.aclose()
    say(seq=again.seq)


async def attempt(path: Path) -> None:
    """Open and write, without any special rights, and tell what became of it."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        store = await SqliteStore.open(path)
        await store.commit("s_1", [delta()], [new_chat()])
        say(row=(await store.session("s_1")) is not None, title=info().title)
        await store.aclose()
    except StorageError as error:
        say(error=error.message, hint=error.hint, kind=type(error).__name__)


async def forget(path: Path) -> None:
    """Commit, then die of something else without closing the store."""
    store = await SqliteStore.open(path)
    (event,) = await store.commit("s_1", [delta()], [new_chat()])
    say(seq=event.seq)
    raise SystemError("forgot to close")


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    what, path, *more = sys.argv[1:]
    match what:
        case "share":
            asyncio.run(share(Path(path), *more))
        case "stream":
            asyncio.run(stream(Path(path)))
        case "fill":
            asyncio.run(fill(Path(path)))
        case "forget":
            asyncio.run(forget(Path(path)))
        case "attempt":
            asyncio.run(attempt(Path(path)))
        case _:
            sys.exit(f"there is no program {what}")


if __name__ == "__main__":
    main()
