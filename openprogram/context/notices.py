"""Volatile facts, told once in the newest message and frozen there (spec cache.md C12)."""

from collections.abc import Sequence

from openprogram.core.messages import Message
from openprogram.core.prompt import SurfacePlan


def notice_text(plan: SurfacePlan, history: Sequence[Message], today: str) -> str | None:
    """What the model has to be told before this request, or None.

    `today` is an ISO date in UTC; it is told in the first request and when the date has changed since the last message.
    """
    lines = []
    if _date_is_news(history, today):
        lines.append(f"Today's date is {today}.")
    if plan.withdrawn:
        lines.append(f"Switched off, calls will be refused: {', '.join(plan.withdrawn)}.")
    if plan.restored:
        lines.append(f"Switched on again: {', '.join(plan.restored)}.")
    if plan.added:
        lines.append(f"Now available: {', '.join(plan.added)}.")
    return "\n".join(lines) or None


def _date_is_news(history: Sequence[Message], today: str) -> bool:
    answered = [message for message in history if message.role == "assistant"]
    return not answered or answered[-1].created_at[:10] != today
