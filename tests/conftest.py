"""Settings for the whole suite."""

import os

import pytest
from hypothesis import settings

# No deadlines: timing is not asserted in the suite. CI replays the same examples on every run; a failure that
# hypothesis finds on a developer's machine belongs in the test as an explicit @example.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of this suite."""
    parser.addoption(
        "--regenerate-goldens", action="store_true", help="write golden files anew (see tests/support/golden.py)"
    )
