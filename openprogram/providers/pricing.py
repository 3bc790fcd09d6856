"""What a request's parts weigh on the wire, as texts to be counted (spec tools.md section 5). Pure: it counts nothing.

A tool is priced as the bytes that it takes in the body's `tools` array: both adapters send canonical JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from openprogram.core.jsonio import JsonObject, canonical
from openprogram.core.messages import TextBlock
from openprogram.core.prompt import Api, ProviderRequest
from openprogram.providers import anthropic_prompt, chat_prompt, responses_prompt

FRAME: Final[Mapping[Api, int]] = {"anthropic": 12, "openai-chat": 3, "openai-responses": 3}
"""Tokens (o200k) of an array around its tools: the brackets and, in the Messages API, the mark on the last tool."""

_OPENING: Final = '{"'


@dataclass(frozen=True, slots=True)
class Weight:
    """A request as texts to be counted exactly, and how many bytes of conversation are beside them."""

    tools: tuple[str, ...]
    system: tuple[str, ...]
    said_bytes: int


def wire_tool(api: Api, declaration: JsonObject) -> JsonObject:
    """A declaration as the endpoint gets it."""
    match api:
        case "anthropic":
            return anthropic_prompt.wire_tool(declaration)
        case "openai-chat":
            return chat_prompt.wire_tool(declaration)
        case "openai-responses":
            return responses_prompt.wire_tool(declaration)
        case _:
            assert_never(api)


def tool_text(api: Api, declaration: JsonObject) -> str:
    """The bytes that a tool adds to the array: from behind its own `{"` to that of the tool after it.

    Cut there, the tokens of the array are the sum of its tools' tokens. Cut between the tools they are not: a tokenizer
    takes all of `}},{"` together.
    """
    text = canonical(wire_tool(api, declaration)).decode()
    return f"{text.removeprefix(_OPENING)},{_OPENING}"


def weight(api: Api, request: ProviderRequest) -> Weight | None:
    """What the request weighs; None where it holds more than text, of which adapters may leave a part out."""
    blocks = [block for message in request.messages for block in message.blocks]
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    if len(texts) < len(blocks):
        return None
    return Weight(
        tools=tuple(tool_text(api, tool) for tool in request.tools),
        system=tuple(text for text in request.system if text.strip()),
        said_bytes=sum(len(text.encode()) for text in texts),
    )
