"""One server on a data directory: a second would take the first one's turns for a crash's (law 7, R2)."""

import subprocess
import sys
from pathlib import Path

from openprogram.app.home import sole_use


def test_a_second_server_on_a_home_is_refused_with_a_reason(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [sys.executable, "-m", "openprogram", "serve", "--home", str(home), "--port", "0", "--token", "t"]
    with sole_use(home):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "another openprogram is running on the data directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_is_free_again_when_its_server_has_ended(tmp_path: Path) -> None:
    with sole_use(tmp_path):
        pass
    with sole_use(tmp_path):
        assert (tmp_path / "lock").exists()
