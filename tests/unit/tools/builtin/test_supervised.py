"""A command under its reaper, seen from the server."""

import asyncio
import sys
from pathlib import Path

from openprogram.tools.builtin.supervised import CommandEnd, CommandLine, Supervised


def line(tmp_path: Path, code: str) -> CommandLine:
    return CommandLine((sys.executable, "-c", code), tmp_path, {}, tmp_path / "log", 1000)


async def test_its_end_may_be_asked_for_again(tmp_path: Path) -> None:
    running = await Supervised.start(line(tmp_path, "raise SystemExit(3)"))
    assert await running.wait() == CommandEnd(3)
    assert await running.wait() == CommandEnd(3)
    await running.end()


async def test_a_wait_that_was_cancelled_takes_nothing_of_the_report(tmp_path: Path) -> None:
    running = await Supervised.start(line(tmp_path, "import time; time.sleep(1000)"))
    waiting = asyncio.create_task(running.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    running.let_go()
    assert (await running.wait()).code < 0
