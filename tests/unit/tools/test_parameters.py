"""What a model is told of parameters, and how its arguments are read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Le, MaxLen

from openprogram.core.errors import BadArguments
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.tools.decorator import tool
from tests.support.tools import context


@dataclass(frozen=True)
class Task:
    text: str
    state: Literal["open", "done"] = "open"


@tool(readonly=True, parallel_safe=True, presets=("coding",), residency="resident")
async def read(context: ToolContext, path: str, offset: Annotated[int, Ge(1)] = 1, limit: int | None = None) -> str:
    """Read a text file.

    Lines are numbered
    from one.

    Args:
        path: relative to the workspace
        offset: first line
        limit: how many lines
    """
    return f"{path} {offset!r} {limit!r}"


@tool(name="everything", permission="network")
async def everything_(
    context: ToolContext,
    kind: Literal["a", "b"],
    ratio: Annotated[float, Ge(0), Le(1)],
    tags: list[str] = [],  # noqa: B006 - read only
    tasks: list[Task] | None = None,
    where: str | int = "here",
    extra: dict[str, Any] | None = None,
    deep: bool = False,
    one: Literal["only"] = "only",
    note: Annotated[str, MaxLen(3)] | None = None,
) -> ToolOutput | str:
    """Take everything.

    Args:
        kind: a or b
        ratio: share
        tags: words
        tasks: list of tasks
        where: place
        extra: more
        deep: whether
        one: constant
        note: short
    """
    return ToolOutput.text(repr((kind, ratio, tags, tasks, where, extra, deep, one, note)))


async def said(spec: ToolSpec, arguments: JsonObject) -> str:
    output = await spec.execute(arguments, context(Path()))
    (part,) = output.content
    return part.text


def test_every_kind_of_parameter_has_a_schema() -> None:
    properties = everything_.parameters["properties"]
    task = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "state": {"type": "string", "enum": ["open", "done"], "default": "open"},
        },
        "required": ["text"],
    }

    assert properties == {
        "kind": {"type": "string", "description": "a or b", "enum": ["a", "b"]},
        "ratio": {"type": "number", "description": "share", "maximum": 1.0, "minimum": 0.0},
        "tags": {"type": "array", "description": "words", "default": [], "items": {"type": "string"}},
        "tasks": {"type": "array", "description": "list of tasks", "items": task},
        "where": {"description": "place", "default": "here", "anyOf": [{"type": "string"}, {"type": "integer"}]},
        "extra": {"type": "object", "description": "more", "additionalProperties": True},
        "deep": {"type": "boolean", "description": "whether", "default": False},
        "one": {"type": "string", "description": "constant", "enum": ["only"], "default": "only"},
        "note": {"type": "string", "description": "short", "maxLength": 3},
    }
    assert everything_.parameters["required"] == ["kind", "ratio"]
    assert everything_.network


async def test_arguments_arrive_typed_and_defaults_are_the_functions_own() -> None:
    assert await said(read, {"path": "a", "offset": 3}) == "a 3 None"
    text = await said(everything_, {"kind": "a", "ratio": 1, "tasks": [{"text": "x"}]})
    assert text == "('a', 1.0, [], [Task(text='x', state='open')], 'here', None, False, 'only', None)"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({"path": "a", "offset": "5"}, "a 5 None", id="number in quotes"),
        pytest.param({"path": "a", "offset": 5.0}, "a 5 None", id="whole float"),
        pytest.param({"path": "a", "offset": None}, "a 1 None", id="null for the default"),
        pytest.param({"path": "a", "limit": None}, "a 1 None", id="null that is a value"),
    ],
)
async def test_habits_of_models_are_forgiven(arguments: JsonObject, text: str) -> None:
    assert await said(read, arguments) == text


async def test_a_list_sent_as_a_string_of_json_is_a_list() -> None:
    text = await said(everything_, {"kind": "b", "ratio": 0, "tags": '["x"]', "extra": '{"k": 1}'})

    assert text == "('b', 0.0, ['x'], None, 'here', {'k': 1}, False, 'only', None)"


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        ({}, "path", "missing; it is required (string)"),
        ({"path": 5}, "path", "valid string (got 5)"),
        ({"path": None}, "path", "valid string (got null)"),
        ({"path": "a", "offset": 0}, "offset", "greater than or equal to 1 (got 0)"),
        ({"path": "a", "offset": "two"}, "offset", 'valid integer, unable to parse string as an integer (got "two")'),
        ({"path": "a", "ofset": 2}, "ofset", "no such argument (there are: path, offset, limit)"),
    ],
)
async def test_what_does_not_fit_names_the_argument_and_what_was_expected(
    arguments: JsonObject, field: str, words: str
) -> None:
    with pytest.raises(BadArguments) as caught:
        await read.execute(arguments, context(Path()))

    assert caught.value.field == field
    assert words in caught.value.message
    assert "`read`; nothing was done" in caught.value.message


async def test_a_fault_inside_a_value_names_the_place() -> None:
    with pytest.raises(BadArguments) as caught:
        await everything_.execute({"kind": "a", "ratio": 0, "tasks": [{"state": "x"}]}, context(Path()))

    # pydantic tells the branch of a union apart from the index only by its place in the path
    assert caught.value.field == "tasks.0.text"


async def test_many_faults_are_told_at_once_and_bounded() -> None:
    with pytest.raises(BadArguments) as caught:
        await everything_.execute({f"x{i}": 1 for i in range(9)}, context(Path()))

    assert caught.value.message.count("\n- ") == 6
    assert caught.value.message.endswith("and 6 more")


async def test_a_huge_value_is_not_repeated_whole() -> None:
    with pytest.raises(BadArguments) as caught:
        await everything_.execute({"kind": "z" * 10_000, "ratio": 0}, context(Path()))

    assert len(caught.value.message) < 400


def test_validation_alone_says_the_same_and_runs_nothing() -> None:
    assert read.validate is not None
    read.validate({"path": "a"})
    with pytest.raises(BadArguments):
        read.validate({"path": 1})


def test_the_schema_is_json_and_not_shared_between_declarations() -> None:
    assert json.loads(json.dumps(everything_.parameters)) == everything_.parameters


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_default_that_json_cannot_hold_is_no_declaration(number: float) -> None:
    async def far(context: ToolContext, distance: float = number) -> str:
        """Go.

        Args:
            distance: How far
        """
        return f"{distance}"

    with pytest.raises(TypeError, match="`distance` has NaN or an infinity at default"):
        tool()(far)
