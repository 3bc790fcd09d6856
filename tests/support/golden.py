"""Golden files: what was once released must be made again, byte for byte.

A test calls `check`. After a change that is meant, `pytest --regenerate-goldens` writes the files anew, and the tests
that did so fail all the same, so that no run is green by having moved the goal; the diff then goes into the review.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from openprogram.core.jsonio import canonical

_READABLE = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def check(path: Path, value: Any, *, regenerate: bool) -> None:
    """Compare a JSON value with the golden file, by their canonical bytes. The file itself is laid out for reading."""
    if regenerate:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(value, option=_READABLE))
        pytest.fail(f"{path.name} was written anew; run again without --regenerate-goldens")
    assert path.is_file(), f"{path} is missing; write it with --regenerate-goldens"
    assert canonical(value) == canonical(orjson.loads(path.read_bytes()))
