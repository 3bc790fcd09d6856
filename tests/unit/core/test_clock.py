"""Time stamps as the protocol writes them."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.clock import iso_time


def test_a_time_stamp_is_utc_with_milliseconds() -> None:
    assert iso_time(1_767_225_600.0) == "2026-01-01T00:00:00.000Z"
    assert iso_time(1_767_225_600.9996) == "2026-01-01T00:00:00.999Z"


@given(st.floats(0, 4e9), st.floats(0, 4e9))
def test_time_stamps_sort_as_text(one: float, other: float) -> None:
    first, second = sorted((one, other))
    assert iso_time(first) <= iso_time(second)
    assert abs(datetime.fromisoformat(iso_time(one)).timestamp() - one) <= 0.001 + 1e-6
    assert datetime.fromisoformat(iso_time(one)).tzinfo == UTC
