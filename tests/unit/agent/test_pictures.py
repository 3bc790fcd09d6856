"""Pictures of a chat: never more than a request can carry, and what was sent stays as it is (law 4)."""

from openprogram.agent.pictures import MAX_BASE64, MAX_PICTURES, PictureRoom
from openprogram.core.messages import ImageBlock, Message, ResultPart, TextBlock, ToolResultBlock


def picture(size: int = 4) -> ImageBlock:
    return ImageBlock("image/png", "x" * size, 30, 20)


def results(*content: ResultPart) -> tuple[ToolResultBlock, ...]:
    return (ToolResultBlock("c_1", "ok", content),)


def answered(*content: ResultPart) -> Message:
    return Message("m_1", None, "tool", results(*content), "2026-01-01T00:00:00.000Z")


def kinds(content: tuple[ResultPart, ...]) -> list[str]:
    return [part.type for part in content]


def test_pictures_fill_the_room_and_the_next_one_is_a_text() -> None:
    before = [answered(TextBlock("seen"), picture()) for _ in range(MAX_PICTURES - 2)]
    room = PictureRoom(before, results(picture()))
    content = room.admitted((TextBlock("here"), picture(), picture()))
    assert kinds(content) == ["text", "image", "text"]
    assert content[-1].text.startswith("[a picture of 30 x 20 pixels] (Not shown: this chat holds 90 pictures")
    assert kinds(room.admitted((picture(),))) == ["text"]


def test_large_pictures_fill_it_sooner_and_a_small_one_still_fits() -> None:
    room = PictureRoom([answered(picture(MAX_BASE64 - 10))])
    assert kinds(room.admitted((picture(11), picture(10), picture(1)))) == ["text", "image", "text"]
