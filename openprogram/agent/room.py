"""How much of a model's context window the next request takes, as far as that is known before it is sent.

What the endpoint has counted is taken as it is; only what came since is estimated. An estimate that is too low costs a
refused request, one that is too high an early summary.
"""

from dataclasses import replace
from math import ceil
from typing import Final

from openprogram.agent.deferral import cut_of, offer, prompt_of, worth_keeping
from openprogram.agent.environment import Environment, Setup
from openprogram.context.assembler import assemble
from openprogram.core.jsonio import JsonObject, encode
from openprogram.core.messages import (
    Block,
    HostedBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.surface import Surface
from openprogram.providers.anthropic_prompt import DEFAULT_MAX_TOKENS, USUAL_MAX_TOKENS
from openprogram.providers.pricing import tool_text
from openprogram.surface.planner import plan
from openprogram.surface.strategies import TRAITS
from openprogram.surface.wanted import Warmth

_CHARS_A_TOKEN: Final = 4
_PIXELS_A_TOKEN: Final = 750
"""As Anthropic documents it for pictures."""
_FRAME: Final = 6
"""Tokens around each block."""
_WINDOWS_A_RESERVE: Final = 4
"""The output gets no more than this part of a window."""


def prompt_limit(setup: Setup) -> int | None:
    """Most tokens of a prompt: the model's context window less the room that its answer may take; None: not known."""
    window = setup.model.context_window
    if window is None:
        return None
    output = setup.params.max_output_tokens or setup.model.max_output_tokens or DEFAULT_MAX_TOKENS
    return window - min(output, USUAL_MAX_TOKENS, window // _WINDOWS_A_RESERVE)


def next_prompt(env: Environment, setup: Setup) -> int:
    """Tokens of the next request's prompt: the last answered one's and what came since, else an estimate of it all."""
    view = env.history.view
    last = env.progress.answered.get(setup.model.id)
    if last is not None and last.usage.prompt is not None and last.record.conditions.cut == cut_of(view):
        new_tools = sum(tool_tokens(setup, tool) for tool in _coming(env, setup))
        answered = _place(view, last.record.message_id)
        if answered is not None:
            said = last.usage.output or message_tokens(setup, view[answered])
            return last.usage.prompt + said + new_tools + _total(setup, view[answered + 1 :])
        held = _place(view, last.record.parent_id)
        if held is not None:
            return last.usage.prompt + new_tools + _total(setup, view[held + 1 :])
    return fixed_tokens(env, setup) + _total(setup, view)


def fixed_tokens(env: Environment, setup: Setup) -> int:
    """Tokens of what stands before the conversation: tools and system prompt (spec tools.md section 5)."""
    surface = env.surfaces.current
    here = surface if surface is not None and surface.model == setup.model.id else _first(env, setup)
    tools = [*here.declared, *(tool for delta in here.deltas for tool in delta.defined)]
    system = assemble(replace(prompt_of(setup, here), catalog=here.catalog)).texts
    text = sum(text_tokens(text) for text in system) * setup.model.counting.ratio
    return sum(tool_tokens(setup, tool) for tool in tools) + ceil(text) + setup.model.counting.tool_overhead


def _first(env: Environment, setup: Setup) -> Surface:
    """What a model that has seen nothing of the chat is shown with the next request."""
    kept = worth_keeping(env.loaded, setup.contract, env.history.view, env.surfaces.current)
    asked = offer(setup.contract, setup.floor, setup.model, setup.count, env.loaded.names, kept)
    surface, _ = plan(None, asked, env.capabilities.of(setup.model), Warmth(0.0))
    return surface


def message_tokens(setup: Setup, message: Message) -> int:
    """Tokens of a message, estimated."""
    return ceil(sum(_block_tokens(block) for block in message.blocks) * setup.model.counting.ratio)


def tool_tokens(setup: Setup, tool: JsonObject) -> int:
    """Tokens of a declaration: as they were counted, else estimated."""
    text = tool_text(setup.model.counting.api, tool)
    return ceil(min(setup.count(text), text_tokens(text)) * setup.model.counting.ratio)


def text_tokens(text: str) -> int:
    """Tokens of a text, estimated: four letters of Latin script make one, a sign of others is one of its own."""
    signs = (len(text.encode()) - len(text)) // 2
    return ceil((len(text) - signs) / _CHARS_A_TOKEN) + signs


def _place(view: tuple[Message, ...], message_id: str | None) -> int | None:
    places = range(len(view) - 1, -1, -1)
    return next((place for place in places if view[place].id == message_id), None)


def _total(setup: Setup, messages: tuple[Message, ...]) -> int:
    return sum(message_tokens(setup, message) for message in messages)


def _coming(env: Environment, setup: Setup) -> list[JsonObject]:
    """The tools that join those which the model has, as far as its endpoint takes any."""
    surface = env.surfaces.current
    if surface is None or TRAITS[surface.strategy].adds == "never":
        return []
    loaded = env.loaded.names
    asked = offer(setup.contract, setup.floor, setup.model, setup.count, loaded, loaded, surface)
    found = asked.tools if asked.discovered is None else asked.discovered
    if TRAITS[surface.strategy].adds == "delta":
        found = (*asked.tools, *found)
    known = {*surface.names, *asked.waiting}
    return list({str(tool["name"]): tool for tool in found if tool["name"] not in known}.values())


def _block_tokens(block: Block) -> int:
    match block:
        case TextBlock(text) | ReasoningBlock(text):
            return text_tokens(text) + _FRAME
        case ToolUseBlock(name=name, arguments=arguments):
            return text_tokens(name) + text_tokens(encode(arguments).decode()) + _FRAME
        case HostedBlock(items=items):
            return sum(text_tokens(encode(item).decode()) for item in items) + _FRAME
        case ToolResultBlock(content=content):
            return sum(_part_tokens(part) for part in content) + _FRAME


def _part_tokens(part: TextBlock | ImageBlock) -> int:
    if isinstance(part, ImageBlock):
        return part.width * part.height // _PIXELS_A_TOKEN
    return text_tokens(part.text)
