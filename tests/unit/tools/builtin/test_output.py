"""Outputs of commands do not fill the disk."""

import os
from pathlib import Path

import pytest

from openprogram.tools.builtin.output import MAX_AGE_S, output_file, prune

NOW = 2_000_000_000.0


def written(folder: Path, session: str, call: str, age_s: float, size: int = 10) -> Path:
    path = output_file(folder, session, call)
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - age_s, NOW - age_s))
    return path


def test_old_outputs_go_with_the_directories_that_they_leave_empty(tmp_path: Path) -> None:
    old = written(tmp_path, "s_1", "c_1", MAX_AGE_S + 1)
    young = written(tmp_path, "s_2", "c_1", MAX_AGE_S - 1)
    also_old = written(tmp_path, "s_2", "c_2", MAX_AGE_S + 1)

    assert prune(tmp_path, NOW) == 2
    assert (old.parent.exists(), young.exists(), also_old.exists()) == (False, True, False)
    assert prune(tmp_path, NOW) == 0


def test_beyond_the_whole_size_the_oldest_go_first(tmp_path: Path) -> None:
    paths = [written(tmp_path, "s_1", f"c_{n}", age_s=100 - n, size=100) for n in range(10)]

    assert prune(tmp_path, NOW, max_bytes=350) == 7
    assert [path.exists() for path in paths] == [False] * 7 + [True] * 3


def test_what_a_running_job_writes_stays_whatever_its_age(tmp_path: Path) -> None:
    silent = written(tmp_path, "s_1", "c_1", MAX_AGE_S * 9, size=1000)

    assert prune(tmp_path, NOW, keep={silent}, max_bytes=1) == 0
    assert silent.exists()


@pytest.mark.parametrize("folder", ["none", "empty"])
def test_where_nothing_was_written_nothing_happens(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    assert prune(tmp_path / folder, NOW) == 0
    assert (tmp_path / "empty").exists()


def test_a_link_is_deleted_and_not_what_it_leads_to(tmp_path: Path) -> None:
    elsewhere = tmp_path / "precious"
    elsewhere.write_text("stays")
    link = output_file(tmp_path / "out", "s_1", "c_1")
    link.symlink_to(elsewhere)

    assert prune(tmp_path / "out", link.lstat().st_mtime + MAX_AGE_S + 1) == 1
    assert elsewhere.read_text() == "stays"
