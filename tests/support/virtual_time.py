"""An event loop whose clock moves only when all that is ready is done: timers fire in their order, and at once."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from typing_extensions import override

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Does not wait for a timer: moves the clock to it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0:
            self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time begins at 0 and passes without waiting. A test that waits for nothing at all hangs, as it should."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        self._clock_resolution = 1e-9

    @override
    def time(self) -> float:
        return self._virtual.now


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` on a loop of virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
