"""A result never outgrows its limit, and is text that JSON can carry."""

from dataclasses import replace
from typing import Final

from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.messages import ImageBlock, ResultPart, TextBlock
from openprogram.core.tooling import Execute, ToolContext, ToolOutput

MAX_IMAGE: Final = 4_500_000
"""Base64 characters of a picture; providers take 5 MB."""

_HEAD_SHARE: Final = 0.7
"""Most of what is kept comes from the beginning; errors tend to stand at the end."""


def with_bounds(execute: Execute, characters: int) -> Execute:
    """Cut the text of a result to so many characters, saying how much is left out and how to get it."""

    async def bounded(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        output = await execute(arguments, context)
        return replace(output, content=_bound(output.content, characters))

    return bounded


def _bound(content: tuple[ResultPart, ...], characters: int) -> tuple[ResultPart, ...]:
    kept: list[ResultPart] = []
    room = characters
    for part in content:
        if isinstance(part, ImageBlock):
            kept.append(part if len(part.data) <= MAX_IMAGE else TextBlock("[a picture that is too large to be shown]"))
            continue
        text = scrub(part.text)
        kept.append(replace(part, text=text if len(text) <= room else shorten(text, room)))
        room = max(0, room - len(text))
    return tuple(kept)


def shorten(text: str, characters: int) -> str:
    """The beginning and end of a text, about so many characters, with a note in place of the middle."""
    head = round(characters * _HEAD_SHARE)
    tail = characters - head
    left_out = len(text) - characters
    note = (
        f"[{left_out:,} characters left out here; ask for a part of it, such as a range, a path or a narrower pattern]"
    )
    return "\n".join(part for part in (text[:head], note, text[len(text) - tail :]) if part)
