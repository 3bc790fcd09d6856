"""How models count is kept over restarts, by every store."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.jsonio import JsonValue
from openprogram.core.ports import Store
from openprogram.tokens.calibration import HIGHEST, KEPT, LOWEST, MODELS, Calibration, Ratio
from tests.support.store_places import NewPlace, opened


async def test_what_was_learned_holds_after_a_restart(new_place: NewPlace) -> None:
    place = new_place()
    async with opened(place) as store:
        calibration = Calibration(store)
        await calibration.load()
        for reported in (13_500, 13_400, 13_700):
            assert await calibration.learn("e/heavy", 10_000, reported)
        await calibration.learn("e/exact", 10_000, 10_000)
    async with opened(place) as store:
        again = Calibration(store)
        assert again.ratio("e/heavy") == Ratio(1.0, 0)
        await again.load()
        assert again.ratio("e/heavy") == Ratio(1.35, 3)
        assert again.ratio("e/exact") == Ratio(1.0, 1)


async def test_it_is_no_setting_of_anybody(store: Store) -> None:
    calibration = Calibration(store)
    await calibration.learn("e/m", 10_000, 12_000)
    assert await store.setting("u_ada", "token_ratios") is None


async def test_only_so_many_models_are_remembered(store: Store) -> None:
    calibration = Calibration(store)
    for number in range(MODELS + 1):
        await calibration.learn(f"e/{number}", 10_000, 12_000)
    await calibration.learn("e/1", 10_000, 12_000)
    await calibration.load()
    assert calibration.ratio("e/0").samples == 0
    assert calibration.ratio("e/1").samples == 2


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.just("e/m"), inner),
    max_leaves=20,
)


@given(json_values)
@settings(max_examples=50)
async def test_a_strange_row_is_not_believed(new_place: NewPlace, stored: JsonValue) -> None:
    async with opened(new_place()) as store:
        await store.put_setting("", "token_ratios", stored)
        calibration = Calibration(store)
        await calibration.load()
        known = calibration.ratio("e/m")
        assert LOWEST <= known.value <= HIGHEST
        assert known.samples <= KEPT


@pytest.mark.parametrize("reported", [None, 0, -5, 1, 4_000, 31_000, 10**15])
async def test_an_odd_number_teaches_nothing(store: Store, reported: int | None) -> None:
    calibration = Calibration(store)
    assert not await calibration.learn("e/m", 10_000, reported)
    assert calibration.ratio("e/m", 1.64) == Ratio(1.64, 0)


async def test_a_small_request_teaches_nothing(store: Store) -> None:
    calibration = Calibration(store)
    assert not await calibration.learn("e/m", 999, 1_350)
    assert not await calibration.learn("e/m", 0, 1_350)


@given(
    st.lists(st.floats(1.34, 1.36), min_size=KEPT, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 10**9)), max_size=4, unique_by=lambda odd: odd[0]),
)
@settings(max_examples=50)
async def test_it_converges_whatever_a_few_answers_claim(
    new_place: NewPlace, true: list[float], odd: list[tuple[int, int]]
) -> None:
    """Up to four of the nine that are kept may be any number at all."""
    reports = [round(10_000 * ratio) for ratio in true]
    for place, claimed in odd:
        reports.insert(min(place, len(reports)), claimed)
    async with opened(new_place()) as store:
        calibration = Calibration(store)
        for reported in reports:
            await calibration.learn("e/m", 10_000, reported)
        assert 1.339 <= calibration.ratio("e/m").value <= 1.361
