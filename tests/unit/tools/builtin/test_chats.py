"""`list_sessions` and `send_message`: what the model is told, what a person is shown before a message goes out."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from openprogram.core.chats import ChatSummary, Delivery
from openprogram.core.errors import ToolFailure
from openprogram.core.events import PermissionMode
from openprogram.core.tooling import ToolContext
from openprogram.permissions.decide import decide
from openprogram.tools.builtin.chats import MOST, list_sessions, send_message
from tests.support.tool_calls import text_of


@dataclass
class Others:
    """A user with one other chat."""

    limits: list[int] = field(default_factory=list)
    sent: list[tuple[str, str, str]] = field(default_factory=list)
    queued: bool = False

    async def others(self, limit: int) -> tuple[ChatSummary, ...]:
        self.limits.append(limit)
        return (ChatSummary("s_2", "Plans", "waiting", "2026-01-01T12:00:00.000Z"),)

    async def title_of(self, session_id: str) -> str:
        if session_id != "s_2":
            raise ToolFailure("no such chat")
        return "Plans"

    async def send(self, session_id: str, text: str, call_id: str) -> Delivery:
        self.sent.append((session_id, text, call_id))
        return Delivery(await self.title_of(session_id), self.queued)


def _context(tmp_path: Path, chats: Others | None) -> ToolContext:
    return ToolContext("s_1", "t_1", "c_1", tmp_path, lambda _text: None, chats=chats)


async def test_the_list_says_id_status_time_and_title(tmp_path: Path) -> None:
    others = Others()
    output = await list_sessions.execute({"limit": 1000}, _context(tmp_path, others))
    assert text_of(output) == "s_2 waiting, last active 2026-01-01T12:00: Plans"
    await list_sessions.execute({"limit": -3}, _context(tmp_path, others))
    assert others.limits == [MOST, 1]


@pytest.mark.parametrize("queued", [False, True])
async def test_what_became_of_a_message_is_told(tmp_path: Path, queued: bool) -> None:
    others = Others(queued=queued)
    output = await send_message.execute({"session_id": "s_2", "text": "hello"}, _context(tmp_path, others))
    assert others.sent == [("s_2", "hello", "c_1")]
    assert ("waits for the turn" in text_of(output)) is queued
    assert output.display == {"session_id": "s_2", "title": "Plans", "queued": queued}


async def test_a_person_is_shown_the_chat_and_the_exact_words_and_asked(tmp_path: Path) -> None:  # R17
    arguments = {"session_id": "s_2", "text": "rm -rf build,\nplease"}
    assert send_message.preview is not None
    shown = await send_message.preview(dict(arguments), _context(tmp_path, Others()))
    assert (shown.kind, shown.text) == ("call", "To: Plans (s_2)\n\nrm -rf build,\nplease")
    modes: tuple[PermissionMode, ...] = ("ask", "accept_edits")
    for mode in modes:
        decision = decide(mode, (), send_message, dict(arguments), (tmp_path,))
        assert (decision.outcome, decision.reason) == ("ask", "starts work in another chat")
    with pytest.raises(ToolFailure):
        await send_message.preview({"session_id": "s_9", "text": "x"}, _context(tmp_path, Others()))


@pytest.mark.parametrize("text", [" \n", "x" * 20_001])
async def test_nothing_and_too_much_are_not_sent(tmp_path: Path, text: str) -> None:
    others = Others()
    with pytest.raises(ToolFailure, match="between one and"):
        await send_message.execute({"session_id": "s_2", "text": text}, _context(tmp_path, others))
    assert others.sent == []


async def test_where_no_other_chat_is_in_reach_it_says_so(tmp_path: Path) -> None:
    for spec, arguments in ((list_sessions, {}), (send_message, {"session_id": "s_2", "text": "x"})):
        with pytest.raises(ToolFailure, match="cannot be reached"):
            await spec.execute(dict(arguments), _context(tmp_path, None))
