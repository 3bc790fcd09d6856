"""What the next request is: its surface, its notices, its messages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from openprogram.agent.deferral import cut_of, prompt_of, undeclared, wanted, withheld, worth_keeping
from openprogram.agent.environment import Environment, Setup
from openprogram.context.assembler import assemble
from openprogram.context.catalog import entries_of, uncovered
from openprogram.context.notices import notice_text, told, turns_since_switch
from openprogram.core.clock import iso_time
from openprogram.core.events import Event, LoadedChanged, MessageAdded
from openprogram.core.ids import new_id
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import ProviderRequest
from openprogram.core.surface import Capability, Surface, SurfacePlan
from openprogram.core.tooling import DISCOVERY_TOOL, ToolSpec
from openprogram.providers.pricing import tool_text
from openprogram.surface.economy import grown_loss
from openprogram.surface.planner import plan, unchanged
from openprogram.surface.strategies import allowed
from openprogram.surface.wanted import Warmth

_SEARCH_OFF: Final = "Web search was switched off. Go on without it."
_RATES: Final = (0.1, 1.25)
"""Reading from a cache and writing to it, relative to plain input, where a model's prices are not known."""


@dataclass(frozen=True, slots=True)
class StepId:
    """Which request this is, and the message that its answer will be."""

    turn_id: str
    number: int
    message_id: str


def record(env: Environment, message: Message, *before: Event) -> None:
    """Append to the history and tell everyone, in one commit with the events that belong before it."""
    env.history.append(message)
    env.emit(*before, MessageAdded(message))


def _shown_before(view: Sequence[Message], model_id: str) -> int:
    """How many messages the last request held that this endpoint has answered: those before its answer.

    An answer that holds nothing may be of a request that failed, for which nothing was cached.
    """
    places = range(len(view) - 1, -1, -1)
    answers = (place for place in places if view[place].role == "assistant" and view[place].blocks)
    return next((place for place in answers if view[place].model == model_id), 0)


async def planned(env: Environment, setup: Setup, at: StepId, capability: Capability) -> tuple[Surface, SurfacePlan]:
    """The surface of the next request, with the model told of what it has to know before.

    A rebase at the start of a turn takes dead weight out of the loaded set (cache.md C4); the one behind a compaction
    keeps it whole, so that what was found stays callable (C16).
    """
    loaded, previous, off = env.loaded.names, env.surfaces.current, withheld(setup.contract, env.authority)
    last = env.history.last
    if last is not None and last.paused and previous is not None:
        if not off:
            return unchanged(previous, env.clock(), env.history.view)
        record(env, _notice(env, _SEARCH_OFF, at.turn_id))  # so that nothing goes on
    view = env.history.view
    turn_start = at.number == 1
    compacted = cut_of(view) not in (None, previous.cut if previous else None)
    trimmed = turn_start and not compacted
    kept = worth_keeping(env.loaded, setup.contract, view, previous) if trimmed else loaded
    warmth, force = _warmth(env, setup, turn_start=turn_start), env.surfaces.forced

    def choose() -> tuple[Surface, SurfacePlan]:
        asked = wanted(setup, loaded, kept, env.history.view, previous, at.message_id, off)
        return plan(previous, asked, capability, warmth, force=force)

    surface, chosen = choose()
    if chosen.kind == "rebase" and env.loaded.drop(set(loaded) - set(kept)):
        env.emit(LoadedChanged(env.loaded.names))
    notice = await _notice_text(env, setup, at, surface, chosen)
    if notice is None:
        return surface, chosen
    record(env, _notice(env, notice, at.turn_id))
    return choose()  # the same, behind the notice


def _warmth(env: Environment, setup: Setup, *, turn_start: bool) -> Warmth:
    model, history = setup.model, env.history.messages
    last = env.progress.answered.get(model.id)

    def size(tool: JsonObject) -> int:
        return round(setup.count(tool_text(model.counting.api, tool)) * model.counting.ratio)

    price = model.price
    rates = (price.cache_read / price.input, price.cache_write_5m / price.input) if price and price.input else _RATES
    warmth = Warmth(
        now=env.clock(),
        turn_start=turn_start,
        prompt_tokens=last.usage.prompt if last else None,
        size=size,
        requests=sum(1 for message in history if message.role == "assistant"),
        turns_since_switch=turns_since_switch(history),
        read_rate=rates[0],
        write_rate=rates[1],
    )
    here = env.surfaces.current
    if here is None or here.cut != cut_of(env.history.view):
        return warmth  # a new chat may find nothing, and behind a summary the prompt is another one than the last
    return replace(warmth, discovery_tokens=grown_loss(here, model.capability, warmth))


def _untold(setup: Setup, surface: Surface) -> tuple[ToolSpec, ...]:
    """What could be loaded and does not stand in the catalog as it was sent: it came since."""
    if setup.contract.get(DISCOVERY_TOOL) is None:
        return ()
    return uncovered(undeclared(setup.contract, surface), entries_of(surface.catalog))


async def _notice_text(
    env: Environment, setup: Setup, at: StepId, surface: Surface, next_plan: SurfacePlan
) -> str | None:
    """What the model has to be told before this request, if anything. What a summary has replaced is told again, but
    for commands that had ended: those are history."""
    view, today = env.history.view, iso_time(env.clock())[:10]
    untold = _untold(setup, surface.on([*(message.id for message in view), at.message_id]))
    known = told(env.history.messages).jobs
    news = [item for item in await env.news(env.session_id) if item.key not in known]
    here = str(setup.workspace) if prompt_of(setup, surface).workspace is None else None
    return notice_text(next_plan, view, today, untold, setup.count, news, here)


def _notice(env: Environment, text: str, turn_id: str) -> Message:
    return Message(
        id=new_id("m"),
        parent_id=env.history.leaf_id,
        role="notice",
        blocks=(TextBlock(text),),
        created_at=iso_time(env.clock()),
        turn_id=turn_id,
    )


def request_of(
    env: Environment,
    setup: Setup,
    surface: Surface,
    messages: tuple[Message, ...],
    answer: str | None = None,
    *,
    diagnose: bool,
) -> ProviderRequest:
    """The request that shows these messages under this surface. `answer` is the id of the message that it will be
    answered with, where it is one of the chat's; `diagnose`: the endpoint is asked what its cache does."""
    here = surface.on([*(message.id for message in messages), *([] if answer is None else [answer])])
    return ProviderRequest(
        model=setup.model.model,
        system=assemble(replace(prompt_of(setup, surface), catalog=surface.catalog)).texts,
        tools=surface.declared,
        messages=messages,
        params=setup.params,
        cache_key=env.session_id,
        previous_length=_shown_before(messages, setup.model.id),
        strategy=surface.strategy,
        deferred=surface.deferred,
        deltas=here.deltas,
        allowed=allowed(here, setup.model.capability),
        thinking_after=surface.thinking_after,
        diagnose=diagnose,
        compared_with=env.progress.answer_ids.get(setup.model.id),
        thinking_since=surface.thinking_since,
    )
