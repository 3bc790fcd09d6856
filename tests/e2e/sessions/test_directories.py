"""A chat that moves to another directory keeps its cached prompt: the newest message tells (spec cache.md C11, C12)."""

from pathlib import Path

from openprogram.providers.segments import segments
from tests.support.agent import FakeTool
from tests.support.script import say
from tests.support.sessions import opened


async def test_a_moved_chat_extends_its_prompt_and_tells_the_directory_once(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    scripts = [say("One."), say("Two."), say("Three.")]
    async with opened(tmp_path, *scripts, tools=[FakeTool("read")]) as chats:
        session_id = await chats.said("hello")
        await chats.do("set_workspace", session_id=session_id, workspace=str(there))
        await chats.said("and here?", session_id)
        await chats.said("still here?", session_id)
        first, second, third = chats.provider.requests
        notices = [message.text for message in await chats.branch(session_id) if message.role == "notice"]
    assert str(there) not in "".join(first.system)
    assert (second.system, second.tools) == (first.system, first.tools)
    for before, after in ((first, second), (second, third)):
        old = segments(before)
        assert segments(after)[: len(old)] == old
    assert [line for text in notices for line in text.splitlines() if line.startswith("Working directory: ")] == [
        "Working directory: /tmp",
        f"Working directory: {there}",
    ]
