"""Compacting a chat: the model summarises what was said, and from then on sees the summary (spec cache.md C16).

The request for the summary continues the conversation under the surface as it was sent, so that all of it is read from
the cache: that costs a tenth of what a request of its own would. Nothing changes before the summary is there; then it
is recorded in one commit with what it cost.
"""

from typing import Final

from openprogram.agent.environment import Environment, Setup
from openprogram.agent.room import next_prompt, prompt_limit
from openprogram.agent.stream import Received
from openprogram.agent.summary import Result, Summary, text_of
from openprogram.core.compaction import CompactionOutcome, CompactionStarted, CompactionTrigger
from openprogram.core.events import ErrorRaised
from openprogram.core.surface import Surface

SOFT: Final = 0.8
"""Between two turns is compacted from this part of the room on, so that it seldom has to be within one."""
KEPT: Final = 0.25
"""The newest messages that stay as they are take no more than this part of the room."""
_GAIN: Final = 0.1
"""What frees less than this part of a prompt is not done unasked."""
_ATTEMPTS: Final = 4
_SMALLER: Final = 0.6


async def make_room(env: Environment, setup: Setup, turn_id: str, *, turn_start: bool) -> CompactionOutcome | None:
    """Compact where the next request would not fit; None: there was no need, or nothing to summarise.

    Where it fails people are told, and the step may be tried anyway.
    """
    limit = prompt_limit(setup)
    if limit is None or next_prompt(env, setup) <= (limit * SOFT if turn_start else limit):
        return None
    result = await compact(env, setup, turn_id, "full")
    if result.error is not None:
        env.emit(ErrorRaised(result.error))
    return result.outcome


async def compact(
    env: Environment, setup: Setup, turn_id: str, trigger: CompactionTrigger, *, keep: float = KEPT
) -> Result:
    """Have the conversation summarised. `keep` is the part of the room that the newest messages may take.

    After anything but `done` the history is what it was. Never raises but for cancellation.
    """
    work = Summary.begin(env, setup, turn_id, trigger, keep)
    cut = work.cut(work.room)
    if cut is None or (trigger == "full" and work.gain(cut) < work.needed * _GAIN):
        return Result(None)
    env.emit(CompactionStarted(turn_id, work.request_id, trigger, work.needed))
    surface, received = _same_surface(env, setup), Received()
    for _ in range(_ATTEMPTS):
        received = await work.ask(surface, cut)
        if received.failure is not None and received.failure.code == "context_too_long":
            size = work.size(cut)
            smaller = work.cut(int(size * _SMALLER)) or work.cut(size - 1)
            if smaller is None:
                break
            cut = smaller
        elif surface is not None and _try_plainly(received):
            surface = None
        else:
            break
    return work.finish(received, cut)


def _try_plainly(received: Received) -> bool:
    """Whether the same may go well without the tools: the endpoint refused the request, or the model used one."""
    if received.failure is not None:
        return received.failure.code == "bad_request"
    return received.status in ("complete", "cut") and not text_of(received)


def _same_surface(env: Environment, setup: Setup) -> Surface | None:
    surface = env.surfaces.current
    model = setup.model
    return surface if surface is not None and surface.shown_to(model.id, model.capability.endpoint) else None
