"""A chat is a tree of messages; each message is a tuple of blocks. Values are immutable: history is never edited.

Roles: `user` (a person), `assistant` (the model), `tool` (the results of one step's calls, in the order of the calls),
`notice` (text of the program itself, such as a toggle that happened: user text to models, a quiet line to people).
"""

from dataclasses import dataclass
from typing import Literal

from openprogram.core.chats import Sender
from openprogram.core.compaction import Compaction
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject

Role = Literal["user", "assistant", "tool", "notice"]
MessageStatus = Literal["complete", "stopped", "interrupted", "error", "cut"]
"""`stopped` by the user, `interrupted` by a crash, `error` of the provider, `cut` at the output limit."""

CallStatus = Literal["ok", "error", "denied", "stopped", "interrupted"]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text: Markdown from people and models, plain from tools."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """A model's reasoning, to be returned byte for byte to the model that made it and to no other.

    `signature` proves it to that provider (None: it cannot be sent back); `redacted` is the opaque form some have.
    `duration_ms` is for the interface only: how long it was seen to take, None where that is not known.
    """

    text: str
    signature: str | None = None
    redacted: str | None = None
    duration_ms: int | None = None
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class ToolUseBlock:
    """A call that the model asks for. Every one has exactly one result (design law 7).

    `bridged`: the model asked through `core.surface.BRIDGE_NAME`, and is shown its call in that form again.
    """

    call_id: str
    name: str
    arguments: JsonObject
    bridged: bool = False
    type: Literal["tool_use"] = "tool_use"


ImageType = Literal["image/png", "image/jpeg"]


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture, scaled to what models take: `data` is Base64, `width` and `height` are in pixels."""

    media_type: ImageType
    data: str
    width: int
    height: int
    type: Literal["image"] = "image"

    @property
    def text(self) -> str:
        """What stands for it where only text goes."""
        return f"[a picture of {self.width} x {self.height} pixels]"


ResultPart = TextBlock | ImageBlock
"""What a tool result is made of."""


@dataclass(frozen=True, slots=True)
class ToolResultBlock:
    """The result of one call. For the interface only: `display` (a diff, search hits, an exit code) and `duration_ms`,
    how long the tool itself ran. That is 0 for a call that never began, and None where it is not known."""

    call_id: str
    status: CallStatus
    content: tuple[ResultPart, ...]
    display: JsonObject | None = None
    duration_ms: int | None = None
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True)
class Source:
    """A page that a search found or a text rests on."""

    url: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class HostedBlock:
    """What a provider did by itself in its answer: a `search`, what it `found`, the `sources` of the text before it, or
    a `pause` in which it wants to be asked to go on.

    `items` are what its API sent, to go back verbatim to the model that made them; another one is told `text`.
    `hosted_id` joins a search to what it found; `error` is the provider's word for why it found nothing.
    """

    kind: Literal["search", "found", "sources", "pause"]
    hosted_id: str = ""
    query: str = ""
    sources: tuple[Source, ...] = ()
    error: str | None = None
    items: tuple[JsonObject, ...] = ()
    type: Literal["hosted"] = "hosted"

    @property
    def text(self) -> str:
        """What stands for it before a model that did not make it; empty for nothing."""
        said = [f"[searched the web for: {self.query}]"] if self.kind == "search" else []
        if self.kind != "sources":
            said += [f"[found {source.title}: {source.url}]" for source in self.sources]
        return "\n".join([*said, *([f"[the search failed: {self.error}]"] if self.error else [])])


Block = TextBlock | ReasoningBlock | ToolUseBlock | ToolResultBlock | HostedBlock


@dataclass(frozen=True, slots=True)
class Message:
    """One node of the tree. `parent_id` None is a root; `model` is `endpoint/model` for answers.

    `override` is what a user message asks of tools for its own turn only (spec tools.md T9). `sender` is the chat that
    a user message came from; None: a person wrote it. A notice with a `compaction` is a summary of what is above.
    """

    id: str
    parent_id: str | None
    role: Role
    blocks: tuple[Block, ...]
    created_at: str
    turn_id: str | None = None
    status: MessageStatus = "complete"
    model: str | None = None
    override: ToolIntent | None = None
    sender: Sender | None = None
    compaction: Compaction | None = None

    @property
    def text(self) -> str:
        """The message's text blocks, joined by blank lines."""
        return "\n\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def calls(self) -> tuple[ToolUseBlock, ...]:
        """The tool calls of an answer, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolUseBlock))

    @property
    def paused(self) -> bool:
        """Whether the provider wants to be asked to go on with this answer."""
        last = self.blocks[-1] if self.blocks else None
        return isinstance(last, HostedBlock) and last.kind == "pause"

    @property
    def results(self) -> tuple[ToolResultBlock, ...]:
        """The results in a tool message, in the order of the calls."""
        return tuple(block for block in self.blocks if isinstance(block, ToolResultBlock))


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message that waits for the running turn; `steer` is delivered after the current tool results."""

    id: str
    text: str
    mode: Literal["queue", "steer"]
    created_at: str
    override: ToolIntent | None = None
    sender: Sender | None = None
