"""`image_view`: real pictures, scaled to what models take; bombs, broken and foreign files are refused."""

import struct
import zlib
from base64 import b64decode
from io import BytesIO

import pytest
from PIL import Image

from openprogram.core.messages import ImageBlock
from openprogram.core.tooling import ToolOutput
from openprogram.tools.bounds import MAX_IMAGE, with_bounds
from openprogram.tools.builtin.image_view import LONGEST_EDGE, MAX_BYTES, image_view
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def call(tmp_path):
    return Caller(tmp_path)


def block_of(output: ToolOutput) -> ImageBlock:
    (block,) = [part for part in output.content if isinstance(part, ImageBlock)]
    return block


def picture_of(output: ToolOutput) -> Image.Image:
    """What a model would see, decoded."""
    block = block_of(output)
    picture = Image.open(BytesIO(b64decode(block.data)))
    assert (picture.size, picture.get_format_mimetype()) == ((block.width, block.height), block.media_type)
    return picture


def colour(picture: Image.Image, x: int, y: int) -> tuple[int, int, int]:
    """Red, green and blue of one pixel."""
    red, green, blue = picture.convert("RGB").crop((x, y, x + 1, y + 1)).tobytes()
    return red, green, blue


def halves(size: tuple[int, int], mode: str = "RGB") -> Image.Image:
    """Red on the left, blue on the right."""
    picture = Image.new(mode, size, "red")
    picture.paste("blue", (size[0] // 2, 0, *size))
    return picture


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.png", "image/png"), ("a.jpg", "image/jpeg"), ("a.webp", "image/jpeg"), ("a.gif", "image/png")],
)
async def test_each_format_is_shown(call, name, media_type):
    halves((64, 32)).save(call.workspace / name)
    output = await call(image_view, path=name)
    seen = picture_of(output)
    assert block_of(output).media_type == media_type
    assert seen.size == (64, 32)
    (red, _, left), (right, _, blue) = colour(seen, 8, 8), colour(seen, 56, 8)
    assert red > 200 > 60 > left
    assert blue > 200 > 60 > right
    kind = {"a.jpg": "JPEG"}.get(name, name[2:].upper())
    assert output.content[0].text == f"{name}: {kind}, 64 x 32 pixels"
    assert display_of(output) == {"path": name, "width": 64, "height": 32}


@pytest.mark.parametrize(("name", "options"), [("big.png", {}), ("big.jpg", {"quality": 95})])
async def test_a_large_picture_is_scaled_and_a_region_shows_details(call, name, options):  # R6
    picture = halves((8_000, 4_000))
    picture.putpixel((4_001, 100), (255, 255, 255))
    picture.save(call.workspace / name, **options)
    output = await call(image_view, path=name)
    assert picture_of(output).size == (LONGEST_EDGE, LONGEST_EDGE // 2)
    assert "8000 x 4000 pixels; shown as 1568 x 784" in text_of(output)
    output = await call(image_view, path=name, region=[3_990, 90, 20, 20])
    detail = picture_of(output)
    assert detail.size == (20, 20)
    assert min(colour(detail, 11, 10)) > 150
    assert text_of(output).startswith(f"{name}: {name[4:].replace('jpg', 'jpeg').upper()}, 8000 x 4000 pixels; region")


async def test_a_region_is_cut_at_the_edge_and_refused_beyond_it(call):
    halves((100, 50)).save(call.workspace / "a.png")
    output = await call(image_view, path="a.png", region=[90, 40, 50, 50])
    assert picture_of(output).size == (10, 10)
    message = await call.fails(image_view, path="a.png", region=[100, 0, 5, 5])
    assert message == "a.png cannot be shown: that region is outside of its 100 x 50 pixels."
    for region in ([1, 2, 3], [-1, 0, 5, 5], [0, 0, 5, 0]):
        assert await call.fails(image_view, path="a.png", region=region)


async def test_transparent_grey_and_deep_pictures_are_fine(call):
    Image.new("RGBA", (10, 10), (255, 0, 0, 0)).save(call.workspace / "clear.png")
    Image.new("L", (10, 10), 200).save(call.workspace / "grey.png")
    Image.new("I;16", (10, 10), 40_000).save(call.workspace / "deep.png")
    Image.new("CMYK", (10, 10)).save(call.workspace / "print.jpg")
    assert picture_of(await call(image_view, path="clear.png")).mode == "RGBA"
    for name in ("grey.png", "deep.png", "print.jpg"):
        assert picture_of(await call(image_view, path=name)).size == (10, 10)


async def test_a_photo_is_turned_as_its_camera_says_and_tells_nothing_else(call):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010F] = "Secret Camera"
    halves((40, 20)).save(call.workspace / "photo.jpg", exif=exif)
    output = await call(image_view, path="photo.jpg")
    assert picture_of(output).size == (20, 40)
    assert "20 x 40 pixels" in text_of(output)
    assert b"Secret" not in b64decode(block_of(output).data)


async def test_the_first_frame_of_a_moving_picture_is_shown(call):
    first, second = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")
    first.save(call.workspace / "move.gif", save_all=True, append_images=[second])
    red, _, blue = colour(picture_of(await call(image_view, path="move.gif")), 4, 4)
    assert red > 200 > 60 > blue


async def test_noise_is_made_to_fit(call):
    Image.effect_noise((LONGEST_EDGE, LONGEST_EDGE), 200).convert("RGB").save(call.workspace / "noise.png")
    output = await call(image_view, path="noise.png")
    assert block_of(output).media_type == "image/jpeg"
    assert len(b64decode(block_of(output).data)) <= MAX_BYTES


def png(width: int, height: int, data: bytes) -> bytes:
    """A PNG that claims a size, whatever its data is."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


async def test_a_bomb_is_refused_before_it_is_unpacked(call):
    packed = zlib.compress(bytes(10_000_000))
    for width, height in ((12_000, 12_000), (60_000, 60_000), (2**31 - 1, 2**31 - 1)):
        (call.workspace / "bomb.png").write_bytes(png(width, height, packed))
        message = await call.fails(image_view, path="bomb.png")
        assert "cannot be shown" in message
        assert "100,000,000 pixels" in message or "damaged" in message


async def test_what_is_no_picture_says_so(call, tmp_path):
    halves((64, 64)).save(call.workspace / "a.png")
    whole = (call.workspace / "a.png").read_bytes()
    (call.workspace / "text.png").write_text("words")
    (call.workspace / "half.png").write_bytes(whole[: len(whole) // 2])
    (call.workspace / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (call.workspace / "a.bmp").write_bytes(b"BM" + bytes(60))
    assert "is no picture that can be shown" in await call.fails(image_view, path="text.png")
    (call.workspace / "noise.png").write_bytes(whole[:8] + bytes(range(256)))
    (call.workspace / "broken.png").write_bytes(whole[:30] + b"\xff" * 300 + whole[330:])
    for name in ("half.png", "noise.png", "broken.png"):
        said = await call.fails(image_view, path=name)
        assert "cannot be shown: it is damaged" in said
        assert not {*"<>'"} & {*said}, said  # nothing of how Python writes its objects
    for name in ("a.svg", "a.bmp"):
        assert "is no picture that can be shown" in await call.fails(image_view, path=name)
    assert "does not exist" in await call.fails(image_view, path="gone.png")
    assert "outside" in await call.fails(image_view, path="../a.png")
    (call.workspace / "link.png").symlink_to("/etc/passwd")
    assert "outside" in await call.fails(image_view, path="link.png")


async def test_a_result_keeps_its_picture_unless_it_is_larger_than_anyone_takes(call):
    for size, kept in ((MAX_IMAGE, True), (MAX_IMAGE + 1, False)):
        image = ImageBlock("image/png", "A" * size, 1, 1)

        async def show(arguments: object, context: object, image: ImageBlock = image) -> ToolOutput:
            return ToolOutput((image,))

        output = await with_bounds(show, 10)({}, call.context())
        assert (output.content == (image,)) is kept
