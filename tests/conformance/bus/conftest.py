"""Every test of this folder runs against every bus, and speaks to it through `core.ports.Bus` only.

A new implementation joins by a line in `tests/support/buses.py`.
"""

from collections.abc import AsyncIterator

import pytest

from openprogram.core.ports import Bus
from tests.support.buses import BUSES


@pytest.fixture(params=sorted(BUSES))
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    """A bus without subscribers."""
    bus = BUSES[request.param]()
    yield bus
    await bus.aclose()
