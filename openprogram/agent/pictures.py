"""How many pictures a chat holds: no more than a request can carry, for all of them go with each request.

It is decided before a picture is first sent: one that is too many becomes a text for good, and what was sent before
stays as it is (design law 4).
"""

from collections.abc import Iterable
from typing import Final

from openprogram.core.messages import ImageBlock, Message, ResultPart, TextBlock, ToolResultBlock

MAX_PICTURES: Final = 90
"""Pictures of one branch. Anthropic refuses a request with more than 100 to a model of 200,000 tokens; a turn that is
closed by another process may add a few."""
MAX_BASE64: Final = 20_000_000
"""Their characters. Anthropic refuses requests beyond 32 MB, of which the rest of the chat needs its share."""


class PictureRoom:
    """The room for pictures behind a branch and the results that it is about to get."""

    def __init__(self, messages: Iterable[Message], results: Iterable[ToolResultBlock] = ()) -> None:
        self._pictures = 0
        self._size = 0
        for message in messages:
            self._count(message.results)
        self._count(results)

    def admitted(self, content: tuple[ResultPart, ...]) -> tuple[ResultPart, ...]:
        """A result's content, with a text in place of each picture for which there is no room."""
        return tuple(self._admit(part) if isinstance(part, ImageBlock) else part for part in content)

    def _admit(self, picture: ImageBlock) -> ResultPart:
        if self._pictures >= MAX_PICTURES or self._size + len(picture.data) > MAX_BASE64:
            return TextBlock(
                f"{picture.text} (Not shown: this chat holds {self._pictures} pictures, and requests carry no more. "
                "Do not try again; tell the user that a new chat can look at it.)"
            )
        self._add(picture)
        return picture

    def _count(self, results: Iterable[ToolResultBlock]) -> None:
        for result in results:
            for part in result.content:
                if isinstance(part, ImageBlock):
                    self._add(part)

    def _add(self, picture: ImageBlock) -> None:
        self._pictures += 1
        self._size += len(picture.data)
