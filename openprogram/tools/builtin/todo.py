"""`todo`: the model's list of tasks, written whole each time.

The list has no store of its own: the newest call that went well is the list. So it is where the model looks anyway, it
survives restarts with the history, belongs to its chat and to its branch of it (who edits an earlier message goes on
with the list of that moment), and no copy can contradict it. Who cuts the history (compaction) asks `current_list` for
what has to be said again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.messages import Message
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.decorator import tool

Status = Literal["pending", "in_progress", "done"]

NAME: Final = "todo"
MAX_TASKS: Final = 50
MAX_TASK: Final = 300
_SIGNS: Final[dict[Status, str]] = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}


@dataclass(frozen=True, slots=True)
class Task:
    """One task."""

    task: str
    status: Status


_TASKS: TypeAdapter[list[Task]] = TypeAdapter(list[Task])


@tool(name=NAME, readonly=True, residency="resident", presets=("coding", "research", "browser", "safe"))
async def todo(context: ToolContext, tasks: list[Task]) -> ToolOutput:
    """Keep track of the tasks of work in several steps (to-do). Replaces them all; update as soon as one is begun or
    done.

    Args:
        tasks: All tasks in order, at most one of them in progress
    """
    _check(tasks)
    counts = Counter(task.status for task in tasks)
    display: JsonObject = {"tasks": [{"task": task.task, "status": task.status} for task in tasks]}
    if not tasks:
        return ToolOutput.text("The list is empty now.", display=display)
    return ToolOutput.text(f"{shown(tasks)}\n{counts['done']} of {len(tasks)} done.", display=display)


def shown(tasks: Sequence[Task]) -> str:
    """The list as text, a line for each task."""
    return "\n".join(f"{_SIGNS[task.status]} {task.task}" for task in tasks)


def current_list(messages: Sequence[Message]) -> tuple[Task, ...]:
    """The list as the newest successful call on this branch left it; empty if there is none."""
    calls: dict[str, JsonValue] = {}
    current: JsonValue = []
    for message in messages:
        calls |= {call.call_id: call.arguments.get("tasks") for call in message.calls if call.name == NAME}
        for result in message.results:
            if result.status == "ok" and result.call_id in calls:
                current = calls[result.call_id]
    return _read(current)


def _read(value: JsonValue) -> tuple[Task, ...]:
    """Tasks out of a call's arguments, which may be JSON in a string; a list of an older shape counts as none."""
    try:
        return tuple(_TASKS.validate_json(value) if isinstance(value, str) else _TASKS.validate_python(value))
    except ValidationError:
        return ()


def _check(tasks: Sequence[Task]) -> None:
    if len(tasks) > MAX_TASKS:
        raise ToolFailure(f"The list may have {MAX_TASKS} tasks at most; put small ones together. Nothing was changed.")
    begun = [task.task for task in tasks if task.status == "in_progress"]
    if len(begun) > 1:
        names = ", ".join(repr(name[:40]) for name in begun[:3])
        raise ToolFailure(f"At most one task is in progress, here {len(begun)} are ({names}). Nothing was changed.")
    for number, task in enumerate(tasks, 1):
        if not task.task.strip() or "\n" in task.task or len(task.task) > MAX_TASK:
            raise ToolFailure(
                f"Task {number} has to be one line of 1 to {MAX_TASK} characters, not {task.task[:40]!r}. "
                "Nothing was changed."
            )
