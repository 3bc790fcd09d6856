"""A picture in a result: stored, there after a restart, and in what both APIs are sent."""

from base64 import b64decode
from itertools import pairwise
from pathlib import Path

from PIL import Image

from openprogram.agent.pictures import MAX_PICTURES
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ImageBlock
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.providers import anthropic_prompt, chat_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.hosts import Quirks
from openprogram.tools.builtin.image_view import image_view
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.script import call, say, use
from tests.support.sessions import opened


def shows(number: int) -> ToolSpec:
    """A tool that shows so many pictures at once."""

    async def act(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        return ToolOutput((ImageBlock("image/png", "eA==", 1, 1),) * number)

    return FakeTool("shows", act).spec


def registry() -> Registry:
    made = Registry()
    made.put("builtin", [image_view])
    return made


async def test_a_picture_is_kept_over_a_restart_and_sent_to_models_that_take_it(tmp_path: Path) -> None:
    path = str(tmp_path / "a.png")
    Image.new("RGB", (30, 20), "red").save(path)
    async with opened(tmp_path, call(use("image_view", path=path)), say("Red."), registry=registry()) as chats:
        session_id = await chats.said("what is in a.png?")
    async with opened(tmp_path, say("Still red."), registry=registry()) as chats:
        await chats.said("and now?", session_id)
        request = chats.provider.requests[-1]
    (result,) = [result for message in request.messages for result in message.results]
    note, picture = result.content
    assert note.text.endswith("a.png: PNG, 30 x 20 pixels")
    assert isinstance(picture, ImageBlock)
    assert b64decode(picture.data).startswith(b"\x89PNG")

    def sent(model: str) -> tuple[JsonObject, JsonObject]:
        facts = facts_of(model)
        return (
            anthropic_prompt.request_body(request, f"e/{model}", facts),
            chat_prompt.request_body(request, f"e/{model}", facts, Quirks()),
        )

    for body in sent("claude-opus-5"):
        assert str(body).count(picture.data) == 1
    for body in sent("deepseek-v4-pro"):
        assert picture.data not in str(body)
        assert "[a picture of 30 x 20 pixels] (not shown: this model takes no pictures)" in str(body)


async def test_a_long_chat_never_sends_more_pictures_than_a_request_carries(tmp_path: Path) -> None:  # law 4
    path = str(tmp_path / "a.png")
    Image.new("RGB", (30, 20), "red").save(path)
    looks = [use("image_view", path=path) for _ in range(4)]
    made = registry()
    made.put("many", [shows(MAX_PICTURES - 2)])
    scripts = (call(use("shows")), say("Many."), call(*looks), say("Enough."), say("Still here."))
    async with opened(tmp_path, *scripts, registry=made) as chats:
        session_id = await chats.said("look at them all")
        await chats.said("and at these", session_id)
        await chats.said("and now?", session_id)
        requests = chats.provider.requests
    told = [
        [part for message in request.messages for result in message.results for part in result.content]
        for request in requests
    ]
    assert [sum(isinstance(part, ImageBlock) for part in parts) for parts in told] == [0, 88, 88, 90, 90]
    for earlier, later in pairwise(told):
        assert later[: len(earlier)] == earlier
    assert sum("Not shown: this chat holds 90 pictures" in part.text for part in told[-1]) == 2
