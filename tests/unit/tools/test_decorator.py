"""The declarations of these tests are what a plug-in author writes."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from annotated_types import Ge

from openprogram.core.jsonio import JsonValue, encode
from openprogram.core.messages import TextBlock
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.decorator import tool
from tests.support.tools import context


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


def test_a_tool_is_declared_by_its_signature_and_docstring() -> None:
    assert read.name == "read"
    assert read.description == "Read a text file.\n\nLines are numbered from one."
    assert (read.readonly, read.parallel_safe, read.permission, read.network) == (True, True, "none", False)
    assert (read.presets, read.residency, read.source) == (("coding",), "resident", "builtin")


def test_the_declaration_is_these_bytes_for_ever() -> None:  # T11
    assert encode(read.declaration) == (
        b'{"name":"read","description":"Read a text file.\\n\\nLines are numbered from one.","parameters":'
        b'{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace"},'
        b'"offset":{"type":"integer","description":"first line","default":1,"minimum":1},'
        b'"limit":{"type":"integer","description":"how many lines"}},"required":["path"],'
        b'"additionalProperties":false}}'
    )


async def test_a_string_is_an_ok_result_and_an_output_is_passed_on() -> None:
    assert (await read.execute({"path": "a"}, context(Path()))) == ToolOutput((TextBlock("a 1 None"),))


async def bare(context: ToolContext) -> str:
    """Do it."""
    return ""


async def no_docstring(context: ToolContext) -> str:
    return ""


async def undescribed(context: ToolContext, a: int) -> str:
    """Do it."""
    return ""


async def stranger(context: ToolContext) -> str:
    """Do it.

    Args:
        b: not there
    """
    return ""


async def untyped(context: ToolContext, a) -> str:
    """Do it.

    Args:
        a: number
    """
    return ""


async def no_context(a: int) -> str:
    """Do it.

    Args:
        a: number
    """
    return ""


async def no_result(context: ToolContext) -> None:
    """Do it."""


async def starred(context: ToolContext, *a: int) -> str:
    """Do it.

    Args:
        a: numbers
    """
    return ""


async def bad_default(context: ToolContext, a: int = "1") -> str:  # type: ignore[assignment]
    """Do it.

    Args:
        a: number
    """
    return ""


async def no_json(context: ToolContext, a: Callable[[], int]) -> str:
    """Do it.

    Args:
        a: number
    """
    return ""


async def endless(context: ToolContext, a: JsonValue) -> str:
    """Do it.

    Args:
        a: anything
    """
    return ""


def blocking(context: ToolContext) -> str:
    """Do it."""
    return ""


BROKEN: dict[str, Any] = {
    "docstring": no_docstring,
    "`a` is not described": undescribed,
    "`b`, which is no parameter": stranger,
    "`a` has no type": untyped,
    "first parameter is not a ToolContext": no_context,
    "returns str, ToolOutput": no_result,
    "cannot be given by name": starred,
    "default of `a`": bad_default,
    "without a JSON form": no_json,
    "contains itself": endless,
    "not `async def`": blocking,
}


@pytest.mark.parametrize("words", BROKEN)
def test_a_declaration_that_would_mislead_a_model_fails_where_it_stands(words: str) -> None:
    with pytest.raises(TypeError) as caught:
        tool()(BROKEN[words])

    assert words in str(caught.value)
    assert "test_decorator.py:" in str(caught.value)


def test_a_tool_without_parameters_needs_no_args() -> None:
    assert tool()(bare).parameters == {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 65])
def test_a_name_that_no_provider_takes_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="is not 1 to 64 of"):
        tool(name=name)(bare)


def test_what_a_tool_writes_are_required_parameters_of_a_writing_tool() -> None:
    assert tool(permission="write", writes=("path",))(plain).writes == ("path",)
    with pytest.raises(TypeError, match="permission is 'write'"):
        tool(writes=("path",))(plain)
    for name in ("mode", "file"):
        with pytest.raises(TypeError, match=f"'{name}', which is no required parameter"):
            tool(permission="write", writes=(name,))(plain)


async def plain(context: ToolContext, path: str, mode: str = "w") -> str:
    """Write.

    Args:
        path: where
        mode: how
    """
    return path


def test_a_preset_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="no built-in preset 'codding'; there are default, full"):
        tool(presets=("coding", "codding"))(bare)


def test_a_tool_that_writes_is_not_readonly() -> None:
    with pytest.raises(TypeError, match="permission 'write' is not readonly"):
        tool(permission="write", readonly=True)(bare)
