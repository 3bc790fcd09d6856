"""Settings for the whole suite."""

import os
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

# No deadlines, and no complaint about examples that are slow to make: timing is not asserted in the suite. CI replays
# the same examples on every run; a failure that hypothesis finds on a developer's machine belongs in the test as an
# explicit @example.
UNHURRIED: Final = settings(deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.register_profile("local", UNHURRIED)
settings.register_profile("ci", UNHURRIED, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this suite."""
    parser.addoption(
        "--regenerate-goldens", action="store_true", help="write golden files anew (see tests/support/golden.py)"
    )
