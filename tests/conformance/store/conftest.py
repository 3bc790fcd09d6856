"""Every test of this folder runs against every store, and speaks to it through `core.ports.Store` only.

A new implementation joins by a line in `tests/support/store_places.py`.
"""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from openprogram.core.ports import Store
from tests.support.store_places import PLACES, NewPlace, Place, opened
from tests.support.store_values import HandClock


@pytest.fixture(scope="session", params=sorted(PLACES))
def new_place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewPlace:
    """Makes an empty place; any number of times, since each of hypothesis's examples needs its own."""
    make, folder = PLACES[request.param], tmp_path_factory.mktemp("places")

    def new() -> Place:
        return make(Path(tempfile.mkdtemp(dir=folder)))

    return new


@pytest.fixture
def clock() -> HandClock:
    """The clock of `store`."""
    return HandClock()


@pytest.fixture
async def store(new_place: NewPlace, clock: HandClock) -> AsyncIterator[Store]:
    """An empty store."""
    async with opened(new_place(), clock) as store:
        yield store
