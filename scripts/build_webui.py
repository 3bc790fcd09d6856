"""Build the browser interface into the package, when its sources changed.

The one place that knows when the built files are stale: `scripts/setup` runs it as a program, the build hook
(`hatch_build.py`) calls `ensure_built`. It needs the standard library only.

Two stamps, each written last, so that an interrupted run is repeated:

- `openprogram/web/static/.source-hash`: the sources that the built files were made from. It travels in the
  wheel and the sdist, which is why those need no Node.
- `webui/node_modules/.installed-lock`: the package-lock.json that was installed.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE = (20, 19)

_GENERATED = {"node_modules", "dist", "coverage", "test-results", ".svelte-kit", ".vite"}


class BuildError(Exception):
    """The interface could not be built; the message says what to do."""


def ensure_built(root: Path = ROOT) -> bool:
    """Build the interface if its sources changed since the last build; return whether it built.

    Raises BuildError when there is nothing to build from, Node is missing or too old, or npm fails.
    """
    sources, static = root / "webui", root / "openprogram" / "web" / "static"
    stamp = static / ".source-hash"
    if not (sources / "package.json").is_file():
        if stamp.is_file():
            return False  # an sdist or a copy that carries only the built files
        raise BuildError(f"nothing to build the interface from: no {sources} and no built files in {static}")
    wanted = source_hash(sources)
    if stamp.is_file() and stamp.read_text().strip() == wanted:
        return False
    install_packages(sources)
    stamp.unlink(missing_ok=True)
    _npm(sources, "run", "build")
    if not (static / "index.html").is_file():
        raise BuildError(f"`npm run build` in {sources} ended well but left no index.html in {static}")
    stamp.write_text(wanted + "\n")
    return True


def source_hash(sources: Path) -> str:
    """SHA-256 over the names and contents of all source files under `sources`, in hex."""
    digest = hashlib.sha256()
    for path in _source_files(sources):
        name, content = path.relative_to(sources).as_posix().encode(), path.read_bytes()
        digest.update(b"%d %d\n" % (len(name), len(content)) + name + content)
    return digest.hexdigest()


def install_packages(sources: Path) -> None:
    """Run `npm ci` unless node_modules already holds what package-lock.json asks for."""
    _require_node()
    lock, installed = sources / "package-lock.json", sources / "node_modules" / ".installed-lock"
    if not lock.is_file():
        raise BuildError(f"{lock} is missing: make it with `npm install --package-lock-only` in {sources}")
    if installed.is_file() and installed.read_bytes() == lock.read_bytes():
        return
    _npm(sources, "ci", "--no-audit", "--no-fund")
    installed.parent.mkdir(exist_ok=True)  # npm makes none where there is no package to put in it
    shutil.copyfile(lock, installed)


def _source_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in _GENERATED:
                yield from _source_files(path)
        elif path.suffix not in {".tsbuildinfo", ".log"}:
            yield path


def _require_node() -> None:
    needed = f"building the interface needs Node {'.'.join(map(str, NODE))} or newer"
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        raise BuildError(f"{needed} with npm, and there is none on the PATH")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    found = re.match(r"v(\d+)\.(\d+)\.", version)
    if found is None or (int(found[1]), int(found[2])) < NODE:
        raise BuildError(f"{needed}, and {node} is {version or 'broken'}")


def _npm(sources: Path, *arguments: str) -> None:
    command = ["npm", *arguments]
    print(f"openprogram: {' '.join(command)} (in {sources.name}/)", file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=sources, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise BuildError(f"`{' '.join(command)}` in {sources} failed, status {done.returncode}: see above")


def main() -> int:
    """Build what is stale; with `--packages`, make node_modules match package-lock.json in any case."""
    try:
        if "--packages" in sys.argv[1:]:
            install_packages(ROOT / "webui")
        ensure_built()
    except BuildError as error:
        print(f"openprogram: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
