"""Processes under measurement: started with the project's own Python, read from outside, gone when the block ends."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import _venv

_OURS = ("OPENPROGRAM_", "ANTHROPIC_", "OPENAI_", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True, slots=True)
class Process:
    """A running program and the first line that it printed."""

    pid: int
    line: str

    def cpu_s(self) -> float:
        """Seconds of CPU that all its threads have used, user and system."""
        try:
            return time.clock_gettime((~self.pid << 3) | 2)  # the process' CPU clock: see clock_getcpuclockid(3)
        except OSError:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        """Resident memory in units of 1,000,000 bytes."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
        raise RuntimeError(f"no resident size of process {self.pid}")


@contextmanager
def running(*arguments: str, environ: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Run Python with these arguments, from the first line that it prints until the block ends.

    The environment has no endpoint and no setting of ours but `environ`, and lets Python keep its bytecode.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=_venv.ROOT,
        env={**kept, "PYTHONPATH": str(_venv.ROOT), **(environ or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(arguments[:4])} did not start")
        yield Process(process.pid, line)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
