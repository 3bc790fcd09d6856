"""The benchmark's requests before a linter that was not written here: where it sees a break of the prefix, the
inspector has named the same place (spec cache.md C22)."""

from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

import aiohttp
import pytest
import pytest_asyncio
from _measure import NAIVE, SEED, WHERE, Fake, replay
from _replay import Chat
from _script import scripted
from _traces import Session

from openprogram.ledger.inspect import Inspected
from tests.support.fake import FakeApi, fake_api
from tests.support.linter import Spot, breaks, linted, spots
from tests.support.replays import made_up, recorded

pytestmark = pytest.mark.asyncio(loop_scope="module")

SESSIONS: Final[dict[str, Callable[[], Session]]] = {"made up": made_up, "recorded": recorded}
MOVES: Final = "the naive policy declares anew for each request, and `append` grows the array"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fake() -> AsyncIterator[FakeApi]:
    async with fake_api(moves=MOVES) as running:
        yield running


async def replayed(fake: FakeApi, session: Session, strategy: str, home: Path) -> tuple[Chat, list[Spot | None]]:
    """The session with the seeded script; and where the linter says that each request parts from the one before."""
    async with aiohttp.ClientSession() as http:
        control = Fake(fake.base_url, http)
        chat = await replay(control, session, strategy, scripted(session, SEED), home)
        records = await control.requests(bodies=True)
    api, _ = WHERE[strategy]
    report = linted(api, records, usage=False)
    found = spots(report, [record["body"] for record in records])
    assert [number for number, spot in enumerate(found) if spot] == breaks(report)
    return chat, found


def named(step: Inspected) -> Spot | None:
    """The inspector's place in the linter's terms."""
    return None if step.place is None else Spot(step.place.section, step.place.index)


@pytest.mark.parametrize("session", SESSIONS.values(), ids=SESSIONS)
@pytest.mark.parametrize("strategy", WHERE)
async def test_the_inspector_names_every_break_that_the_linter_sees_at_the_same_place(
    fake: FakeApi, tmp_path: Path, strategy: str, session: Callable[[], Session]
) -> None:
    chat, found = await replayed(fake, session(), strategy, tmp_path)
    inspected = chat.inspected()
    assert len(found) == len(inspected)
    for number, (spot, step) in enumerate(zip(found, inspected, strict=True)):
        assert spot is None or spot == named(step), f"request {number}"
        assert spot is None or step.cause is not None, f"request {number} broke for no cause"


@pytest.mark.parametrize("strategy", WHERE)
async def test_only_a_discovery_that_grows_the_array_breaks_the_prefix(
    fake: FakeApi, tmp_path: Path, strategy: str
) -> None:  # C2, C3, C5, C6, C10: toggles, presets, plan mode, flaps, a restart
    chat, found = await replayed(fake, made_up(), strategy, tmp_path)
    broken = [number for number, spot in enumerate(found) if spot]
    grown = [n for n, (a, b) in enumerate(pairwise(chat.requests), start=1) if len(b.loaded) > len(a.loaded)]
    switched = [number for number, sent in enumerate(chat.requests) if sent.switched]
    assert len(switched) >= 4
    if strategy == NAIVE:
        assert len(grown) >= 4
        assert {*grown} < {*broken}
        assert {*switched} & {*broken}
    else:
        assert broken == (grown if strategy == "append" else [])
        assert (len(grown) >= 4) == (strategy != "frozen")
