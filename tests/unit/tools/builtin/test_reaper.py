"""The reaper's view of processes."""

import os
import shutil

import pytest

from openprogram.tools.builtin import reaper


@pytest.mark.skipif(shutil.which("ps") is None, reason="there is no ps")
def test_without_proc_ps_tells_the_same():
    here = os.getpid()
    by_ps = {process: parent for process, parent, _ in reaper.processes_by_ps()}
    by_proc = {process: parent for process, parent, _ in reaper.processes()}
    assert by_ps[here] == by_proc[here] == os.getppid()
    assert by_ps[1] == by_proc[1]
    assert all(parent != here for process, parent in by_ps.items() if process not in by_proc)
