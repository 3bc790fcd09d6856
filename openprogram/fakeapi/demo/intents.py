"""What the demo model can be asked for. `recognise` finds out which it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from openprogram.fakeapi.shapes import JsonObject


@dataclass(frozen=True, slots=True)
class UseTool:
    """Call a tool by name, with arguments given as JSON."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ListFiles:
    """List the workspace."""


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """Read these files; several at once are parallel calls."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchWeb:
    """Search the web."""

    query: str


@dataclass(frozen=True, slots=True)
class FetchUrl:
    """Fetch a page."""

    url: str


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class CreateFile:
    """Write a file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class EditFile:
    """Replace a passage of a file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class FindText:
    """Search the files' contents."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Explore:
    """List the files, then read the README: two steps."""


@dataclass(frozen=True, slots=True)
class Think:
    """Show a long chain of thought."""

    topic: str


@dataclass(frozen=True, slots=True)
class Showcase:
    """Write the long Markdown answer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Write a plan."""

    topic: str


@dataclass(frozen=True, slots=True)
class Count:
    """Count slowly to a number."""

    to: int


@dataclass(frozen=True, slots=True)
class Greet:
    """Say who answers."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing of the above."""


Intent: TypeAlias = (
    UseTool
    | ListFiles
    | ReadFiles
    | SearchWeb
    | FetchUrl
    | RunCommand
    | CreateFile
    | EditFile
    | FindText
    | Explore
    | Think
    | Showcase
    | Plan
    | Count
    | Greet
    | Unknown
)
