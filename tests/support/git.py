"""Real git repositories for tests."""

import os
import subprocess
from pathlib import Path

_NOBODY = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
}


def git(folder: Path, *arguments: str, stdin: str = "", check: bool = True) -> str:
    """Plain git in a folder, with no configuration but the repository's own; its output without the last line end."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **_NOBODY},
        input=stdin,
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
    )
    return done.stdout.rstrip("\n")


def repository(folder: Path, **files: str) -> Path:
    """A new repository on branch main with one commit of these files (`name` without its ending: `name.txt`)."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    commit(folder, "First")
    return folder


def commit(folder: Path, message: str) -> str:
    """Commit all that is there; returns the id."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")
