"""Anthropic Messages: pictures (A55 to A58)."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from PIL import Image, UnidentifiedImageError

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import child, objects, walk_messages

TABLE: Final = RuleTable()

MOST_BYTES: Final = 10 * 1024 * 1024
MOST_PIXELS: Final = 8000
MANY: Final = 20
MOST_PIXELS_OF_MANY: Final = 2000

_IN_IMAGE: Final = ".image.source.base64"
_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_SOURCE: Final = "Vision: request limits"


def _pictures(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every picture given as base64, those in tool results included, with its place."""
    for index, _, position, block in walk_messages(facts.body):
        where = f"messages.{index}.content.{position}"
        inner = [(f"{where}.content.{n}", part) for n, part in enumerate(objects(block.get("content")))]
        for place, part in ((where, block), *inner):
            source = child(part, "source")
            if part.get("type") == "image" and source.get("type") == "base64":
                yield f"{place}{_IN_IMAGE}", source


@TABLE.rule("A55", "a picture is JPEG, PNG, GIF or WebP, and says so", _SOURCE)
def _media_type(facts: Facts) -> Violation | None:
    for where, source in _pictures(facts):
        if source.get("media_type") not in _TYPES:
            expected = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
            return Violation(f"{where}.media_type: Input should be {expected}")
        if not isinstance(source.get("data"), str):
            return Violation(f"{where}.data: Field required")
    return None


@TABLE.rule("A56", "a picture has at most 10 MB as base64", _SOURCE)
def _bytes(facts: Facts) -> Violation | None:
    for where, source in _pictures(facts):
        size = len(source["data"])
        if size > MOST_BYTES:
            return Violation(f"{where}: image exceeds 10 MB maximum: {size} bytes > {MOST_BYTES} bytes")
    return None


@TABLE.rule("A57", "a picture can be read", _SOURCE)
def _readable(facts: Facts) -> Violation | None:
    for _, source in _pictures(facts):
        if _dimensions(source["data"]) is None:
            return Violation("Could not process image")
    return None


@TABLE.rule("A58", "a picture is at most 8,000 pixels wide and high, 2,000 where there are more than 20", _SOURCE)
def _pixels(facts: Facts) -> Violation | None:
    pictures = list(_pictures(facts))
    many = len(pictures) > MANY
    most = MOST_PIXELS_OF_MANY if many else MOST_PIXELS
    which = " for many-image requests" if many else ""
    large = [where for where, source in pictures if max(_dimensions(source["data"]) or (0, 0)) > most]
    if not large:
        return None
    return Violation(
        f"{large[0]}.data: At least one of the image dimensions exceed max allowed size{which}: {most} pixels",
        code="image_dimensions_too_large",
        details={"max_side_length_pixels": most, "paths": [where.removesuffix(_IN_IMAGE) for where in large]},
    )


def _dimensions(data: str) -> tuple[int, int] | None:
    """Width and height, read from the head of the file alone; `None` where it is no picture."""
    try:
        with Image.open(BytesIO(b64decode(data, validate=True))) as picture:
            return picture.size
    except (Base64Error, ValueError, UnidentifiedImageError, OSError, SyntaxError):
        return None
