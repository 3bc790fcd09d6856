"""Volatile facts, told once in the newest message and frozen there (spec cache.md C12).

What the model was told is read off the branch itself: a branch that was edited, regenerated or never answered knows
only what stands in it, whatever the endpoint was shown on another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import category

from openprogram.context.catalog import Count, catalog_entries, uncovered
from openprogram.core.messages import Message
from openprogram.core.news import News
from openprogram.core.surface import SurfacePlan
from openprogram.core.tooling import ToolSpec

_DATE: Final = "Today's date is "
_HERE: Final = "Working directory: "
_OFF: Final = "Switched off, calls will be refused: "
_ON: Final = "Switched on again: "
_NEW: Final = "Now available: "
_JOB: Final = "Background command "
_MORE: Final = "More tools that can be loaded: "
# These beginnings are read back from chats of any age: add new ones, never edit them.

_NO_TEXT: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Kinds of characters (of Unicode) that end a line, or that UTF-8 cannot carry."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the notices of a branch come to: the date, the directory, the tools that are off, what was added to the
    catalog, and the background commands whose end was told."""

    date: str | None = None
    here: str | None = None
    off: frozenset[str] = frozenset()
    more: frozenset[str] = frozenset()
    jobs: frozenset[str] = frozenset()


def notice_text(
    plan: SurfacePlan,
    history: Sequence[Message],
    today: str,
    deferred: Sequence[ToolSpec] = (),
    count: Count = len,
    news: Sequence[News] = (),
    workspace: str | None = None,
) -> str | None:
    """What the model has to be told before this request, or None.

    `today` is an ISO date in UTC; it is told in the first request and when it has changed since it was told. So is the
    directory `workspace` that the chat works in (None: it works in none).
    `deferred` are the tools that could be loaded and are not in the epoch's catalog: each is told of once, and so
    is each of the `news`, which tell of background commands that have ended.
    """
    before = told(history)
    declared = [name for name in plan.declared if name not in plan.masked]
    off = [name for name in plan.masked if name not in before.off]
    on = [name for name in declared if name in before.off]
    new = [name for name in plan.added if name in declared and name not in before.off]
    if plan.reason == "discovered":  # the call that loaded them has told of them
        new = []
    more = catalog_entries(uncovered(deferred, before.more), count)
    lines = [f"{_DATE}{today}."] if today != before.date else []
    here = None if workspace is None else _one_line(workspace)
    if here is not None and here != before.here:
        lines.append(f"{_HERE}{here}")
    told_now = ((_OFF, off), (_ON, on), (_NEW, new), (_MORE, more))
    lines += [f"{start}{', '.join(names)}." for start, names in told_now if names]
    lines += [f"{_JOB}{item.key}: {item.text}." for item in news if item.key not in before.jobs]
    return "\n".join(lines) or None


def told(history: Sequence[Message]) -> Told:
    """What the notices of this branch come to."""
    date, here, off, more, jobs = None, None, set[str](), set[str](), set[str]()
    for message in history:
        if message.role != "notice":
            continue
        for line in message.text.splitlines():
            if line.startswith(_DATE):
                date = line.removeprefix(_DATE).rstrip(".")
            elif line.startswith(_HERE):
                here = line.removeprefix(_HERE)
            elif line.startswith(_OFF):
                off.update(_names(line.removeprefix(_OFF)))
            elif line.startswith((_ON, _NEW)):
                off.difference_update(_names(line.partition(": ")[2]))
            elif line.startswith(_MORE):
                more.update(_names(line.removeprefix(_MORE)))
            elif line.startswith(_JOB):
                jobs.add(line.removeprefix(_JOB).partition(":")[0])
    return Told(date, here, frozenset(off), frozenset(more), frozenset(jobs))


def turns_since_switch(history: Sequence[Message]) -> int:
    """How many messages a person has sent since a switch was last told of; all of them where none was."""
    turns = 0
    for message in reversed(history):
        if tells_of_switch(message):
            break
        turns += message.role == "user"
    return turns


def tells_of_switch(message: Message) -> bool:
    """Whether it tells the model that tools came or went."""
    return message.role == "notice" and any(line.startswith((_OFF, _ON, _NEW)) for line in message.text.splitlines())


def _one_line(path: str) -> str:
    """A path as one line of UTF-8 text, whatever its directories are called."""
    return "".join(ascii(char)[1:-1] if category(char) in _NO_TEXT else char for char in path)


def _names(listed: str) -> list[str]:
    return listed.removesuffix(".").split(", ")
