"""The wheel and the sdist carry the built interface: only building from a checkout needs Node."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.interface_stub import FILES
from tests.support.tree import ROOT, write_tree

PACKAGING = ("pyproject.toml", "hatch_build.py", "scripts/build_webui.py", "LICENSE", ".gitignore")


def build(root: Path, target: str, path: str) -> Path:
    """Build one distribution of `root` with our hook; return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", "dist"]
    subprocess.run(command, cwd=root, env={**os.environ, "PATH": path}, check=True, capture_output=True)
    return next((root / "dist").glob("*.whl" if target == "wheel" else "*.tar.gz"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    package = {"openprogram/__init__.py": '__version__ = "1.2.3"\n', "README.md": "Read me.\n"}
    root = write_tree(tmp_path / "checkout", {**FILES, **package})
    for name in PACKAGING:
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    return root


def test_sdist_and_wheel_carry_the_interface(checkout: Path, tmp_path: Path) -> None:
    with_node, without_node = os.environ["PATH"], str(tmp_path / "empty")
    with tarfile.open(build(checkout, "sdist", with_node)) as sdist:
        sdist.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert not (unpacked / "webui/node_modules").exists()
    wheel = zipfile.ZipFile(build(unpacked, "wheel", without_node))
    assert wheel.read("openprogram/web/static/index.html") == b"<p>one</p>"
    assert {name.split("/")[0] for name in wheel.namelist()} == {
        "openprogram",
        "openprogram_server-1.2.3.dist-info",
    }


def test_a_wheel_without_interface_is_never_built(checkout: Path, tmp_path: Path) -> None:
    shutil.rmtree(checkout / "webui")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        build(checkout, "wheel", os.environ["PATH"])
    assert b"nothing to build the interface from" in failed.value.stderr
