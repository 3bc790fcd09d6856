"""Identifiers: shaped, unique, and sorted by the time they were made."""

import re
import time

import pytest

from openprogram.core.ids import new_id


def test_an_id_has_its_kind_and_shape() -> None:
    assert re.fullmatch(r"s_[0-9a-hjkmnp-tv-z]{26}", new_id("s"))


def test_ids_are_unique() -> None:
    assert len({new_id("m") for _ in range(10_000)}) == 10_000


def test_ids_sort_by_the_millisecond_they_were_made_in(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(1_700_000_000_000, 1_700_000_000_300, 7))
    monkeypatch.setattr(time, "time_ns", lambda: next(moments) * 1_000_000)
    made = [new_id("t") for _ in range(40)]
    assert made == sorted(made)
