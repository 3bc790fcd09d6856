"""One intent is one sequence of bytes, in every process (spec tools.md T11)."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_fifty_orders_of_registration_under_five_hash_seeds_give_one_digest() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.resolution_digest", str(seed)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in (0, 1, 42, 4096, 987654)
    ]
    digests = [process.communicate()[0].split() for process in running]

    assert [process.returncode for process in running] == [0] * 5
    assert [len(found) for found in digests] == [1] * 5
    assert len({found[0] for found in digests}) == 1
