"""Unnumbered news for one reader's sidebar. Hints may be lost: who missed some is told to list again."""

from collections.abc import Callable, Sequence
from typing import Final, get_args

from openprogram.core.protocol.codec import encode_frame
from openprogram.core.protocol.frames import HintFrame, HintKind
from openprogram.server.subscription import Frame

MAX_BUFFERED_HINTS: Final = 200

LIST_AGAIN: Final = tuple(Frame(0, encode_frame(HintFrame(hint=kind)).decode()) for kind in get_args(HintKind))
"""In place of hints that were dropped. A `session_changed` without a session means: any of them."""


class HintSubscription:
    """A reader of a user's hints; the same face as `Subscription`."""

    def __init__(
        self, *, wake: Callable[["HintSubscription"], None], detach: Callable[["HintSubscription"], None]
    ) -> None:
        self.closed = False
        self._wake = wake
        self._detach = detach
        self._buffer: list[Frame] = []
        self._dropped = False

    @property
    def pending(self) -> bool:
        """Whether `take` has something to give."""
        return bool(self._buffer)

    def offer(self, first_seq: int, last_seq: int, frames: Sequence[Frame], size: int) -> None:
        """Hints from the bus; their seqs mean nothing."""
        if len(self._buffer) + len(frames) > MAX_BUFFERED_HINTS:
            self._buffer.clear()
            self._dropped = True
        self._buffer.extend(frames)
        self._wake(self)

    def check(self) -> None:
        """Nothing to check: hints are in no log."""

    def take(self) -> Sequence[Frame]:
        """The hints that wait."""
        taken, self._buffer = self._buffer, []
        if self._dropped:
            self._dropped = False
            return (*LIST_AGAIN, *taken)
        return taken

    async def read(self) -> Sequence[Frame]:
        """Nothing: hints are in no log."""
        return ()

    def close(self) -> None:
        """No more hints."""
        self.closed = True
        self._buffer.clear()
        self._detach(self)
        self._wake(self)
