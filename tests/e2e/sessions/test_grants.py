"""What is allowed "for this chat" holds in the directory that it was asked in, and in no other (spec trust.md R17)."""

from pathlib import Path
from typing import Any

import pytest

from openprogram.core.asking import ApprovalRequested
from openprogram.core.events import TurnFinished
from openprogram.core.storage import Grant
from tests.support.agent import FakeTool
from tests.support.script import Gate, call, say, use
from tests.support.sessions import Chats, opened


def _bash() -> FakeTool:
    return FakeTool("bash", permission="execute", readonly=False)


def _run() -> Any:
    return call(use("bash", command="make clean"))


async def _answer(chats: Chats, asked: ApprovalRequested, session_id: str, decision: str) -> None:
    await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision=decision)


async def _move(chats: Chats, session_id: str, folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(exist_ok=True)
    workspace = None if folder is None else str(folder)
    await chats.do("set_workspace", session_id=session_id, workspace=workspace)


async def _allowed_at(chats: Chats, folder: Path) -> str:
    """A chat in this directory whose first turn ran one command that is allowed for the chat."""
    session_id = await chats.draft()
    await _move(chats, session_id, folder)
    await chats.say("clean up", session_id)
    await _answer(chats, await chats.asked(session_id), session_id, "session")
    await chats.until(session_id, TurnFinished)
    await chats.rest(session_id)
    assert await chats.store.grants(session_id) == (Grant("bash", "make clean", str(folder)),)
    return session_id


@pytest.mark.parametrize("target", ["there", None])
async def test_what_was_allowed_for_a_chat_asks_again_in_another_directory(tmp_path: Path, target: str | None) -> None:
    scripts = (_run(), say("Done."), _run(), say("Well."))
    bash = _bash()
    async with opened(tmp_path, *scripts, tools=[bash], mode="ask") as chats:
        session_id = await _allowed_at(chats, tmp_path / "here")
        await _move(chats, session_id, tmp_path / target if target else None)
        assert await chats.store.grants(session_id) == ()
        await chats.say("and here", session_id)
        asked = await chats.asked(session_id, 2)
        assert asked.directory == (str(tmp_path / target) if target else "/tmp")
        await _answer(chats, asked, session_id, "deny")
        await chats.until(session_id, TurnFinished, 2)
        assert len(bash.calls) == 1


async def test_moving_there_and_back_brings_no_grant_back(tmp_path: Path) -> None:
    scripts = (_run(), say("Done."), _run(), say("Well."))
    async with opened(tmp_path, *scripts, tools=[_bash()], mode="ask") as chats:
        session_id = await _allowed_at(chats, tmp_path / "here")
        await _move(chats, session_id, tmp_path / "there")
        await _move(chats, session_id, tmp_path / "here")
        await chats.say("again", session_id)
        await _answer(chats, await chats.asked(session_id, 2), session_id, "deny")
        await chats.until(session_id, TurnFinished, 2)


async def test_choosing_the_directory_that_the_chat_has_keeps_what_was_allowed(tmp_path: Path) -> None:
    bash = _bash()
    async with opened(tmp_path, _run(), say("Done."), _run(), say("Done."), tools=[bash], mode="ask") as chats:
        session_id = await _allowed_at(chats, tmp_path / "here")
        await _move(chats, session_id, tmp_path / "here" / ".." / "here")
        await chats.said("again", session_id)
        assert len(bash.calls) == 2


async def test_a_running_turn_keeps_no_grant_of_a_directory_that_the_chat_left(tmp_path: Path) -> None:  # T21
    gate = Gate()
    bash = _bash()
    scripts = (_run(), (gate, *_run()), _run(), say("Well."))
    async with opened(tmp_path, *scripts, tools=[bash], mode="ask") as chats:
        session_id = await chats.draft()
        await _move(chats, session_id, tmp_path / "here")
        await chats.say("clean up", session_id)
        await _answer(chats, await chats.asked(session_id), session_id, "session")
        await gate.reached()
        await _move(chats, session_id, tmp_path / "there")
        gate.open()
        # The turn is still in the directory that it began in, which is not the chat's any more: once is all there is.
        await _answer(chats, await chats.asked(session_id, 2), session_id, "session")
        assert await chats.store.grants(session_id) == ()
        await _answer(chats, await chats.asked(session_id, 3), session_id, "deny")
        await chats.until(session_id, TurnFinished)
        assert len(bash.calls) == 2


async def test_a_grant_survives_a_restart_in_its_directory_only(tmp_path: Path) -> None:
    async with opened(tmp_path, _run(), say("Done."), tools=[_bash()], mode="ask") as chats:
        session_id = await _allowed_at(chats, tmp_path / "here")
    bash = _bash()
    async with opened(tmp_path, _run(), say("Done."), _run(), say("Well."), tools=[bash], mode="ask") as chats:
        await chats.said("again", session_id)
        assert len(bash.calls) == 1
        await _move(chats, session_id, tmp_path / "there")
        await chats.say("and here", session_id)
        await _answer(chats, await chats.asked(session_id, 2), session_id, "deny")
        await chats.until(session_id, TurnFinished, 3)
        assert len(bash.calls) == 1
