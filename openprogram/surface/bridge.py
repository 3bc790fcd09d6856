"""Calls through the bridge: resolved to the tool that they are for, and written back as they were made (cache.md C8).

From the moment an answer has arrived everyone sees the inner call: permissions, events, the interface, the ledger. Only
a request shows it as the model wrote it.
"""

from collections.abc import Iterable
from dataclasses import replace

from openprogram.core.messages import Block, ToolUseBlock
from openprogram.core.surface import BRIDGE_NAME, Surface


def unbridged(blocks: Iterable[Block], surface: Surface) -> tuple[Block, ...]:
    """An answer's blocks with each call through the bridge as a call of its inner tool.

    A call that is not of the bridge's form stays as it is: no tool has its name, which is what the model will be told.
    """
    if surface.strategy != "bridge":
        return tuple(blocks)
    return tuple(_inner(block) if isinstance(block, ToolUseBlock) else block for block in blocks)


def _inner(call: ToolUseBlock) -> ToolUseBlock:
    name, arguments = call.arguments.get("name"), call.arguments.get("arguments")
    fits = call.name == BRIDGE_NAME and len(call.arguments) == len(("name", "arguments"))
    if not fits or not isinstance(name, str) or not isinstance(arguments, dict) or name == BRIDGE_NAME:
        return call
    return replace(call, name=name, arguments=arguments, bridged=True)
