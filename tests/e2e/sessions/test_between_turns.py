"""Between two turns of a run its end is told, and it looks for what waits: an action of that moment is not refused."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.errors import Busy
from openprogram.core.events import Event, TurnFinished
from openprogram.core.storage import StoredEvent
from tests.support.script import Gate, say
from tests.support.sessions import Chats, opened


async def _users(chats: Chats, session_id: str) -> list[str]:
    return [message.text for message in await chats.branch(session_id) if message.role == "user"]


@pytest.mark.parametrize("waiting", [False, True], ids=["nothing waits", "a message waits"])
async def test_an_action_as_soon_as_the_end_of_a_turn_is_seen_waits_for_what_comes_next(
    tmp_path: Path, waiting: bool
) -> None:
    """The end is stored, and its run has not looked for another message yet: nobody is told that a turn runs."""  # P8
    gate, ended, looking, next_turn = Gate(), Gate(), Gate(), Gate()

    async def hold_the_end(session_id: str, events: Sequence[Event], *writes: Any) -> tuple[StoredEvent, ...]:
        stored = await commit(session_id, events, *writes)
        if any(isinstance(event, TurnFinished) for event in events):
            await ended.wait()
        return stored

    async def hold_the_edit() -> None:
        task = asyncio.current_task()
        if task is not None and task.get_name() == "action edit_message":
            await looking.wait()

    async with opened(tmp_path, (gate, *say("One.")), (next_turn, *say("Two."))) as chats:
        sent = await chats.say("one?")
        session_id = sent.session_id
        await gate.reached()
        if waiting:
            await chats.say("two?", session_id)
        commit, chats.store.commit = chats.store.commit, hold_the_end  # type: ignore[method-assign, assignment]
        chats.store.before_row = hold_the_edit
        gate.open()
        await ended.reached()
        fields = {"session_id": session_id, "message_id": sent.message_id, "text": "two?"}
        editing = asyncio.create_task(chats.do("edit_message", **fields))
        await looking.reached()
        renaming = asyncio.create_task(chats.do("rename_session", session_id=session_id, title="behind the edit"))
        looking.open()
        await renaming
        assert not editing.done()
        ended.open()
        if waiting:
            with pytest.raises(Busy):
                await editing
        else:
            await editing
        next_turn.open()
        await chats.until(session_id, TurnFinished, 2)
        assert await _users(chats, session_id) == (["one?", "two?"] if waiting else ["two?"])
