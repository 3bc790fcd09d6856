"""`todo`: the newest list in the history is the list."""

import pytest

from openprogram.core.jsonio import JsonValue
from openprogram.core.messages import CallStatus, Message, TextBlock, ToolResultBlock, ToolUseBlock
from openprogram.tools.builtin.todo import MAX_TASK, MAX_TASKS, Task, current_list, todo
from tests.support.tool_calls import Caller, display_of, text_of

TASKS: list[JsonValue] = [
    {"task": "Look", "status": "done"},
    {"task": "Change", "status": "in_progress"},
    {"task": "Test", "status": "pending"},
]


async def test_the_result_shows_the_whole_list(tmp_path):
    output = await Caller(tmp_path)(todo, tasks=TASKS)
    assert text_of(output) == "[x] Look\n[>] Change\n[ ] Test\n1 of 3 done."
    assert display_of(output) == {"tasks": TASKS}
    assert text_of(await Caller(tmp_path)(todo, tasks=[])) == "The list is empty now."


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([{"task": name, "status": "in_progress"} for name in "ab"], r"At most one task is in progress, here 2"),
        ([{"task": " ", "status": "done"}], "Task 1 has to be one line"),
        ([{"task": "a\nb", "status": "done"}], "Task 1 has to be one line"),
        ([{"task": "x" * (MAX_TASK + 1), "status": "done"}], "Task 1 has to be one line"),
        ([{"task": "x", "status": "pending"}] * (MAX_TASKS + 1), "50 tasks at most"),
        ([{"task": "x", "status": "maybe"}], "do not fit"),
        ([{"task": "x"}], "do not fit"),
        ("later", "do not fit"),
    ],
)
async def test_a_list_that_cannot_be_is_refused(tmp_path, tasks, said):
    assert said in await Caller(tmp_path).fails(todo, tasks=tasks)


def test_the_model_is_told_the_statuses():
    properties = todo.parameters["properties"]
    assert isinstance(properties, dict)
    assert properties["tasks"] == {
        "type": "array",
        "description": "All tasks in order, at most one of them in progress",
        "items": {
            "type": "object",
            "description": "One task.",
            "properties": {
                "task": {"type": "string"},
                "status": {"type": "string", "enum": ["pending", "in_progress", "done"]},
            },
            "required": ["task", "status"],
        },
    }


def step(number: int, tasks: JsonValue, status: CallStatus = "ok", name: str = "todo") -> list[Message]:
    use = ToolUseBlock(f"c_{number}", name, {"tasks": tasks})
    result = ToolResultBlock(use.call_id, status, (TextBlock("."),))
    return [
        Message(f"m_{number}a", None, "assistant", (use,), "2026-01-01T00:00:00.000Z"),
        Message(f"m_{number}b", None, "tool", (result,), "2026-01-01T00:00:00.000Z"),
    ]


def test_the_newest_call_that_went_well_is_the_list():
    one: JsonValue = [{"task": "one", "status": "pending"}]
    two: JsonValue = [{"task": "two", "status": "done"}]
    assert current_list([]) == ()
    assert current_list([*step(1, one), *step(2, two)]) == (Task("two", "done"),)
    assert current_list([*step(1, one), *step(2, two, "error"), *step(3, two, name="other")]) == (
        Task("one", "pending"),
    )
    assert current_list([*step(1, one), step(2, two)[0]]) == (Task("one", "pending"),)
    assert current_list(step(1, '[{"task": "one", "status": "pending"}]')) == (Task("one", "pending"),)
    assert current_list([*step(1, one), *step(2, [])]) == ()
    assert current_list(step(1, [{"title": "of an older version"}])) == ()
