"""A tool for openprogram: rolling dice."""

import random

from openprogram.tools import ToolContext, ToolFailure, tool


@tool(readonly=True, parallel_safe=True, presets=("coding", "research"))
async def roll_dice(context: ToolContext, sides: int = 6, count: int = 1) -> str:
    """Roll dice and tell what each one shows.

    Args:
        sides: How many sides each die has
        count: How many dice are rolled
    """
    if sides < 2 or not 1 <= count <= 100:
        raise ToolFailure("there are dice of two sides or more, and 1 to 100 of them")
    return ", ".join(str(random.randint(1, sides)) for _ in range(count))
