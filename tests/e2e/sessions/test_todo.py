"""The to-do list lives in the history: after a restart the model has it, and each branch has its own."""

from pathlib import Path

from openprogram.core.jsonio import JsonValue
from openprogram.tools.builtin.todo import Task, current_list, todo
from openprogram.tools.registry import Registry
from tests.support.script import call, say, use
from tests.support.sessions import opened

ONE: JsonValue = [{"task": "one", "status": "in_progress"}]
TWO: JsonValue = [{"task": "one", "status": "done"}, {"task": "two", "status": "in_progress"}]


def registry() -> Registry:
    made = Registry()
    made.put("builtin", [todo])
    return made


async def test_the_list_is_there_after_a_restart_and_follows_the_branch(tmp_path: Path) -> None:
    scripts = (call(use("todo", "c_1", tasks=ONE)), say("."), call(use("todo", "c_2", tasks=TWO)), say("."))
    async with opened(tmp_path, *scripts, registry=registry()) as chats:
        session_id = await chats.said("begin")
        await chats.said("go on", session_id)
    async with opened(tmp_path, say("."), say("."), registry=registry()) as chats:
        await chats.said("where are we?", session_id)
        request = chats.provider.requests[-1]
        assert current_list(request.messages) == (Task("one", "done"), Task("two", "in_progress"))
        shown = [part.text for message in request.messages for result in message.results for part in result.content]
        assert shown[-1] == "[x] one\n[>] two\n1 of 2 done."
        second = [message for message in request.messages if message.role == "user"][1]
        await chats.do("edit_message", session_id=session_id, message_id=second.id, text="go elsewhere")
        await chats.rest(session_id)
        assert current_list(chats.provider.requests[-1].messages) == (Task("one", "in_progress"),)
