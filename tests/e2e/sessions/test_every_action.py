"""Laws that hold for every action of the protocol; a new action without its line here fails."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from openprogram.core.asking import Question, QuestionAsked
from openprogram.core.errors import IdConflict, OpenProgramError, UnknownSession
from openprogram.core.events import TurnFinished
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.sessions.service import HANDLERS
from tests.support.agent import FakeTool
from tests.support.script import call, failed, say, use
from tests.support.sessions import Chats, opened


class Place:
    """A chat with an answered message, one with a question, and what the actions below refer to."""

    def __init__(self, chats: Chats) -> None:
        self.chats = chats
        self.session_id = ""
        self.message_id = ""
        self.turn_id = "t_none"
        self.waiting_id = ""
        self.approval_id = ""
        self.asking_id = ""
        self.question_id = ""
        self.queued_id = ""

    async def furnish(self) -> None:
        sent = await self.chats.say("hi")
        self.session_id, self.message_id = sent.session_id, sent.message_id
        self.turn_id = (await self.chats.until(self.session_id, TurnFinished)).turn_id
        await self.chats.rest(self.session_id)
        self.waiting_id = (await self.chats.say("run")).session_id
        self.approval_id = (await self.chats.asked(self.waiting_id)).approval_id
        self.asking_id = (await self.chats.say("ask")).session_id
        self.question_id = (await self.chats.until(self.asking_id, QuestionAsked)).question_id
        self.queued_id = (await self.chats.say("later", self.waiting_id)).message_id


Fields = Callable[[Place], dict[str, Any]]

ON_A_CHAT: dict[str, Fields] = {
    "chat": lambda at: {"session_id": at.session_id, "text": "hello"},
    "stop": lambda at: {"session_id": at.waiting_id},
    "continue_turn": lambda at: {"session_id": at.session_id},
    "compact": lambda at: {"session_id": at.session_id},
    "edit_message": lambda at: {"session_id": at.session_id, "message_id": at.message_id, "text": "hey"},
    "regenerate": lambda at: {"session_id": at.session_id, "message_id": at.message_id},
    "select_branch": lambda at: {"session_id": at.session_id, "message_id": at.message_id},
    "edit_queue": lambda at: {"session_id": at.waiting_id, "queued_id": at.queued_id, "text": "sooner"},
    "set_tools_profile": lambda at: {"session_id": at.session_id, "toolset": "safe"},
    "toggle_web_search": lambda at: {"session_id": at.session_id, "value": True},
    "set_tools_enabled": lambda at: {"session_id": at.session_id, "value": False},
    "set_tool_disabled": lambda at: {"session_id": at.session_id, "name": "bash", "value": True},
    "pick_tools": lambda at: {"session_id": at.session_id, "tools": ["bash"]},
    "explain_tools": lambda at: {"session_id": at.session_id},
    "inspect_cache": lambda at: {"session_id": at.session_id},
    "inspect_step": lambda at: {"session_id": at.session_id, "turn_id": at.turn_id, "step": 1},
    "preview_toggle": lambda at: {"session_id": at.session_id, "toggle": "toggle_web_search", "value": True},
    "preview_send": lambda at: {"session_id": at.session_id},
    "preview_models": lambda at: {"session_id": at.session_id},
    "force_rebase": lambda at: {"session_id": at.session_id},
    "rename_session": lambda at: {"session_id": at.session_id, "title": "Another"},
    "pin_session": lambda at: {"session_id": at.session_id, "value": True},
    "delete_session": lambda at: {"session_id": at.session_id},
    "restore_session": lambda at: {"session_id": at.session_id},
    "load_messages": lambda at: {"session_id": at.session_id},
    "set_model": lambda at: {"session_id": at.session_id, "model": "fake/model"},
    "set_workspace": lambda at: {"session_id": at.session_id, "workspace": "/"},
    "set_permission_mode": lambda at: {"session_id": at.session_id, "mode": "auto"},
    "answer_approval": lambda at: {"session_id": at.waiting_id, "approval_id": at.approval_id, "decision": "deny"},
    "answer_question": lambda at: {"session_id": at.asking_id, "question_id": at.question_id, "text": "the left one"},
}
OF_A_USER: dict[str, Fields] = {
    "create_session": lambda _: {"title": "Mine"},
    "list_sessions": lambda _: {},
    "get_settings": lambda _: {},
    "save_preset": lambda _: {"name": "mine", "entries": ["@readonly"]},
    "delete_preset": lambda _: {"name": "yours"},
    "usage": lambda _: {},
    "list_models": lambda _: {},
    "set_setting": lambda _: {"key": "permission_mode", "value": "auto"},
}
EVERY = {**ON_A_CHAT, **OF_A_USER}
READS = {
    *("explain_tools", "load_messages", "list_sessions", "get_settings", "list_models"),
    *("inspect_cache", "inspect_step", "preview_toggle", "usage", "preview_send", "preview_models"),
}


async def _place(chats: Chats, action: str) -> Place:
    broken = failed("overloaded") if action == "continue_turn" else None
    chats.provider.scripts += [
        (broken,) if broken else say("Hello."),
        call(use("bash", command="ls")),
        call(use("ask_user")),
        *[say("Yes.") for _ in range(4)],
    ]
    place = Place(chats)
    await place.furnish()
    await chats.do("save_preset", name="yours")
    return place


def _tools() -> list[FakeTool]:
    return [FakeTool("bash", permission="execute", readonly=False), FakeTool("ask_user", _ask)]


async def _ask(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
    assert context.person is not None
    return ToolOutput.text(str(await context.person(Question("Which one?"), context.call_id, context.turn_id)))


def test_every_action_has_its_line_here() -> None:
    served = {get_args(get_type_hints(kind)["action"])[0] for kind in HANDLERS}
    assert served == set(EVERY)


@pytest.mark.parametrize("action", ON_A_CHAT)
async def test_every_action_on_someone_elses_chat_is_refused_without_a_trace(tmp_path: Path, action: str) -> None:
    async with opened(tmp_path, tools=_tools(), mode="ask") as chats:  # P12, R12
        place = await _place(chats, action)
        before = [await chats.log(one) for one in (place.session_id, place.waiting_id, place.asking_id)]
        with pytest.raises(UnknownSession):
            await chats.do(action, user="u_bob", **ON_A_CHAT[action](place))
        assert [await chats.log(one) for one in (place.session_id, place.waiting_id, place.asking_id)] == before


@pytest.mark.parametrize("action", [action for action in EVERY if action not in READS])
async def test_every_change_has_one_effect_and_equal_acks_however_often_it_is_sent(tmp_path: Path, action: str) -> None:
    async with opened(tmp_path, tools=_tools(), mode="ask") as chats:  # P5
        place = await _place(chats, action)
        fields = EVERY[action](place)
        first = await chats.do(action, id="twin", **fields)
        if action in ("chat", "edit_message", "regenerate", "continue_turn"):
            await chats.until(place.session_id, TurnFinished, 2)
            await chats.rest(place.session_id)
        if action in ("stop", "answer_approval", "answer_question"):
            await chats.rest(place.asking_id if action == "answer_question" else place.waiting_id)
        before = [await chats.log(one) for one in (place.session_id, place.waiting_id, place.asking_id)]
        assert await chats.do(action, id="twin", **fields) == first
        assert [await chats.log(one) for one in (place.session_id, place.waiting_id, place.asking_id)] == before
        with pytest.raises(IdConflict):
            await chats.do("create_session", id="twin", title="something else")
    async with opened(tmp_path, tools=_tools(), mode="ask") as chats:
        assert await chats.do(action, id="twin", **fields) == first


@pytest.mark.parametrize("action", ON_A_CHAT)
async def test_every_action_on_a_chat_that_is_not_there_says_so(tmp_path: Path, action: str) -> None:  # P12
    async with opened(tmp_path, tools=_tools(), mode="ask") as chats:
        place = Place(chats)
        place.session_id = place.waiting_id = place.asking_id = "s_none"
        place.message_id = place.approval_id = place.question_id = place.queued_id = "x_none"
        with pytest.raises(OpenProgramError) as caught:
            await chats.do(action, **ON_A_CHAT[action](place))
        assert caught.value.code == "unknown_session"
