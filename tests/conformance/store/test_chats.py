"""Chats: their description, their list, their turn and what follows from it."""

from openprogram.core.events import ErrorInfo, Notice, TurnFinished
from openprogram.core.ports import Store
from openprogram.core.storage import (
    NOTES_KEPT,
    AddNote,
    EndTurn,
    Note,
    PutApproval,
    PutLoaded,
    PutMessage,
    PutSession,
    ResolveApproval,
    SessionRow,
    SetLeaf,
    StartTurn,
)
from openprogram.core.surface import PutSurface, Surface
from tests.support.store_values import (
    EPOCH,
    USER,
    HandClock,
    approval,
    delta,
    info,
    message,
    new_chat,
)


async def row_of(store: Store, session_id: str = "s_1") -> SessionRow:
    row = await store.session(session_id)
    assert row is not None
    return row


async def listed(store: Store, **query: object) -> list[str]:
    return [chat.id for chat in await store.sessions(USER, **query)]  # type: ignore[arg-type]


async def test_a_new_chat_is_as_it_was_described(store: Store) -> None:
    described = info(title="Plans", pinned=True, model="e/m", permission_mode="auto", workspace="/w", leaf_id="m_0")
    await store.commit("s_1", [], [PutSession(described, USER)])

    assert await row_of(store) == SessionRow(described, USER)


async def test_a_new_description_replaces_the_old_one(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(title="old", model="e/old", workspace="/old")])
    changed = info(title="new", updated_at="2026-01-02T00:00:00.000Z", pinned=True, permission_mode="auto")
    await store.commit("s_1", [], [PutSession(changed, USER)])

    assert (await row_of(store)).info == changed


async def test_a_description_changes_neither_owner_nor_leaf_nor_turn_and_hides_no_chat(store: Store) -> None:
    await store.commit("s_1", [delta()], [new_chat(), PutMessage(message()), SetLeaf("m_1"), StartTurn("t_1")])
    before = await row_of(store)
    stale = new_chat(user_id="u_2", title="renamed", leaf_id=None, visible=False, status="idle")
    await store.commit("s_1", [], [stale])

    after = await row_of(store)
    assert after.info.title == "renamed"
    assert (after.user_id, after.turn_id, after.turn_seq) == (USER, "t_1", before.turn_seq)
    assert (after.info.leaf_id, after.info.visible, after.info.status) == ("m_1", True, "running")


async def test_a_draft_is_in_no_list_until_its_first_message(store: Store, clock: HandClock) -> None:  # T6
    await store.commit("s_1", [], [new_chat()])
    assert await listed(store) == []

    clock.now = EPOCH + 60
    await store.commit("s_1", [], [PutMessage(message())])
    (chat,) = await store.sessions(USER)
    assert (chat.id, chat.visible, chat.updated_at) == ("s_1", True, "2026-01-01T00:01:00.000Z")


async def test_chats_are_listed_newest_first_in_pages(store: Store, clock: HandClock) -> None:
    for number in range(5):
        clock.now = EPOCH + number
        await store.commit(f"s_{number}", [], [new_chat(f"s_{number}"), PutMessage(message(f"m_{number}"))])
    clock.now = EPOCH + 10
    await store.commit("s_1", [], [PutMessage(message("m_new"))])

    assert await listed(store) == ["s_1", "s_4", "s_3", "s_2", "s_0"]
    page = await store.sessions(USER, limit=2)
    assert [chat.id for chat in page] == ["s_1", "s_4"]
    assert await listed(store, limit=2, before=(page[-1].updated_at, page[-1].id)) == ["s_3", "s_2"]


async def test_pages_skip_no_chat_of_the_same_moment(store: Store) -> None:
    for number in range(5):
        await store.commit(f"s_{number}", [], [new_chat(f"s_{number}"), PutMessage(message(f"m_{number}"))])

    found: list[str] = []
    before: tuple[str, str] | None = None
    while page := await store.sessions(USER, limit=2, before=before):
        found += [chat.id for chat in page]
        before = (page[-1].updated_at, page[-1].id)
    assert found == ["s_4", "s_3", "s_2", "s_1", "s_0"]


async def test_a_user_sees_only_own_chats(store: Store) -> None:  # R12
    await store.commit("s_1", [], [new_chat("s_1", USER), PutMessage(message("m_1"))])
    await store.commit("s_2", [], [new_chat("s_2", "u_2"), PutMessage(message("m_2"))])

    assert await listed(store) == ["s_1"]
    assert [chat.id for chat in await store.sessions("u_2")] == ["s_2"]


async def test_a_deleted_chat_keeps_all_and_comes_back(store: Store) -> None:
    await store.commit("s_1", [delta()], [new_chat(), PutMessage(message())])
    await store.commit("s_1", [], [new_chat(deleted=True)])
    assert await listed(store) == []
    assert await listed(store, deleted=True) == ["s_1"]
    assert (await row_of(store)).info.deleted

    await store.commit("s_1", [], [new_chat()])
    assert await listed(store) == ["s_1"]
    assert await listed(store, deleted=True) == []
    assert len(await store.events("s_1", 0)) == 1
    assert await store.messages("s_1", ["m_1"]) == (message(),)


async def test_the_status_follows_from_turn_and_approvals(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(status="running")])
    assert (await row_of(store)).info.status == "idle"
    for write, status in (
        (StartTurn("t_1"), "running"),
        (PutApproval(approval("a_1")), "waiting"),
        (ResolveApproval("a_1", "once", None), "running"),
        (EndTurn(TurnFinished("t_1", "done")), "idle"),
    ):
        await store.commit("s_1", [], [write])
        assert (await row_of(store)).info.status == status


async def test_a_turn_is_unfinished_from_its_first_event_until_its_end(store: Store) -> None:
    await store.commit("s_1", [delta()], [new_chat()])
    await store.commit("s_1", [delta(), delta()], [StartTurn("t_1")])
    row = await row_of(store)
    assert (row.turn_id, row.turn_seq, row.last_seq) == ("t_1", 2, 3)
    assert await store.unfinished() == (row,)

    await store.commit("s_1", [], [EndTurn(TurnFinished("t_1", "done"))])
    row = await row_of(store)
    assert (row.turn_id, row.turn_seq) == (None, None)
    assert await store.unfinished() == ()


async def test_a_turn_that_is_started_again_keeps_its_first_event(store: Store) -> None:
    await store.commit("s_1", [delta()], [new_chat()])
    await store.commit("s_1", [delta()], [StartTurn("t_1")])
    await store.commit("s_1", [delta()], [StartTurn("t_1")])
    row = await row_of(store)
    assert (row.turn_id, row.turn_seq, row.last_seq) == ("t_1", 2, 3)

    await store.commit("s_1", [delta()], [StartTurn("t_2")])
    assert (await row_of(store)).turn_seq == 4


async def test_the_end_of_another_turn_does_not_end_the_running_one(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(), StartTurn("t_2")])
    await store.commit("s_1", [], [EndTurn(TurnFinished("t_1", "done"))])

    assert (await row_of(store)).turn_id == "t_2"


async def test_the_surface_is_kept_as_it_was_shown(store: Store) -> None:
    first = Surface("e/m", 1, ({"name": "read", "parameters": {"a": [1, 2.5, None]}},), ("bash",), "d", 1.5)
    await store.commit("s_1", [], [new_chat(), PutSurface(first)])
    assert (await row_of(store)).surface == first

    second = Surface("e/m", 2, (), (), "d2", 2.5)
    await store.commit("s_1", [], [PutSurface(second)])
    assert (await row_of(store)).surface == second


async def test_the_loaded_set_is_kept_in_its_order(store: Store) -> None:  # T22
    await store.commit("s_1", [], [new_chat()])
    assert (await row_of(store)).loaded == ()

    await store.commit("s_1", [], [PutLoaded(("weather", "apply_patch"))])
    assert (await row_of(store)).loaded == ("weather", "apply_patch")

    await store.commit("s_1", [], [PutLoaded(())])
    assert (await row_of(store)).loaded == ()


async def test_a_token_count_is_kept_as_it_was_first_given(store: Store) -> None:
    await store.put_token_counts({"a": 1, "b": 2})
    await store.put_token_counts({"b": 3, "c": 4})

    assert await store.token_counts(["a", "b", "c", "d"]) == {"a": 1, "b": 2, "c": 4}
    assert await store.token_counts([]) == {}


async def test_how_the_last_turn_ended_is_told_until_the_branch_goes_on(store: Store) -> None:
    ended = TurnFinished("t_1", "error", ErrorInfo("no_credit", "Nothing left."))
    await store.commit("s_1", [], [new_chat(), StartTurn("t_1"), EndTurn(ended)])
    assert (await row_of(store)).outcome == ended
    for gone_on in (StartTurn("t_2"), SetLeaf("m_1")):
        await store.commit("s_1", [], [StartTurn("t_1"), EndTurn(ended)])
        await store.commit("s_1", [], [gone_on])
        assert (await row_of(store)).outcome is None


async def test_the_newest_notes_are_kept_each_behind_its_message(store: Store) -> None:
    notes = [Notice("note", str(number)) for number in range(NOTES_KEPT + 1)]
    await store.commit("s_1", [], [new_chat(), AddNote(notes[0])])
    assert (await row_of(store)).notes == (Note(None, notes[0]),)

    await store.commit("s_1", [], [SetLeaf("m_1"), *map(AddNote, notes[1:])])
    assert (await row_of(store)).notes == tuple(Note("m_1", notice) for notice in notes[1:])
