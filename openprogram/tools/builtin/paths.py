"""Where file tools may go: the workspace and the directories added to it, whatever a path looks like (R15).

A path is first made real (links and `..` resolved by the system's own rules), then compared with the real roots. What
comes out has no link left in it, and `files` opens it component by component without following any, so that a link
put there in between leads nowhere.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from openprogram.core.errors import ToolFailure
from openprogram.core.tooling import ToolContext


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside a root. `path` is real and absolute; `shown` is how people and models are told of it."""

    root: Path
    path: Path
    shown: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The components below the root."""
        return self.path.relative_to(self.root).parts


@dataclass(frozen=True, slots=True)
class Roots:
    """The real directories that one call may use; relative paths start at the first, the workspace."""

    workspace: Path
    others: tuple[Path, ...] = ()

    @classmethod
    def of(cls, context: ToolContext, *more: Path) -> "Roots":
        """The workspace, its extra directories, and `more`. Raises `ToolFailure` if the workspace is gone."""
        workspace = Path(os.path.realpath(context.workspace))
        if not workspace.is_dir():
            raise ToolFailure(f"The workspace {context.workspace} is not there.")
        return cls(workspace, tuple(Path(os.path.realpath(path)) for path in (*context.extra_dirs, *more)))

    def locate(self, text: str) -> Place:
        """Where `text` leads. The file need not exist. Raises `ToolFailure` if it leads outside."""
        if not text or "\0" in text:
            raise ToolFailure("The path is empty or has a NUL character in it.")
        if text.startswith("~"):
            raise ToolFailure(f"`~` is not expanded in {text!r}: give a path relative to the workspace.")
        try:
            real = Path(os.path.realpath(self.workspace / text))
        except (OSError, UnicodeEncodeError) as error:
            raise ToolFailure(f"{text!r} cannot be a path here: {error}") from error
        for root in (self.workspace, *self.others):
            if real.is_relative_to(root):
                return Place(root, real, self.shown(real))
        allowed = ", ".join(str(root) for root in (self.workspace, *self.others))
        raise ToolFailure(f"{text} is outside of what may be used here: {allowed}.")

    def shown(self, path: Path) -> str:
        """`path` relative to the workspace if it is in it, absolute otherwise; printable whatever its bytes are."""
        inside = path.is_relative_to(self.workspace)
        return printable(str(path.relative_to(self.workspace) if inside else path))


def printable(name: str) -> str:
    """A file name as text: bytes that are not UTF-8 become U+FFFD, line ends become visible."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return text.replace("\n", "\\n").replace("\r", "\\r")
