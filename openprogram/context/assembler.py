"""The system prompt as pure sections over one frozen context, most stable first (spec cache.md C11).

Nothing volatile is in here: time, directory, switches and working state are told in notices
(`openprogram.context.notices`).
A section that fails is an error, never an omission.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from openprogram.core.prompt import PromptBlocks


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What sections may look at. All of it stays the same over an epoch unless the user changes it."""

    platform: str
    instructions: str | None = None
    """The agent profile's own instructions."""
    catalog: str = ""
    """The deferred tools as they were sent in this epoch (`openprogram.context.catalog`)."""
    workspace: str | None = None
    """The directory, where the chat's endpoint was shown it in here, as it once was for every chat."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the system prompt: where it stands, when it is there, what it says."""

    name: str
    tier: Literal["stable", "session"]
    guard: Callable[[PromptContext], bool]
    render: Callable[[PromptContext], str]


def _identity(_: PromptContext) -> str:
    return (
        "You are the assistant of openprogram, a self-hosted chat server. You help one person with their work: you "
        "answer, read and change files, run commands and look things up with the tools you are given.\n\n"
        "Do what was asked, no more. Look before you claim: read the file, run the command. Prefer small, reversible "
        "steps. Say plainly what you did and what you did not; never invent results, paths or sources.\n\n"
        "Tools can be switched on and off while you talk. A note tells you when that happens; a refused call is not "
        "a fault of yours: say what you would have done, or find another way. Some calls wait for the person's "
        "approval; when one is denied, respect the reason.\n\n"
        "Answer in the person's language, in Markdown, as briefly as the matter allows."
    )


def _workspace(context: PromptContext) -> str:
    return f"Working directory: {context.workspace}\nPlatform: {context.platform}\nRelative paths start there."


def _platform(context: PromptContext) -> str:
    return f"Platform: {context.platform}\nA note tells the working directory. Relative paths start there."


SECTIONS: tuple[Section, ...] = (
    Section("identity", "stable", lambda _: True, _identity),
    Section("workspace", "session", lambda c: c.workspace is not None, _workspace),
    Section("platform", "session", lambda c: c.workspace is None, _platform),
    Section("instructions", "session", lambda c: bool(c.instructions), lambda c: c.instructions or ""),
    Section("catalog", "session", lambda c: bool(c.catalog), lambda c: c.catalog),
)


def assemble(context: PromptContext, sections: Iterable[Section] = SECTIONS) -> PromptBlocks:
    """Render every section whose guard holds; two of one name raise `ValueError`."""
    stable: list[str] = []
    session: list[str] = []
    seen: set[str] = set()
    for section in sections:
        if section.name in seen:
            raise ValueError(f"two prompt sections are named {section.name!r}")
        seen.add(section.name)
        if section.guard(context):
            (stable if section.tier == "stable" else session).append(section.render(context))
    return PromptBlocks(tuple(stable), tuple(session))
