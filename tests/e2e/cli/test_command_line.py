"""The command `openprogram` as a person meets it: one clear line and an exit status, never a traceback."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import openprogram
from tests.support.server import environment_for
from tests.support.tree import ROOT


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openprogram", *arguments],
        cwd=ROOT,
        env=environment_for(None, **environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_version_prints_the_version(asked: str) -> None:
    done = run(asked)
    assert (done.returncode, done.stdout) == (0, f"{openprogram.__version__}\n")


def test_help_lists_the_commands_and_no_command_is_an_error() -> None:
    helped = run("--help")
    assert helped.returncode == 0
    assert all(command in helped.stdout for command in ("serve", "cache", "export", "replay", "fake-api", "version"))
    assert run().returncode == 2
    assert run("fake-api", "--help").returncode == 0


def refused(*arguments: str, status: int = 2, **environ: str) -> str:
    """Run a server that cannot start; what it says."""
    done = run("serve", *arguments, **environ)
    assert done.returncode == status
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("openprogram: ")
    return done.stderr


def test_a_workspace_that_is_a_typo_is_said_and_not_made(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[chat]\nworkspace = "{tmp_path}/wrkspace"\n')
    said = refused("--home", str(tmp_path))
    assert f"there is no directory {tmp_path}/wrkspace" in said
    assert "line 2" in said
    assert not (tmp_path / "wrkspace").exists()


def test_a_preset_that_cannot_be_one_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[presets.mine]\ntitle = "Mine"\nincludes = ["theirs"]\n')
    said = refused("--home", str(tmp_path))
    assert "line 3" in said
    assert "'theirs', which does not exist" in said


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused("--home", str(tmp_path), "--port", port)
    assert f"port {port}" in said
    assert "--port" in said.splitlines()[1]


def test_bad_options_are_said(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path))
    assert "0.0.0.0" in refused(*home, "--host", "0.0.0.0")
    assert "--token" in refused(*home, "--token", "two words")
    assert "public-url" in refused(*home, "--port", "0", "--public-url", "nonsense")
    assert "allow-host" in refused(*home, "--port", "0", "--allow-host", "a b")
    assert "listen" in refused(*home, "--host", "192.0.2.1", "--token", "t", "--port", "0")
    assert "listen" in refused(*home, "--host", "no.such.host.invalid", "--token", "t", "--port", "0")
    assert "OPENPROGRAM_PORT" in refused(*home, OPENPROGRAM_PORT="many")


def test_an_unusable_home_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert str(file) in refused("--home", str(file))
    assert str(file) in refused(OPENPROGRAM_HOME=str(file / "below"))


def test_a_database_that_is_none_is_said_and_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "openprogram.db"
    database.write_bytes(b"this is no database" * 100)
    refused("--home", str(tmp_path), "--port", "0", status=1)
    assert database.read_bytes() == b"this is no database" * 100


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_says_where_it_is_and_stops_in_order(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "openprogram", "serve", "--home", str(tmp_path), "--port", "0"],
        cwd=ROOT,
        env=environment_for(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        link = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert link is not None
        assert link[2] == (tmp_path / "token").read_text().strip()
        with socket.create_connection(("127.0.0.1", int(link[1]))):
            pass
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert "ERROR" not in errors
    assert not (tmp_path / "openprogram.db-wal").exists() or os.path.getsize(tmp_path / "openprogram.db-wal") == 0


def test_a_chosen_token_is_not_printed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "openprogram", "serve", "--home", str(tmp_path), "--port", "0", "--token", "my-own"],
        cwd=ROOT,
        env=environment_for(None),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "my-own" not in process.stdout.readline()
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert not (tmp_path / "token").exists()
