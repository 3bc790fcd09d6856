"""Scripted answers: what a test posts to `/__fake/script`, checked and queued."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from openprogram.fakeapi.answer import (
    Answer,
    Block,
    Chunk,
    Page,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    WebFoundBlock,
    WebSearchBlock,
    pieces,
)
from openprogram.fakeapi.faults import Fault, FaultKind
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.shapes import JsonObject, compact


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ChunkScript(_Strict):
    """One delta; it waits for the release of `hold`."""

    text: str
    hold: str | None = None


Chunks: TypeAlias = list[ChunkScript | str]


class PageScript(_Strict):
    """A page on the web."""

    url: str
    title: str


class TextScript(_Strict):
    """Text. With `chunks` exactly these deltas are sent, else `text` is cut at word starts."""

    type: Literal["text"]
    text: str = ""
    chunks: Chunks | None = None
    cites: list[PageScript] = Field(default_factory=list)


class ThinkingScript(_Strict):
    """Reasoning; the signature is made by the fake API."""

    type: Literal["thinking"]
    text: str = ""
    chunks: Chunks | None = None


class ToolUseScript(_Strict):
    """A tool call. `chunks` are pieces of the arguments' JSON text and may be wrong on purpose."""

    type: Literal["tool_use"]
    name: str
    input: JsonObject = Field(default_factory=dict)
    id: str | None = None
    chunks: Chunks | None = None


class WebSearchScript(_Strict):
    """A search by the provider, if the request lets it search. `pages` null: the turn pauses before it found any."""

    type: Literal["web_search"]
    query: str
    pages: list[PageScript] | None = Field(default_factory=list)
    id: str | None = None


class WebFoundScript(_Strict):
    """What a search of an answer before, which paused, has found."""

    type: Literal["web_found"]
    id: str
    pages: list[PageScript] = Field(default_factory=list)


BlockScript: TypeAlias = Annotated[
    TextScript | ThinkingScript | ToolUseScript | WebSearchScript | WebFoundScript, Field(discriminator="type")
]


class FaultScript(_Strict):
    """A fault; see `faults`."""

    kind: FaultKind
    after: NonNegativeInt = 3
    delay: NonNegativeFloat = 3.0
    retry_after: NonNegativeFloat = 1.0

    def fault(self) -> Fault:
        """The fault that this stands for."""
        return Fault(self.kind, self.after, self.delay, self.retry_after)


class MatchScript(_Strict):
    """Which requests a script is for: all given conditions must hold. `text` is a substring of the
    person's newest text."""

    text: str | None = None
    model: str | None = None
    api: Api | None = None

    def fits(self, text: str, model: str, api: Api) -> bool:
        """Whether a request is meant."""
        said = self.text is None or self.text in text
        return said and self.model in (None, model) and self.api in (None, api)


class Script(_Strict):
    """One answer, given `times` times to the requests that match."""

    blocks: list[BlockScript] = Field(default_factory=list)
    match: MatchScript = MatchScript()
    times: PositiveInt = 1
    rate: NonNegativeFloat = 0.0
    hold: str | None = None
    stop_reason: StopReason | None = None
    fault: FaultScript | None = None
    usage: JsonObject = Field(default_factory=dict)
    report_usage: bool = True

    def answer(self) -> Answer:
        """The answer that this script stands for."""
        return Answer(
            blocks=tuple(_block(block) for block in self.blocks),
            stop_reason=self.stop_reason,
            rate=self.rate,
            hold=self.hold,
            fault=None if self.fault is None else self.fault.fault(),
            usage=self.usage,
            report_usage=self.report_usage,
        )


def _block(script: BlockScript) -> Block:
    match script:
        case TextScript():
            return TextBlock(_chunks(script.chunks) or pieces(script.text), _pages(script.cites))
        case WebSearchScript():
            found = None if script.pages is None else _pages(script.pages)
            return WebSearchBlock(script.query, pieces(compact({"query": script.query}), size=12), found, script.id)
        case WebFoundScript():
            return WebFoundBlock(script.id, _pages(script.pages))
        case ThinkingScript():
            return ThinkingBlock(_chunks(script.chunks) or pieces(script.text))
        case ToolUseScript():
            whole = pieces(compact(script.input), size=12)
            return ToolUseBlock(script.name, _chunks(script.chunks) or whole, script.id)


def _pages(scripts: list[PageScript]) -> tuple[Page, ...]:
    return tuple((page.url, page.title) for page in scripts)


def _chunks(scripts: Chunks | None) -> tuple[Chunk, ...]:
    return tuple(Chunk(item) if isinstance(item, str) else Chunk(item.text, item.hold) for item in scripts or ())


@dataclass(slots=True)
class _Queued:
    script: Script
    left: int


@dataclass(slots=True)
class ScriptQueue:
    """Scripts in the order in which they were posted; a request takes the first that matches."""

    _queue: list[_Queued] = field(default_factory=list)

    def add(self, script: Script) -> None:
        """Append a script."""
        self._queue.append(_Queued(script, script.times))

    def take(self, text: str, model: str, api: Api) -> Answer | None:
        """The answer for a request, or `None` where no script matches."""
        for queued in self._queue:
            if not queued.script.match.fits(text, model, api):
                continue
            queued.left -= 1
            if queued.left == 0:
                self._queue.remove(queued)
            return queued.script.answer()
        return None

    def clear(self) -> None:
        """Forget all scripts."""
        self._queue.clear()

    def __len__(self) -> int:
        return sum(queued.left for queued in self._queue)
