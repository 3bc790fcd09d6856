"""Chats whose tools are deferred: handy tools, calls and looks at requests."""

from collections.abc import Sequence
from typing import Any

from openprogram.agent.tool_search import tool_search
from openprogram.core.errors import BadArguments
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Block, Message, Role, ToolResultBlock, ToolUseBlock
from openprogram.core.prompt import ProviderRequest
from tests.support.agent import Chat, FakeTool
from tests.support.script import Script, ScriptedProvider, message, use

TTL = 300.0


def deferred(name: str, **fields: Any) -> FakeTool:
    """A tool that waits to be loaded."""
    return FakeTool(name, residency="deferred", **fields)


def chat_with(*tools: FakeTool, scripts: Sequence[Script]) -> Chat:
    """A chat that has `tool_search` beside these tools."""
    chat = Chat(ScriptedProvider(*scripts), *tools)
    chat.registry.put("builtin", [tool_search, *(tool.spec for tool in tools)])
    return chat


def select(*names: str, call_id: str | None = None) -> ToolUseBlock:
    """A call that loads."""
    return use("tool_search", call_id, query=f"select:{','.join(names)}")


def search(query: str) -> ToolUseBlock:
    """A call that looks for a tool."""
    return use("tool_search", query=query)


def declared(request: ProviderRequest) -> list[str]:
    """Names of the declared tools, in their order on the wire."""
    return [str(tool["name"]) for tool in request.tools]


def system(request: ProviderRequest) -> str:
    """The system prompt."""
    return "\n".join(request.system)


def text(result: ToolResultBlock) -> str:
    """A result's text."""
    return "\n".join(part.text for part in result.content)


def strict(name: str) -> FakeTool:
    """A deferred tool that takes nothing but a city."""

    def validate(arguments: JsonObject) -> None:
        if arguments.keys() != {"city"}:
            raise BadArguments(f"The arguments do not fit `{name}`.", field="city")

    parameters = {"type": "object", "properties": {"city": {"type": "string", "description": "Which city"}}}
    return deferred(name, validate=validate, parameters=parameters)


def say_more(chat: Chat, said: str) -> None:
    """The person says something more."""
    chat.history.append(below(chat, "user", said))


def below(chat: Chat, role: Role, content: str | Sequence[Block]) -> Message:
    """A message below the leaf."""
    return message(role, content, chat.history.leaf_id)
