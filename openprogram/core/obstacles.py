"""What keeps calls of a tool from running for now although the tool is there (spec tools.md T12).

Such a state takes nothing away: the tool stays authorised, declared and in the contract, so that its coming and going
moves no byte of a request (spec cache.md C5). Only a call meets it, and the tool panel shows it.
"""

from dataclasses import dataclass
from typing import Literal

ObstacleState = Literal["down", "refused_by_mode"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """`down`: what the tool belongs to is away; a call is a tool error. `refused_by_mode`: the chat's permission mode
    refuses its calls. `detail` says for people and models what it is and what to do."""

    state: ObstacleState
    detail: str
