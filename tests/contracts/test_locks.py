"""The lock files: exact versions, a hash for each, no address, and all that pyproject.toml asks for."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.tree import ROOT, write_tree

RUNTIME, DEV = "requirements.lock", "requirements-dev.lock"
PEERS = "tests/peers/requirements.lock"
PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?: ; (?P<marker>[^\\]+))?$")
HASH = re.compile(r"^--hash=sha256:[0-9a-f]{64}$")


def pins(lock: Path) -> tuple[dict[str, set[str]], list[str]]:
    """The versions that a lock file pins by name (several where markers split them), and what is wrong in it."""
    found: dict[str, set[str]] = {}
    faults = []
    logical = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    for line in filter(None, map(str.strip, logical)):
        requirement, *hashes = re.split(r"\s+(?=--hash)", line)
        pin = PIN.match(requirement)
        if pin is None:
            faults.append(f"{lock.name}: not `name==version`: {requirement}")
        elif not hashes or not all(HASH.match(entry) for entry in hashes):
            faults.append(f"{lock.name}: {pin['name']} has no hash, or a wrong one")
        else:
            found.setdefault(pin["name"], set()).add(pin["version"])
    return found, faults


def missing(requirements: Sequence[str], pinned: Mapping[str, set[str]]) -> list[str]:
    """Requirements that the pins do not meet."""
    faults = []
    for requirement in map(Requirement, requirements):
        versions = pinned.get(canonicalize_name(requirement.name), set())
        if not versions or not all(requirement.specifier.contains(version) for version in versions):
            faults.append(f"{requirement} is not met by {sorted(versions) or 'nothing'}: run scripts/lock")
    return faults


def npm_faults(lock: Mapping[str, Any]) -> list[str]:
    """Packages of a package-lock.json that have no integrity hash, or carry an address."""
    return [
        f"package-lock.json: {name}: {fault}"
        for name, entry in lock["packages"].items()
        if name and not entry.get("link") and not entry.get("inBundle")
        for fault, is_wrong in (
            ("no integrity", not str(entry.get("integrity", "")).startswith("sha512-")),
            ("an address", "resolved" in entry),
        )
        if is_wrong
    ]


def test_python_locks_have_hashes_and_nothing_else() -> None:
    for name in (RUNTIME, DEV, PEERS):
        pinned, faults = pins(ROOT / name)
        assert faults == []
        assert pinned


def test_python_locks_meet_pyproject() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = config["dependency-groups"]
    runtime, development = pins(ROOT / RUNTIME)[0], pins(ROOT / DEV)[0]
    assert missing([*config["project"]["dependencies"], *groups["build"]], runtime) == []
    assert missing([entry for entry in groups["dev"] if isinstance(entry, str)], development) == []


def test_the_lock_of_peers_is_exactly_what_is_asked_for() -> None:
    asked = (ROOT / PEERS).with_suffix(".in").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in asked if line and not line.startswith("#")]
    pinned = pins(ROOT / PEERS)[0]
    assert missing(wanted, pinned) == []
    assert len(wanted) == len(pinned)  # without what they depend on


def test_the_dev_lock_holds_the_runtime_lock() -> None:
    runtime, development = pins(ROOT / RUNTIME)[0], pins(ROOT / DEV)[0]
    assert {name: development.get(name) for name in runtime} == runtime


@pytest.mark.parametrize("package", ["webui", "tests/peers"])
def test_npm_lock_has_hashes_and_no_address(package: str) -> None:
    lock = json.loads((ROOT / package / "package-lock.json").read_text(encoding="utf-8"))
    assert npm_faults(lock) == []
    assert "omit-lockfile-registry-resolved=true" in (ROOT / package / ".npmrc").read_text().split()


GOOD = f"a-b==1.0 ; sys_platform == 'win32' \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{'1' * 64}\n"


@pytest.mark.parametrize(
    "line",
    [
        "a==1.0",
        "a>=1.0 --hash=sha256:" + "0" * 64,
        "a==1.0 --hash=sha256:00",
        "a @ file:///a.whl --hash=sha256:" + "0" * 64,
        "--index-url https://x.test/simple",
        "--find-links /wheels",
    ],
)
def test_a_bad_lock_line_is_found(tmp_path: Path, line: str) -> None:
    root = write_tree(tmp_path, {"good": GOOD, "bad": f"{GOOD}{line}\n"})
    assert pins(root / "good") == ({"a-b": {"1.0"}}, [])
    assert len(pins(root / "bad")[1]) == 1


def test_a_requirement_that_is_not_locked_is_found() -> None:
    pinned = {"a-b": {"1.0"}, "c": {"1.0", "2.0"}}
    assert missing(["A_B[x]>=1,<2", "c>=1"], pinned) == []
    assert len(missing(["a-b>=2", "c>=1.5", "d"], pinned)) == 3


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"integrity": "sha512-x"}, 0),
        ({"link": True}, 0),
        ({"version": "1"}, 1),
        ({"integrity": "sha512-x", "resolved": "https://x.test/a.tgz"}, 1),
    ],
)
def test_a_bad_npm_entry_is_found(entry: dict[str, Any], found: int) -> None:
    assert len(npm_faults({"packages": {"": {"name": "webui"}, "node_modules/a": entry}})) == found
