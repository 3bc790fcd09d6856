from pathlib import Path

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.bounds import shorten, with_bounds
from tests.support.tools import context


async def bounded(characters: int, *texts: str) -> list[str]:
    async def speak(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        return ToolOutput(tuple(map(TextBlock, texts)), "error", {"exit": 1})

    output = await with_bounds(speak, characters)({}, context(Path()))
    assert (output.status, output.display) == ("error", {"exit": 1})
    return [part.text for part in output.content]


async def test_what_fits_is_untouched() -> None:
    assert await bounded(4, "ab", "cd") == ["ab", "cd"]


async def test_the_beginning_and_the_end_are_kept_with_a_note_how_to_get_the_rest() -> None:
    (text,) = await bounded(100, "A" * 500 + "Z" * 500)

    assert text == (
        "A" * 70
        + "\n[900 characters left out here; ask for a part of it, such as a range, a path or a narrower pattern]\n"
        + "Z" * 30
    )


async def test_the_limit_is_for_all_parts_together() -> None:
    first, second, third = await bounded(10, "x" * 8, "y" * 20, "z" * 5)

    assert first == "x" * 8
    assert second.startswith("y\n[18 characters left out")
    assert third.startswith("[5 characters left out")


async def test_what_json_cannot_carry_is_replaced() -> None:
    assert await bounded(100, "a\udcffb") == ["a\ufffdb"]


def test_nothing_kept_is_only_the_note() -> None:
    assert shorten("abc", 0).startswith("[3 characters")
