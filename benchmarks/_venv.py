"""What every program here begins with: the project's own environment, and the options they share.

    #!/usr/bin/env python3
    import _venv
    _venv.enter()  # from here on, packages can be imported

    arguments = _venv.options(__doc__, data=True).parse_args()
    ...
    _venv.report(table, result, as_json=arguments.json)

It runs under whatever `python3` is first on the PATH, so it uses nothing newer than Python 3.7.
"""

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def enter() -> None:
    """Go on under `.venv/bin/python`, from the same arguments; return at once where that is the case already."""
    venv = ROOT / ".venv"
    if Path(sys.prefix).resolve() != venv.resolve():
        python = venv / "bin" / "python"
        if not python.exists():
            sys.exit(f"benchmarks: there is no {python} yet: run scripts/setup first")
        os.execv(str(python), [str(python), *sys.argv])
    sys.path.insert(0, str(ROOT))


def options(description: str, *, data: bool = False) -> argparse.ArgumentParser:
    """A parser with `--json`, and with `--data PATH ...` where the benchmark reads data; add your own to it."""
    first_line = (description or "").strip().partition("\n")[0]
    parser = argparse.ArgumentParser(description=first_line)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    if data:
        parser.add_argument("--data", nargs="+", type=Path, metavar="PATH", default=[], help="files to read")
    return parser


def report(table: str, result: object, *, as_json: bool) -> None:
    """Print the table for people; with `as_json`, then the result as one line."""
    print(table)
    if as_json:
        print(json.dumps(result))
