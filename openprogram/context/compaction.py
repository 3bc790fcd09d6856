"""What a model sees of a history that was compacted, and where a history may be cut (spec cache.md C16). Pure.

A summary is a message on the branch: what a model sees begins with the newest one, then the user message that stays,
then what the summary left as it was. So a branch that leaves the history above a summary has the whole history again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from openprogram.core.messages import Message

_OPENING: Final = (
    "What was said before was summarised to save room. The summary replaces it; what stands behind it is as it was."
)
_CUT_OFF: Final = "(The summary was longer than an answer may be; its end is missing.)"
_TASKS: Final = "The to-do list as it stands:"


def newest_summary(history: Sequence[Message]) -> Message | None:
    """The summary that is in force on this branch."""
    return next((message for message in reversed(history) if message.compaction is not None), None)


def shown(history: Sequence[Message]) -> tuple[Message, ...]:
    """What a model sees of a branch: all of it, or the newest summary and what that one left."""
    summary = newest_summary(history)
    if summary is None or summary.compaction is None:
        return tuple(history)
    at = history.index(summary)
    kept = summary.compaction.kept_from
    start = next((place for place in range(at) if history[place].id == kept), at)
    before = (message for message in history[:start] if message.id == summary.compaction.user_message)
    behind = (message for message in history[start:] if message.compaction is None)
    return (summary, *before, *behind)


def boundaries(view: Sequence[Message]) -> tuple[int, ...]:
    """The places at which what a model sees may be cut, in order; `place` messages stand before it.

    None is between a call and its result, nor inside a step, nor does a cut take away no more than a summary and the
    user message that stays anyway.
    """
    results = Counter(result.call_id for message in view for result in message.results)
    waiting: Counter[str] = Counter()
    user = newest_user(view)
    found: list[int] = []
    gains = False
    for place, message in enumerate(view, 1):
        waiting.update(call.call_id for call in message.calls)
        for result in message.results:
            results[result.call_id] -= 1
            waiting[result.call_id] = max(0, waiting[result.call_id] - 1)
        gains = gains or (message.compaction is None and message is not user)
        if not gains or any(count > 0 and results[call_id] > 0 for call_id, count in waiting.items()):
            continue
        ended = message.role in ("assistant", "tool")
        if (ended and not _goes_on(view, place)) or (place < len(view) and view[place].role == "user"):
            found.append(place)
    return tuple(found)


def _goes_on(view: Sequence[Message], place: int) -> bool:
    """Whether the results of the answer before this place stand right behind it, even if there is none that fits."""
    return view[place - 1].role == "assistant" and place < len(view) and view[place].role == "tool"


def newest_user(history: Sequence[Message]) -> Message | None:
    """The newest message of the user, which the work at hand is for."""
    return next((message for message in reversed(history) if message.role == "user"), None)


@dataclass(frozen=True, slots=True)
class Cut:
    """Where to cut what a model sees: `covered` messages are summarised, those from `kept` on stay as well."""

    covered: int
    kept: int


def choose(places: Sequence[int], sizes: Sequence[int], room: int, keep: int) -> Cut | None:
    """The cut whose summary covers as much as fits into `room` tokens and which keeps `keep` tokens at most.

    What the summary does not cover stays, even if that is more than `keep`. None where nothing can be covered.
    """
    before = tuple(accumulate(sizes, initial=0))
    covered = max((place for place in places if before[place] <= room), default=None)
    if covered is None:
        return None
    fitting = (place for place in places if place <= covered and before[-1] - before[place] <= keep)
    return Cut(covered, next(fitting, covered))


def after(view: Sequence[Message], kept: int) -> tuple[Message, ...]:
    """What stays of it, without the summary: the user message, and what stands behind the cut."""
    user = newest_user(view)
    return (*(message for message in view[:kept] if message is user), *view[kept:])


def summary_text(summary: str, tasks: str, *, whole: bool) -> str:
    """The message that replaces what was said. It is stored as it is sent, so that its bytes stay the same for ever."""
    parts = [_OPENING, summary.strip()]
    if not whole:
        parts.append(_CUT_OFF)
    if tasks:
        parts.append(f"{_TASKS}\n{tasks}")
    return "<summary>\n" + "\n\n".join(parts) + "\n</summary>"
