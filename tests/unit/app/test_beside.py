"""Work beside the server: it never fails silently, and it ends with the server."""

import asyncio

from structlog.testing import capture_logs

from openprogram.app.beside import beside


async def test_work_that_fails_is_logged_and_begins_again() -> None:  # law 10
    done, attempts = asyncio.Event(), 0

    async def work() -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise LookupError("no such thing")
        done.set()

    with capture_logs() as logs:
        async with beside(work, "looking", again_s=0):
            await done.wait()
    assert [(line["event"], line["work"]) for line in logs] == [("background_work_failed", "looking")]


async def test_work_that_is_done_once_is_not_begun_again() -> None:
    begun, attempts = asyncio.Event(), 0

    async def work() -> None:
        nonlocal attempts
        attempts += 1
        begun.set()
        raise LookupError("no such thing")

    with capture_logs() as logs:
        async with beside(work, "looking", again_s=None):
            await begun.wait()
    assert (attempts, len(logs)) == (1, 1)


async def test_work_ends_with_the_block() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with beside(work, "waiting"):
        await begun.wait()
    assert ended.is_set()
