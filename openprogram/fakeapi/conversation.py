"""A request as the demo model sees it, whichever wire format it came in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from openprogram.fakeapi.shapes import JsonObject

ThinkingMode: TypeAlias = Literal["off", "always", "free"]

_TAGGED: Final = re.compile(r"<([a-z][a-z0-9_-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_NOTICE: Final = re.compile(
    r"""^(?: Today's\ date\ is\  | Working\ directory:\  | Switched\ off, | Switched\ on\ again: | Now\ available:
    | Continue\.$ | More\ tools\ that\ can\ be\ loaded:\  | Background\ command\ \w+:[ ]
    | Your\ last\ answer\ ended\ early\. | \(The\ beginning\ of\ this\ conversation\ )""",
    re.VERBOSE,
)
"""Lines that the program itself adds for the model. A test compares them with the ones it makes."""


@dataclass(frozen=True, slots=True)
class ToolDecl:
    """A declared tool with the JSON Schema of its arguments."""

    name: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in the history."""

    id: str
    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Result:
    """The result of the call `call_id`. Chat Completions has no error flag there: `is_error` is None."""

    call_id: str
    text: str
    is_error: bool | None


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the person wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """What the model said and called."""

    text: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class ResultsTurn:
    """What the tools answered."""

    results: tuple[Result, ...]


Turn: TypeAlias = UserTurn | AssistantTurn | ResultsTurn


@dataclass(frozen=True, slots=True)
class Conversation:
    """The part of a request that decides the demo model's answer.

    `tools` are those it may call: none with tool_choice `none`, only the allowed ones with
    `allowed_tools`. `forced` is the tool that must be called, or `"*"` for any.
    """

    turns: tuple[Turn, ...]
    tools: tuple[ToolDecl, ...]
    forced: str | None
    thinking: ThinkingMode

    @property
    def task(self) -> str:
        """The person's newest text."""
        for turn in reversed(self.turns):
            if isinstance(turn, UserTurn):
                return turn.text
        return ""

    @property
    def steps(self) -> tuple[tuple[tuple[Call, Result], ...], ...]:
        """The calls since the person's newest text with their results, step by step."""
        steps: list[tuple[tuple[Call, Result], ...]] = []
        calls: tuple[Call, ...] = ()
        for turn in self.turns:
            match turn:
                case UserTurn():
                    steps, calls = [], ()
                case AssistantTurn():
                    calls = turn.calls
                case ResultsTurn():
                    answered = {result.call_id: result for result in turn.results}
                    steps.append(tuple((call, answered[call.id]) for call in calls if call.id in answered))
        return tuple(step for step in steps if step)

    def tool(self, *names: str) -> ToolDecl | None:
        """The first of `names` that may be called."""
        by_name = {tool.name: tool for tool in self.tools}
        return next((by_name[name] for name in names if name in by_name), None)


def spoken(text: str) -> str:
    """What the person said: `text` without what the program adds to it for the model, which is its
    notices and any tagged passage (`<reminder>...</reminder>`)."""
    lines = _TAGGED.sub("", text).splitlines()
    return "\n".join(line for line in lines if not _NOTICE.match(line)).strip()
