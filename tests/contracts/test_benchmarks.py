"""Programs in benchmarks/ run from the root as they are, and take `--json`."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.tree import ROOT, is_python, write_tree


def programs(folder: Path) -> list[Path]:
    """The programs of a folder: Python files whose name does not begin with an underscore."""
    return [file for file in sorted(folder.iterdir()) if is_python(file) and not file.name.startswith("_")]


def violations(found: Sequence[Path]) -> list[str]:
    """Programs that cannot be executed, or do not offer `--json` when asked for help."""
    faults = []
    for program in found:
        if not program.stat().st_mode & 0o100 or not program.read_bytes().startswith(b"#!/usr/bin/env python3\n"):
            faults.append(f"{program.name}: not executable, or no `#!/usr/bin/env python3` line")
            continue
        asked = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, check=False)
        if asked.returncode != 0 or "--json" not in asked.stdout:
            faults.append(f"{program.name}: --help fails or does not list --json: {asked.stderr[-500:]}")
    return faults


def test_benchmarks_can_be_run_and_take_json() -> None:
    assert violations(programs(ROOT / "benchmarks")) == []


def test_a_bad_benchmark_is_found(tmp_path: Path) -> None:
    shebang = "#!/usr/bin/env python3\n"
    parse = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--{}')\np.parse_args()\n"
    files = {
        "good": shebang + parse.format("json"),
        "no_json": shebang + parse.format("csv"),
        "crashes.py": shebang + "raise SystemExit('--json')\n",
        "not_executable.py": shebang + parse.format("json"),
        "no_shebang.py": parse.format("json"),
        "_helper.py": "",
        "notes.md": "",
    }
    write_tree(tmp_path, files)
    for name in files.keys() - {"not_executable.py"}:
        (tmp_path / name).chmod(0o755)
    faults = violations(programs(tmp_path))
    assert [fault.partition(":")[0] for fault in faults] == [
        "crashes.py",
        "no_json",
        "no_shebang.py",
        "not_executable.py",
    ]


def test_the_helper_enters_the_projects_venv(tmp_path: Path) -> None:
    helper = (ROOT / "benchmarks" / "_venv.py").read_text(encoding="utf-8")
    print_prefix = "import _venv, sys\n_venv.enter()\nprint(sys.prefix, sys.argv[1:])\n"
    write_tree(tmp_path, {"benchmarks/_venv.py": helper, "benchmarks/prefix": print_prefix})
    command = [sys.executable, str(tmp_path / "benchmarks" / "prefix"), "--json", "a b"]
    without = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (without.returncode, "scripts/setup" in without.stderr) == (1, True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    within = subprocess.run(command, capture_output=True, text=True, cwd="/", check=True)
    assert within.stdout.split("\n")[0] == f"{tmp_path / '.venv'} ['--json', 'a b']"
