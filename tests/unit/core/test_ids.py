"""Identifiers: shaped, unique, and sorted by the time they were made."""

import time

import pytest

from openprogram.core.ids import is_id, new_id


def test_an_id_has_its_kind_and_shape() -> None:
    made = new_id("s")
    assert is_id(made, "s")
    assert not is_id(made, "m")
    assert len(made) == 28


@pytest.mark.parametrize(
    "text", ["", "s_", "s_" + "i" * 26, "s_" + "0" * 25, "s_" + "0" * 27, "S_" + "0" * 26, "s" * 28]
)
def test_what_is_no_id_is_told_apart(text: str) -> None:
    assert not is_id(text, "s")


def test_ids_are_unique() -> None:
    assert len({new_id("m") for _ in range(10_000)}) == 10_000


def test_ids_sort_by_the_millisecond_they_were_made_in(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(1_700_000_000_000, 1_700_000_000_300, 7))
    monkeypatch.setattr(time, "time_ns", lambda: next(moments) * 1_000_000)
    made = [new_id("t") for _ in range(40)]
    assert made == sorted(made)
