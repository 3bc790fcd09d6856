"""A picture made fit for a model, in a process of its own (`isolated`).

Run as a script with the file as standard input:

    python -I image_scale.py LONGEST_EDGE MAX_BYTES [LEFT TOP WIDTH HEIGHT] < picture

It writes one line of JSON, `{"format", "width", "height", "media_type", "shown": [width, height]}`, and after it the
bytes of the new picture; or `{"problem": "..."}` alone. Turned as its camera says, without metadata (it may tell where
someone lives), the first frame of a moving one. It imports nothing of this program.
"""

import io
import json
import resource
import sys
import warnings
from typing import Any, Final

from PIL import Image, ImageOps

MAX_PIXELS: Final = 100_000_000
FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")

_CPU_S: Final = 40
_MEMORY: Final = 3_000_000_000
_QUALITY: Final = (85, 70, 50, 30)


def main() -> None:
    """Read the picture at standard input and write it anew."""
    _limit()
    longest, most, *region = map(int, sys.argv[1:])
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        report, data = _scaled(longest, most, region)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        report, data = {"problem": f"it has more than {MAX_PIXELS:,} pixels"}, b""
    except (OSError, ValueError, SyntaxError, EOFError):  # their texts are Python's, of no use to who has the file
        report, data = {"problem": "it is damaged, or none of the formats that can be shown"}, b""
    sys.stdout.buffer.write(json.dumps(report).encode() + b"\n" + data)


def _scaled(longest: int, most: int, region: list[int]) -> tuple[dict[str, Any], bytes]:
    image: Image.Image = Image.open(sys.stdin.buffer, formats=FORMATS)
    kind = image.format
    original = _turned_size(image)
    if not region:
        image.draft("RGB", (longest, longest))  # a JPEG is decoded at about the size that is wanted
    picture = ImageOps.exif_transpose(image)
    if region:
        left, top, width, height = region
        right, bottom = min(left + width, picture.width), min(top + height, picture.height)
        if left >= right or top >= bottom:
            return {"problem": f"that region is outside of its {picture.width} x {picture.height} pixels"}, b""
        picture = picture.crop((left, top, right, bottom))
    picture = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    media_type, data = _encoded(picture, kind or "", most)
    report = {
        "format": kind,
        "width": original[0],
        "height": original[1],
        "media_type": media_type,
        "shown": picture.size,
    }
    return report, data


def _turned_size(image: Image.Image) -> tuple[int, int]:
    """The size as it is once turned."""
    width, height = image.size
    return (height, width) if image.getexif().get(0x0112, 1) >= 5 else (width, height)


def _encoded(picture: Image.Image, kind: str, most: int) -> tuple[str, bytes]:
    """PNG where the picture was drawn, JPEG where it was photographed or would be too large."""
    if kind in ("PNG", "GIF") or picture.mode == "RGBA":
        out = io.BytesIO()
        picture.save(out, "PNG", optimize=True)
        if out.tell() <= most:
            return "image/png", out.getvalue()
    flat = picture
    if picture.mode == "RGBA":
        flat = Image.new("RGB", picture.size, "white")
        flat.paste(picture, mask=picture.getchannel("A"))
    data = b""
    for quality in _QUALITY:
        out = io.BytesIO()
        flat.save(out, "JPEG", quality=quality)
        data = out.getvalue()
        if len(data) <= most:
            break
    return "image/jpeg", data


def _limit() -> None:
    """Bounds by the system, below those that it has set already. (macOS refuses one on memory.)"""
    bounds = [(resource.RLIMIT_CPU, _CPU_S)]
    if sys.platform == "linux":
        bounds.append((resource.RLIMIT_AS, _MEMORY))
    for kind, bound in bounds:
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > bound:
            resource.setrlimit(kind, (bound, hard))


if __name__ == "__main__":
    main()
