"""What belongs to users: remembered actions, settings; and what is swept away in time."""

import asyncio

import pytest
from hypothesis import given, settings

from openprogram.core.clock import iso_time
from openprogram.core.errors import Conflict, StorageError, UnknownSession
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue
from openprogram.core.ports import Store
from openprogram.core.storage import (
    AddGrant,
    Grant,
    PutApproval,
    PutIntent,
    PutMessage,
    PutQueue,
    PutUsage,
    Remembered,
    UsageRow,
)
from openprogram.core.usage import Usage
from tests.support.store_dump import dump
from tests.support.store_places import NewPlace, opened
from tests.support.store_values import (
    DAY_S,
    EPOCH,
    TIME,
    USER,
    HandClock,
    approval,
    delta,
    json_values,
    message,
    new_chat,
    queued,
    request,
)

NEVER = "2000-01-01T00:00:00.000Z"


async def test_an_action_is_remembered_once_however_often_it_is_sent(store: Store) -> None:  # P5
    await store.commit("s_1", [], [new_chat()])
    outcomes = await asyncio.gather(
        *(store.commit("s_1", [delta()], [request(digest=f"d{n}")]) for n in range(4)), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [tuple, Conflict, Conflict, Conflict]
    assert len(await store.events("s_1", 0)) == 1
    assert await store.remembered(USER, "c1") == Remembered("d0", request().ack)


async def test_client_ids_are_unique_per_user_not_per_chat(store: Store) -> None:
    await store.commit("s_1", [], [new_chat("s_1"), request("c1", USER, "mine")])
    await store.commit("s_2", [], [new_chat("s_2", "u_2"), request("c1", "u_2", "yours")])
    with pytest.raises(Conflict):
        await store.commit("s_2", [], [request("c1", USER)])

    mine, yours = await store.remembered(USER, "c1"), await store.remembered("u_2", "c1")
    assert mine is not None
    assert yours is not None
    assert (mine.digest, yours.digest) == ("mine", "yours")
    assert await store.remembered(USER, "c2") is None


async def test_after_a_day_an_action_is_forgotten_and_its_id_free(store: Store, clock: HandClock) -> None:  # P5
    await store.commit("s_1", [], [new_chat(), request(digest="old")])
    clock.now = EPOCH + DAY_S
    assert await store.remembered(USER, "c1") is not None
    with pytest.raises(Conflict):
        await store.commit("s_1", [], [request(digest="new")])

    clock.now = EPOCH + DAY_S + 1
    assert await store.remembered(USER, "c1") is None
    await store.commit("s_1", [], [request(digest="new")])
    assert await store.remembered(USER, "c1") == Remembered("new", request().ack)


@given(json_values)
@settings(max_examples=40)
async def test_a_setting_of_any_shape_comes_back_and_null_deletes_it(new_place: NewPlace, value: JsonValue) -> None:
    async with opened(new_place()) as store:
        await store.put_setting(USER, "theme", "before")
        await store.put_setting("u_2", "theme", "theirs")
        await store.put_setting(USER, "theme", value)
        assert await store.setting(USER, "theme") == value
        await store.put_setting(USER, "theme", None)
        assert await store.setting(USER, "theme") is None
        assert await store.setting("u_2", "theme") == "theirs"


async def test_a_setting_is_stored_with_its_request_or_not_at_all(store: Store) -> None:  # P5
    await store.put_setting(USER, "theme", "dark", request(digest="first"))
    await store.put_setting(USER, "theme", "light", request("c2"))
    outcomes = await asyncio.gather(
        store.put_setting(USER, "theme", "dark", request(digest="again")),
        store.put_setting(USER, "font", "large"),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [Conflict, type(None)]
    assert (await store.setting(USER, "theme"), await store.setting(USER, "font")) == ("light", "large")
    assert await store.remembered(USER, "c1") == Remembered("first", request().ack)


async def test_what_json_cannot_hold_is_refused_and_the_store_goes_on(store: Store) -> None:
    with pytest.raises(StorageError):
        await store.put_setting(USER, "theme", object())  # type: ignore[arg-type]
    await store.put_setting(USER, "theme", "dark")

    assert await store.setting(USER, "theme") == "dark"


async def test_old_drafts_are_swept_with_all_that_hangs_on_them(store: Store) -> None:  # T6
    writes = (
        PutIntent(ToolIntent(web_search=True), 0),
        PutApproval(approval()),
        AddGrant(Grant("bash", "*")),
        PutQueue((queued("q_1"),)),
        PutUsage(UsageRow("t_1", 1, "e/m", Usage(), None)),
    )
    nothing = await dump(store, ["s_1"])
    await store.commit("s_1", [delta()], [new_chat("s_1"), *writes])

    assert await store.sweep(drafts_before=TIME, requests_before=NEVER) == 0
    assert await store.sweep(drafts_before=iso_time(EPOCH + 1), requests_before=NEVER) == 1
    assert await dump(store, ["s_1"]) == nothing
    with pytest.raises(UnknownSession):
        await store.commit("s_1", [delta()])
    assert [event.seq for event in await store.commit("s_1", [delta()], [new_chat("s_1")])] == [1]


async def test_a_chat_with_a_message_is_never_swept(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(), PutMessage(message())])
    await store.commit("s_1", [], [new_chat(deleted=True)])

    assert await store.sweep(drafts_before="9999", requests_before=NEVER) == 0
    assert await store.messages("s_1", ["m_1"]) == (message(),)


async def test_old_requests_are_swept(store: Store, clock: HandClock) -> None:
    await store.commit("s_1", [], [new_chat(), request("c1")])
    clock.now = EPOCH + 60
    await store.commit("s_1", [], [request("c2")])

    assert await store.sweep(drafts_before=NEVER, requests_before=iso_time(EPOCH + 1)) == 1
    assert await store.remembered(USER, "c1") is None
    assert await store.remembered(USER, "c2") is not None


async def test_a_sweep_between_commits_leaves_no_orphans(store: Store) -> None:
    await store.commit("s_1", [], [new_chat()])
    _, swept, _ = await asyncio.gather(
        store.commit("s_1", [delta()]),
        store.sweep(drafts_before="9999", requests_before=NEVER),
        store.commit("s_1", [delta()]),
        return_exceptions=True,
    )

    assert swept == 1
    assert await store.session("s_1") is None
    assert await store.events("s_1", 0) == ()
