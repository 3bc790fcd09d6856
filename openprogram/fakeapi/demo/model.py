"""The demo model's mind: from a conversation to an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from openprogram.core.compaction import SUMMARISE
from openprogram.fakeapi.answer import (
    Answer,
    Block,
    Chunk,
    TextBlock,
    text_block,
    thinking_block,
    tool_use_block,
)
from openprogram.fakeapi.conversation import Conversation, ResultsTurn, ToolDecl, UserTurn
from openprogram.fakeapi.demo import intents
from openprogram.fakeapi.demo.intents import Intent
from openprogram.fakeapi.demo.phrases import say
from openprogram.fakeapi.demo.recognise import is_chinese, recognise
from openprogram.fakeapi.demo.results import describe
from openprogram.fakeapi.demo.showcase import SHOWCASE
from openprogram.fakeapi.demo.tools import arguments

_COUNTING_RATE: Final = 4.0
_TOPIC_LENGTH: Final = 80
_SUMMARISE: Final = SUMMARISE.partition("\n")[0]


def demo_answer(conversation: Conversation, pace: float) -> Answer:
    """The answer to the newest message, at `pace` deltas a second (0: no pacing)."""
    chinese = is_chinese(conversation.task)
    if _SUMMARISE in conversation.task:
        return Answer((text_block(_summary(conversation, chinese)),), rate=pace)
    intent = recognise(conversation.task)
    blocks = list(_thoughts(intent, conversation, chinese))
    steps = conversation.steps
    if steps:
        blocks.extend(_after_results(intent, conversation, chinese))
    elif conversation.forced is not None:
        blocks.extend(_forced(conversation, chinese))
    else:
        blocks.extend(_begin(intent, conversation, chinese))
    counting = isinstance(intent, intents.Count)
    return Answer(tuple(blocks), rate=min(pace, _COUNTING_RATE) if counting else pace)


def _summary(conversation: Conversation, chinese: bool) -> str:
    """What a summary can honestly be that understands nothing."""
    said = [turn.text.partition(_SUMMARISE)[0].strip() for turn in conversation.turns if isinstance(turn, UserTurn)]
    texts = [text for text in said if text]
    results = sum(len(turn.results) for turn in conversation.turns if isinstance(turn, ResultsTurn))
    newest = texts[-1][:_TOPIC_LENGTH] if texts else ""
    return say("summary", chinese, count=len(texts), newest=newest, results=results)


def _thoughts(intent: Intent, conversation: Conversation, chinese: bool) -> Iterable[Block]:
    """Reasoning: long where it was asked for, short where the request makes every answer think."""
    if conversation.thinking == "off":
        return
    if isinstance(intent, intents.Think) and not conversation.steps:
        yield thinking_block(say("thinking_long", chinese, topic=_topic(intent.topic, chinese)))
    elif conversation.thinking == "always":
        yield thinking_block(say("thinking_short", chinese, task=conversation.task[:_TOPIC_LENGTH]))


def _topic(text: str, chinese: bool) -> str:
    return text[:_TOPIC_LENGTH] or say("it", chinese)


def _begin(intent: Intent, conversation: Conversation, chinese: bool) -> list[Block]:
    """The first step of a turn."""
    match intent:
        case intents.Count(to=to):
            return [TextBlock(tuple(Chunk(f"{n}\n" if n % 10 == 0 else f"{n} ") for n in range(1, to + 1)))]
        case intents.Showcase():
            return [text_block(SHOWCASE)]
        case intents.Plan(topic=topic):
            return [text_block(say("plan", chinese, topic=f": {topic}" if topic else ""))]
        case intents.Think(topic=topic):
            key = "thinking_off" if conversation.thinking == "off" else "thought"
            return [text_block(say(key, chinese, topic=_topic(topic, chinese)))]
        case intents.Greet():
            return [text_block(_introduction("identity", conversation, chinese))]
        case intents.Unknown():
            return [text_block(_introduction("unknown", conversation, chinese))]
        case _:
            return _call(intent, conversation, chinese)


def _introduction(key: str, conversation: Conversation, chinese: bool) -> str:
    names = ", ".join(f"`{tool.name}`" for tool in conversation.tools)
    tools = say("tools_now", chinese, names=names) if names else say("no_tools", chinese)
    opening = [say("identity", chinese)] if key == "identity" else [say(key, chinese), say("identity", chinese)]
    return "\n\n".join([*opening, say("abilities", chinese), tools])


def _call(intent: Intent, conversation: Conversation, chinese: bool) -> list[Block]:
    """The tool calls that the intent asks for, or what is missing for them."""
    find = conversation.tool
    match intent:
        case intents.ListFiles() | intents.Explore():
            return _list_files(conversation, chinese)
        case intents.ReadFiles(paths=paths):
            read = find("read", "read_file")
            calls = [arguments(read, path=path) for path in paths] if read else []
            return _calls(read, "read", calls, chinese)
        case intents.SearchWeb(query=query):
            search = find("web_search")
            if search is None:
                return [text_block(say("chip_off", chinese, query=query))]
            return _calls(search, "web_search", [arguments(search, query=query)], chinese)
        case intents.FetchUrl(url=url):
            fetch = find("web_fetch", "fetch")
            return _calls(fetch, "web_fetch", [arguments(fetch, url=url)] if fetch else [], chinese)
        case intents.RunCommand(command=command):
            shell = find("bash", "shell")
            return _calls(shell, "bash", [arguments(shell, command=command)] if shell else [], chinese)
        case intents.CreateFile(path=path, content=content):
            write = find("write", "write_file")
            calls = [arguments(write, path=path, content=content)] if write else []
            return _calls(write, "write", calls, chinese)
        case intents.EditFile(path=path, old=old, new=new):
            edit = find("edit", "edit_file")
            calls = [arguments(edit, path=path, old=old, new=new)] if edit else []
            return _calls(edit, "edit", calls, chinese)
        case intents.FindText(pattern=pattern):
            grep = find("grep")
            return _calls(grep, "grep", [arguments(grep, pattern=pattern)] if grep else [], chinese)
        case intents.UseTool():
            return _use_tool(intent, conversation, chinese)
        case (
            intents.Count()
            | intents.Showcase()
            | intents.Plan()
            | intents.Think()
            | intents.Greet()
            | intents.Unknown()
        ):
            raise AssertionError(f"{intent} calls no tool")
        case _:
            assert_never(intent)


def _list_files(conversation: Conversation, chinese: bool) -> list[Block]:
    """With whichever tool there is: `list`, else `glob`, else the shell."""
    tool = conversation.tool("list", "ls", "glob", "bash")
    if tool is None:
        return [text_block(say("missing", chinese, tool="`list`"))]
    if tool.name == "glob":
        return _calls(tool, "glob", [arguments(tool, pattern="*")], chinese)
    if tool.name == "bash":
        return _calls(tool, "bash", [arguments(tool, command="ls -la")], chinese)
    return _calls(tool, tool.name, [arguments(tool)], chinese)


def _use_tool(intent: intents.UseTool, conversation: Conversation, chinese: bool) -> list[Block]:
    """The named tool, discovered first if it is not loaded."""
    tool = conversation.tool(intent.name)
    search = conversation.tool("tool_search")
    if tool is not None:
        return _calls(tool, intent.name, [intent.arguments], chinese)
    if search is None or conversation.steps:
        return [text_block(say("missing", chinese, tool=f"`{intent.name}`"))]
    query = arguments(search, query=f"select:{intent.name}")
    return [text_block(say("discovering", chinese, tool=intent.name)), tool_use_block("tool_search", query)]


def _calls(tool: ToolDecl | None, wanted: str, calls: list[dict[str, object]], chinese: bool) -> list[Block]:
    if tool is None:
        return [text_block(say("missing", chinese, tool=f"`{wanted}`"))]
    key = "calling" if len(calls) == 1 else "calling_many"
    said = text_block(say(key, chinese, tool=tool.name, count=len(calls)))
    return [said, *(tool_use_block(tool.name, call) for call in calls)]


def _forced(conversation: Conversation, chinese: bool) -> list[Block]:
    """The tool that the request insists on, with whatever arguments satisfy its schema."""
    name = conversation.forced
    tool = conversation.tool(name) if name not in (None, "*") else None
    chosen = tool or (conversation.tools[0] if conversation.tools else None)
    return _calls(chosen, name or "", [arguments(chosen)] if chosen else [], chinese)


def _after_results(intent: Intent, conversation: Conversation, chinese: bool) -> list[Block]:
    """The next step of a turn: the second one of a two-step request, else a report of the results."""
    steps = conversation.steps
    discovered = isinstance(intent, intents.UseTool) and intent.name != "tool_search"
    if discovered and steps[-1][0][0].name == "tool_search":
        return _call(intent, conversation, chinese)
    read = conversation.tool("read", "read_file")
    if isinstance(intent, intents.Explore) and len(steps) == 1 and read and "README.md" in steps[0][0][1].text:
        return _calls(read, "read", [arguments(read, path="README.md")], chinese)
    reports = [describe(call, result, chinese) for step in steps for call, result in step]
    return [text_block("\n\n".join([*reports, say("closing", chinese)]))]
