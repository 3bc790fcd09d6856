"""docs/protocol.md says what the models say (design: the reference page is generated, and CI fails on drift)."""

import subprocess
import sys
from pathlib import Path

from openprogram.core.protocol.codec import ACTIONS

ROOT = Path(__file__).resolve().parents[2]


def test_reference_page_is_what_the_models_generate() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "gen_reference.py", "--check"], check=False)
    assert done.returncode == 0, "run scripts/gen_reference.py and commit docs/protocol.md"


def test_every_action_has_a_heading() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text()
    assert [name for name in ACTIONS if f"### `{name}`" not in page] == []
