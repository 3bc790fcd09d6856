"""Compaction: the older part of a chat is replaced, for the model only, by a summary (spec cache.md C16).

The summary is a message of the tree like any other, so that a branch has the compactions that stand on it and no
others, and nothing that was said is edited. `openprogram.context.compaction` tells what a model sees of a history.
"""

from dataclasses import dataclass
from typing import Final, Literal

from openprogram.core.usage import Usage

CompactionTrigger = Literal["full", "refused", "asked"]
"""Why: the next request would not fit, the endpoint has refused it as too long, or the user asked for it."""

CompactionOutcome = Literal["done", "stopped", "failed"]

SUMMARISE: Final = (
    "This conversation has become too long to be sent whole. Write the summary that the work goes on from: what you "
    "write replaces what was said so far, but for the newest messages. Call no tool; answer with the summary only, in "
    "the language of the conversation, in at most 800 words.\n\n"
    "Keep: what the user wants, with every condition, preference and correction in their words; what was decided and "
    "why; files, commands, names, numbers and addresses that matter, written out exactly; what was tried and failed; "
    "what is done, what is under way, and what comes next. Leave out greetings, repetitions and long outputs."
)
"""What the model is asked for. It is sent behind the conversation as it stands, so that all of that is read from the
cache."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a summary stands for on its branch. Token counts are estimates where the endpoint had not counted.

    `kept_from` is the first message behind the cut (None: all that stood there was summarised); `user_message` is the
    newest one of the user, which stays wherever the cut is. `cost` is what the summary cost, `saving` what each further
    request costs less while it is read from the cache, both in US dollars where the price is known.
    """

    kept_from: str | None
    user_message: str | None
    trigger: CompactionTrigger
    tokens_before: int
    tokens_after: int
    cost: float | None = None
    saving: float | None = None


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """The model is asked for a summary. `turn_id` is the turn that waits for it; `request_id` is that of the request,
    which counts as a turn of its own."""

    turn_id: str
    request_id: str
    trigger: CompactionTrigger
    tokens_before: int
    type: Literal["compaction_started"] = "compaction_started"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction is over. When it is `done`, `message_id` is the summary, which stands in the chat since the same
    commit; else nothing has changed. What was asked of the model for it is counted here either way."""

    turn_id: str
    request_id: str
    outcome: CompactionOutcome
    message_id: str | None
    model: str
    usage: Usage
    cost: float | None
    type: Literal["compacted"] = "compacted"


CompactionEvent = CompactionStarted | Compacted
