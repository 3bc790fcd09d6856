"""A stage for `kill -9`: chats in every state that a turn can be in, one kill under all of them, then the next process.

    async with crash("openai", directory) as after:
        state = after["mid_text"].state        # what a reload shows
        log = after["mid_text"].log            # all its events
        await after.next_message("mid_text")   # a tab goes on with it

Each scene is a function that brings one chat of one server into its state and returns what a test has to know.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.support.conversation import Chat, Sent, call_block, log_of, sent, stored_log, text_block, texts
from tests.support.fake import FakeApi, fake_api
from tests.support.server import Server, running_server
from tests.support.ws import WAIT_S, Client, Frame


@dataclass(slots=True)
class Stage:
    """Where a scene plays: a tab, the fake API, a directory for what commands write, and the chats' own directory."""

    client: Client
    fake: FakeApi
    wire: str
    directory: Path
    workspace: Path

    async def chat(self, *, mode: str | None = None) -> Chat:
        """A new chat."""
        return await Chat.create(self.client, self.wire, mode=mode)

    async def script(self, said: str, *blocks: dict[str, Any], **options: Any) -> None:
        """What the model answers to the message that says so."""
        await self.fake.script({"blocks": list(blocks), "match": {"text": said}, **options})

    def mark(self, name: str) -> Path:
        """A file for a command to write to."""
        return self.directory / name


@dataclass(slots=True)
class Scene:
    """A chat as it was when the server died: every frame that its tab had, and what the scene noted."""

    chat_id: str
    facts: dict[str, Any]
    shown: list[Frame]
    state: Frame = field(default_factory=dict)
    log: list[Frame] = field(default_factory=list)

    def events(self, kind: str) -> list[Frame]:
        """The events of that type in the log after the restart."""
        return [frame["event"] for frame in self.log if frame["event"]["type"] == kind]

    @property
    def ending(self) -> str | None:
        """How the newest turn ended."""
        ends = self.events("turn_finished")
        return str(ends[-1]["reason"]) if ends else None


class After:
    """The next process, and the scenes as it shows them."""

    def __init__(self, server: Server, fake: FakeApi, wire: str, scenes: Mapping[str, Scene]) -> None:
        self.server = server
        self.fake = fake
        self.wire = wire
        self._scenes = scenes

    def __getitem__(self, name: str) -> Scene:
        return self._scenes[name]

    async def next_message(self, name: str) -> Sent:
        """Send one more message in a scene's chat and have it answered; returns the request that carried it."""
        scene, said = self._scenes[name], f"are you still there, number {list(self._scenes).index(name)}?"
        await self.fake.say("Here I am again.", match={"text": said})
        async with self.server.client() as client:
            chat = Chat(client, scene.chat_id)
            await client.subscribe(scene.chat_id, snapshot=True)
            finished = await chat.turn(said)
            assert finished["reason"] == "done", finished
            assert texts((await chat.messages())[-1]) == "Here I am again."
            assert (await chat.snapshot())["status"] == "idle"
        return await self.request(said)

    async def request(self, said: str) -> Sent:
        """The newest request with these words in it."""
        return next(request for request in reversed(await sent(self.fake)) if said in request.text)


Play = Callable[[Stage], Awaitable[tuple[Chat, dict[str, Any]]]]


async def first_token(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """The request is out, nothing has come."""
    await stage.script("first_token", text_block("never"), hold="first_token")
    chat = await stage.chat()
    ack = await chat.send("first_token")
    await stage.fake.wait(held="first_token")
    return chat, {"ack": ack}


async def mid_text(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """Half of an answer was shown."""
    await stage.script("mid_text", text_block("Half ", {"text": "an answer", "hold": "mid_text"}))
    chat = await stage.chat()
    await chat.send("mid_text")
    await chat.event("text_delta", text="Half ")
    return chat, {}


async def mid_call(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """The model is writing the arguments of a call."""
    call = {"type": "tool_use", "name": "list", "chunks": ['{"path": ', {"text": '"."}', "hold": "mid_call"}]}
    await stage.script("mid_call", text_block("I look."), call)
    chat = await stage.chat()
    await chat.send("mid_call")
    await chat.event("tool_call_delta")
    return chat, {}


async def in_command(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """A command runs, with a child of its own."""
    command = f"echo once >> {stage.mark('in_command')}; (sleep 300 & echo $!; wait)"
    await stage.script("in_command", text_block("I run it."), call_block("bash", "call_in_command", command=command))
    chat = await stage.chat(mode="auto")
    await chat.send("in_command")
    return chat, {"grandchild": int((await chat.event("tool_output_delta"))["text"])}


async def in_second_call(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """Of three calls one is done, one runs, one waits for its turn."""
    mark = stage.mark("in_second_call")
    (stage.workspace / "note").write_text("what the first call read")
    await stage.script(
        "in_second_call",
        call_block("read", "call_one", path="note"),
        call_block("bash", "call_two", command=f"echo now; echo once >> {mark}; sleep 300"),
        call_block("bash", "call_three", command=f"echo three >> {mark}"),
    )
    chat = await stage.chat(mode="auto")
    await chat.send("in_second_call")
    await chat.event("tool_output_delta")
    return chat, {}


async def after_results(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """The results are recorded, the request with them is out."""
    command = f"echo once | tee -a {stage.mark('after_results')}"
    await stage.script("after_results", call_block("bash", "call_after_results", command=command))
    await stage.script("after_results", text_block("never"), hold="after_results")
    chat = await stage.chat(mode="auto")
    await chat.send("after_results")
    await stage.fake.wait(held="after_results")
    return chat, {}


def asking(name: str) -> Play:
    """A call waits for a person's word. Each answer needs a chat of its own."""

    async def play(stage: Stage) -> tuple[Chat, dict[str, Any]]:
        command = f"echo once >> {stage.mark(name)}"
        await stage.script(name, call_block("bash", f"call_{name}", command=command))
        await stage.script(name, text_block("All done."))
        chat = await stage.chat()
        await chat.send(name)
        return chat, {"asked": await chat.event("approval_requested")}

    return play


async def answered(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """A person has just said yes."""
    chat, facts = await asking("answered")(stage)
    await chat.act("answer_approval", approval_id=facts["asked"]["approval_id"], decision="once")
    return chat, facts


async def queued(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """Two messages wait; the first one asked for other tools in its turn only."""
    await stage.script("queued", text_block("never"), hold="queued")
    chat = await stage.chat()
    await chat.send("queued")
    await stage.fake.wait(held="queued")
    await chat.send("first in line", override={"toolset": "safe"})
    await chat.send("second in line")
    return chat, {}


async def switched(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """A draft with switches, the last one just acknowledged."""
    chat = await stage.chat()
    await chat.act("toggle_web_search", value=True, id=f"toggle {stage.wire}")
    await chat.act("set_tools_profile", toolset="research")
    return chat, {"ack": await chat.act("set_tool_disabled", name="grep", value=True)}


async def just_sent(stage: Stage) -> tuple[Chat, dict[str, Any]]:
    """A message was acknowledged, and that is all."""
    chat = await stage.chat()
    return chat, {"ack": await chat.send("just_sent", id=f"sent {stage.wire}")}


SCENES: Final[Mapping[str, Play]] = {
    "first_token": first_token,
    "mid_text": mid_text,
    "mid_call": mid_call,
    "in_command": in_command,
    "in_second_call": in_second_call,
    "after_results": after_results,
    "asking_once": asking("asking_once"),
    "asking_session": asking("asking_session"),
    "asking_deny": asking("asking_deny"),
    "queued": queued,
    "switched": switched,
    "answered": answered,
    "just_sent": just_sent,
}
"""In the order in which they are played: the last ones are about the moment before the kill."""


@asynccontextmanager
async def crash(wire: str, directory: Path) -> AsyncIterator[After]:
    """Play every scene on one server, kill it, start it again, and read what it shows."""
    async with fake_api() as fake, running_server(directory, fake, api=wire) as server:
        async with server.client() as client:
            stage = Stage(client, fake, wire, directory, server.workspace)
            played = {name: await play(stage) for name, play in SCENES.items()}
            await server.kill()
            scenes = {
                name: Scene(chat.id, facts, log_of(client.frames, chat.id)) for name, (chat, facts) in played.items()
            }
        await server.start()
        async with server.client() as client:
            for scene in scenes.values():
                scene.state = await Chat(client, scene.chat_id).snapshot()
                scene.log = stored_log(server.database, scene.chat_id)
        yield After(server, fake, wire, scenes)


async def gone(pid: int) -> None:
    """Wait until no process has this id, or only a zombie has."""
    async with asyncio.timeout(WAIT_S):
        while _runs(pid):  # noqa: ASYNC110 - no event tells of another program's end
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
