"""One summary on its way: weighing the history, the request for it, and what becomes of the answer (cache.md C16)."""

from dataclasses import dataclass, field, replace
from math import ceil
from typing import Final

from openprogram.agent.environment import Environment, Setup
from openprogram.agent.hosted import Gate
from openprogram.agent.planning import request_of
from openprogram.agent.room import fixed_tokens, message_tokens, next_prompt, prompt_limit, text_tokens
from openprogram.agent.sending import Sending
from openprogram.agent.stream import Received, receive
from openprogram.context.compaction import Cut, after, boundaries, choose, newest_user, summary_text
from openprogram.core.clock import iso_time
from openprogram.core.compaction import SUMMARISE, Compacted, Compaction, CompactionOutcome, CompactionTrigger
from openprogram.core.events import ErrorInfo, Event, MessageAdded, Notice
from openprogram.core.ids import new_id
from openprogram.core.messages import HostedBlock, Message, TextBlock, ToolUseBlock
from openprogram.core.ports import Emit
from openprogram.core.prompt import ProviderFailure, ProviderRequest
from openprogram.core.surface import Surface, SurfacePlan
from openprogram.core.usage import Usage
from openprogram.surface.hosted import callable_in
from openprogram.tools.builtin.todo import current_list
from openprogram.tools.builtin.todo import shown as shown_tasks

_SUMMARY: Final = 1_500
"""Tokens that a summary is taken to have before it is there."""

FAILED: Final = "compaction_failed"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of it. `outcome` None: there was nothing to summarise, or too little to be worth it."""

    outcome: CompactionOutcome | None
    error: ErrorInfo | None = None


def text_of(received: Received) -> str:
    """The summary that an answer is, whole or as far as it came; empty where its text only leads to something else: to
    a call, or to a search that it wants to go on with."""
    blocks = received.blocks or ()
    if any(
        isinstance(block, ToolUseBlock) or (isinstance(block, HostedBlock) and block.kind == "pause")
        for block in blocks
    ):
        return ""
    return "\n\n".join(block.text for block in received.whole_or_partial() if isinstance(block, TextBlock)).strip()


@dataclass(slots=True)
class Summary:
    """One compaction on its way. Sizes are tokens of the messages that the model sees now."""

    env: Environment
    setup: Setup
    turn_id: str
    trigger: CompactionTrigger
    needed: int
    fixed: int
    sizes: tuple[int, ...]
    room: int
    keep: int
    request_id: str = field(default_factory=lambda: new_id("t"))
    message_id: str = field(default_factory=lambda: new_id("m"))
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def begin(cls, env: Environment, setup: Setup, turn_id: str, trigger: CompactionTrigger, keep: float) -> "Summary":
        """Weigh the history. What the endpoint has counted tells how far the estimates are off."""
        view, needed = env.history.view, next_prompt(env, setup)
        fixed, sizes = fixed_tokens(env, setup), [message_tokens(setup, message) for message in view]
        scale = needed / max(1, fixed + sum(sizes))
        most = prompt_limit(setup) or needed
        ask = ceil(text_tokens(SUMMARISE) * setup.model.counting.ratio)
        # What was refused is tried whole: the estimate may be off, and what the endpoint answers to that is not.
        room = max(most, needed + ask) if trigger == "refused" else most
        kept = most if trigger == "full" else min(most, needed)
        return cls(
            env,
            setup,
            turn_id,
            trigger,
            needed,
            ceil(fixed * scale),
            tuple(ceil(size * scale) for size in sizes),
            room - ask,
            int(kept * keep),
        )

    def cut(self, room: int) -> Cut | None:
        """Where to cut, if the request for the summary may take so much."""
        return choose(boundaries(self.env.history.view), self.sizes, room - self.fixed, self.keep)

    def size(self, cut: Cut) -> int:
        """Tokens of the request for the summary, but for what it asks."""
        return self.fixed + sum(self.sizes[: cut.covered])

    def gain(self, cut: Cut) -> int:
        """Tokens that the cut frees, if the summary is as long as they are taken to be."""
        return self.needed - self.fixed - self.left(cut) - min(_SUMMARY, self.room // 4)

    def left(self, cut: Cut) -> int:
        """Tokens of the messages that stay."""
        view = self.env.history.view
        sizes = {message.id: size for message, size in zip(view, self.sizes, strict=True)}
        return sum(sizes[message.id] for message in after(view, cut.kept))

    async def ask(self, surface: Surface | None, cut: Cut) -> Received:
        """Send the request for the summary; what the model writes is shown to nobody yet."""
        env, setup = self.env, self.setup
        request = self.request(surface, cut)
        sending = Sending(env, setup, _plan(surface), self.request_id, 1, self.message_id)
        gate = Gate(callable_in(request), env.authority)
        try:
            received = await receive(
                gate.pass_on(setup.provider.stream(request)),
                self.message_id,
                _Quietly(env.emit),
                env.stop,
                sent=sending.sent,
                accepted=lambda: None,
                now=env.monotonic,
            )
        finally:
            sending.keep()
        if gate.closed:  # under this surface the provider could search, which it may no longer
            return await self.ask(None, cut)
        self.usage = self.usage.plus(received.usage)
        return received

    def request(self, surface: Surface | None, cut: Cut) -> ProviderRequest:
        """The conversation as it was sent, with one more message behind it; without a surface, it alone."""
        env, setup = self.env, self.setup
        said = env.history.view[: cut.covered]
        asked = Message(new_id("m"), said[-1].id, "notice", (TextBlock(SUMMARISE),), iso_time(env.clock()))
        bare = Surface(setup.model.id, 0, (), (), "", env.clock())
        diagnose = env.capabilities.of(setup.model).diagnosis
        request = request_of(env, setup, surface or bare, (*said, asked), diagnose=diagnose)
        ids = {message.id for message in said}
        if request.thinking_after is not None and request.thinking_after not in ids:
            return replace(request, thinking_after=said[-1].id)
        return request

    def finish(self, received: Received, cut: Cut) -> Result:
        """Record the summary in one commit with the end of the compaction, or only that it came to nothing."""
        summary = text_of(received)
        if received.status == "stopped":
            self.env.emit(self.ended("stopped", None))
            return Result("stopped")
        if received.failure is not None or not summary:
            self.env.emit(self.ended("failed", None))
            return Result("failed", _error(received.failure))
        message = self.message(summary, cut, whole=received.status == "complete")
        if message is None:
            self.env.emit(self.ended("failed", None))
            return Result("failed", _NO_GAIN)
        self.env.history.append(message)
        self.env.emit(MessageAdded(message), self.ended("done", message.id))
        return Result("done")

    def ended(self, outcome: CompactionOutcome, message_id: str | None) -> Event:
        """The event that tells how it ended, with what it cost."""
        model = self.setup.model
        return Compacted(self.turn_id, self.request_id, outcome, message_id, model.id, self.usage, self.cost)

    @property
    def cost(self) -> float | None:
        """US dollars for what was asked of the model, where known."""
        price = self.setup.model.price
        return price.cost(self.usage) if price is not None else None

    def message(self, summary: str, cut: Cut, *, whole: bool) -> Message | None:
        """The summary as a message of the chat; None where it would save nothing."""
        env, view, price = self.env, self.env.history.view, self.setup.model.price
        text = summary_text(summary, shown_tasks(current_list(env.history.messages)), whole=whole)
        tokens_after = self.fixed + self.left(cut) + ceil(text_tokens(text) * self.setup.model.counting.ratio)
        if tokens_after >= self.needed:
            return None
        user = newest_user(view)
        compaction = Compaction(
            kept_from=view[cut.kept].id if cut.kept < len(view) else None,
            user_message=user.id if user is not None else None,
            trigger=self.trigger,
            tokens_before=self.needed,
            tokens_after=tokens_after,
            cost=self.cost,
            saving=None if price is None else (self.needed - tokens_after) * price.cache_read / 1_000_000,
        )
        return Message(
            id=self.message_id,
            parent_id=env.history.leaf_id,
            role="notice",
            blocks=(TextBlock(text),),
            created_at=iso_time(env.clock()),
            turn_id=self.turn_id,
            model=self.setup.model.id,
            compaction=compaction,
        )


class _Quietly:
    """The `Emit` port of a request whose answer is no message of the chat: only notices are told."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def __call__(self, *events: Event) -> None:
        """Pass notices on."""
        for event in events:
            if isinstance(event, Notice):
                self._emit(event)

    async def flush(self) -> None:
        """Wait until all is stored."""
        await self._emit.flush()


def _plan(surface: Surface | None) -> SurfacePlan:
    if surface is None:
        return SurfacePlan("keep", "summary", 0, ())
    return SurfacePlan("keep", "summary", surface.epoch, surface.names, surface.masked, strategy=surface.strategy)


_NO_GAIN: Final = ErrorInfo(
    FAILED, "The conversation was not shortened: its summary is as long as what it would replace."
)


def _error(failure: ProviderFailure | None) -> ErrorInfo:
    if failure is None:
        return ErrorInfo(FAILED, "The conversation could not be shortened: the model wrote no summary.", "retry")
    text = f"The conversation could not be shortened: {failure.message}"
    action = "choose_model" if failure.code == "context_too_long" else failure.action
    return ErrorInfo(FAILED, text, action, retry_after_s=failure.retry_after_s)
