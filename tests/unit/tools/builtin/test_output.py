"""Outputs of commands do not fill the disk."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def record(folder: Path, n: int, age_s: float) -> Path:
    path = output_file(folder, f"s_{n % 3}", "c").with_name(f"job_{n}.json")
    path.write_bytes(b"{}")
    os.utime(path, (NOW - age_s, NOW - age_s))
    return path


@settings(max_examples=50)
@given(st.lists(st.integers(0, 40), unique=True, max_size=12), st.integers(0, 30), st.integers(0, 6), st.data())
def test_records_of_jobs_are_bounded_by_age_and_number(
    ages: list[int], max_age_s: int, room: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        paths = {age: record(Path(folder), n, age) for n, age in enumerate(ages)}
        running = data.draw(st.sets(st.sampled_from(ages))) if ages else set()
        prune(Path(folder), NOW, keep={paths[age] for age in running}, max_age_s=max_age_s, max_records=room)
        left = {age for age, path in paths.items() if path.exists()}

    assert running <= left
    assert max(left - running, default=0) <= max_age_s
    assert len(left) <= max(room, len(running))
    young = sorted(age for age in ages if age <= max_age_s and age not in running)
    assert left - running == set(young[: max(0, room - len(running))])


def test_a_link_is_deleted_and_not_what_it_leads_to(tmp_path: Path) -> None:
    elsewhere = tmp_path / "precious"
    elsewhere.write_text("stays")
    link = output_file(tmp_path / "out", "s_1", "c_1")
    link.symlink_to(elsewhere)

    assert prune(tmp_path / "out", link.lstat().st_mtime + MAX_AGE_S + 1) == 1
    assert elsewhere.read_text() == "stays"
