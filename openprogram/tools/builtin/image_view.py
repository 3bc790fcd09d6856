"""`image_view`: a picture of the workspace, for a model to look at."""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ImageBlock, ImageType, TextBlock
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput
from openprogram.tools.builtin.isolated import TIMEOUT_S, take_apart
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.decorator import tool

LONGEST_EDGE: Final = 1_568
"""Pixels. The Messages API scales larger pictures down to about this itself; no current model refuses it."""
MAX_BYTES: Final = 1_500_000

_SCRIPT: Final = Path(__file__).with_name("image_scale.py")
_SIGNS: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"WEBP", b"GIF87a", b"GIF89a")

Region = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=4, max_length=4)]


@dataclass(frozen=True, slots=True)
class _Report:
    """What `image_scale` says of a picture: its size, and that of what is shown."""

    format: str = ""
    width: int = 0
    height: int = 0
    media_type: ImageType = "image/png"
    shown: tuple[int, int] = (0, 0)
    problem: str = ""


_REPORT: TypeAdapter[_Report] = TypeAdapter(_Report)


@tool(
    readonly=True,
    parallel_safe=True,
    presets=("coding", "research", "browser", "safe"),
    limits=ToolLimits(timeout_s=TIMEOUT_S + 5),
)
async def image_view(context: ToolContext, path: str, region: Region | None = None) -> ToolOutput:
    """Look at a picture (PNG, JPEG, WebP, GIF), such as a screenshot, photo or diagram. Large ones are scaled down.

    Args:
        path: File, relative to the workspace
        region: Only this part, to see details: left, top, width, height in pixels of the original
    """
    place = Roots.of(context).locate(path)
    arguments = [str(number) for number in (LONGEST_EDGE, MAX_BYTES, *(region or ()))]
    output = await take_apart(_SCRIPT, place, arguments, _SIGNS, "picture that can be shown (PNG, JPEG, WebP, GIF)")
    head, _, data = output.partition(b"\n")
    try:
        report = _REPORT.validate_json(head)
    except ValidationError as error:
        raise ToolFailure(f"{place.shown} is damaged, or larger inside than can be taken apart.") from error
    if report.problem:
        raise ToolFailure(f"{place.shown} cannot be shown: {report.problem}.")
    return _show(place, report, data, region)


def _show(place: Place, report: _Report, data: bytes, region: list[int] | None) -> ToolOutput:
    width, height = report.shown
    text = f"{place.shown}: {report.format}, {report.width} x {report.height} pixels"
    if region is not None:
        text += f"; region {', '.join(map(str, region))}"
    if (width, height) != ((report.width, report.height) if region is None else (region[2], region[3])):
        text += f"; shown as {width} x {height}"
    image = ImageBlock(report.media_type, b64encode(data).decode(), width, height)
    display: JsonObject = {"path": place.shown, "width": report.width, "height": report.height}
    return ToolOutput((TextBlock(text), image), display=display)
