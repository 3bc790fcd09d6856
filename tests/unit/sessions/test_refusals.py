"""What endpoints refused is remembered over restarts, and not for ever (cache.md C9)."""

from dataclasses import replace

from openprogram.core.jsonio import JsonValue
from openprogram.core.surface import Capability
from openprogram.sessions.refusals import REMEMBERED_S, Refusals
from tests.support.memory_store import MemoryState, MemoryStore
from tests.support.script import MODEL

CHANGING = replace(MODEL, capability=Capability(strategy="inline_changes", max_tools=7))


async def test_a_refusal_downgrades_the_endpoint_over_restarts() -> None:
    state, now = MemoryState(), [1000.0]
    first = Refusals(MemoryStore(state, lambda: now[0]), lambda: now[0])
    assert first.of(CHANGING) == CHANGING.capability
    await first.refused(CHANGING, "inline_changes")
    again = Refusals(MemoryStore(state, lambda: now[0]), lambda: now[0])
    await again.load()
    for known in (first, again):
        assert known.of(CHANGING) == Capability(strategy="append", max_tools=7, downgraded=True)
        assert known.of(replace(CHANGING, id="other/model")) == CHANGING.capability
        assert known.of(replace(CHANGING, capability=Capability(strategy="bridge"))) == Capability(strategy="bridge")
    now[0] += REMEMBERED_S
    assert again.of(CHANGING) == CHANGING.capability


async def test_what_cannot_be_read_is_no_refusal() -> None:
    store = MemoryStore(MemoryState(), lambda: 0.0)
    entries: JsonValue = {"fake/model": {"strategy": "magic", "at": 1}, "a": None, "b": {"strategy": "append"}}
    await store.put_setting("", "refused_strategies", entries)
    refusals = Refusals(store, lambda: 0.0)
    await refusals.load()
    assert refusals.of(CHANGING) == CHANGING.capability


async def test_a_refusal_holds_for_the_address_that_refused_and_for_no_other_of_its_name() -> None:  # C9
    here = replace(CHANGING, capability=replace(CHANGING.capability, endpoint="anthropic http://one"))
    there = replace(here, capability=replace(here.capability, endpoint="anthropic http://two"))
    store = MemoryStore(MemoryState(), lambda: 0.0)
    first, again = Refusals(store, lambda: 0.0), Refusals(store, lambda: 0.0)
    await first.refused(here, "inline_changes")
    await again.load()
    for known in (first, again):
        assert known.of(here).downgraded
        assert known.of(there) == there.capability


async def test_an_endpoint_that_refused_to_be_asked_of_its_cache_is_not_asked_over_restarts() -> None:  # C9
    asked, now = replace(MODEL, capability=Capability(diagnosis=True, endpoint="anthropic http://one")), [1000.0]
    store = MemoryStore(MemoryState(), lambda: now[0])
    first, again = Refusals(store, lambda: now[0]), Refusals(store, lambda: now[0])
    await first.refused_diagnosis(asked)
    await again.load()
    elsewhere = replace(asked, capability=replace(asked.capability, endpoint="anthropic http://two"))
    for known in (first, again):
        assert known.of(asked) == replace(asked.capability, diagnosis=False)
        assert known.of(elsewhere) == elsewhere.capability
    now[0] += REMEMBERED_S
    assert again.of(asked) == asked.capability
