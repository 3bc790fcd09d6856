"""Tools as values: specification, snapshot, resolution, contract, loaded set, and what a running call is handed.

The functions over these values are in `openprogram.tools` (register, resolve) and `openprogram.agent` (freeze, call).
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from openprogram.core.asking import AskPerson
from openprogram.core.chats import Chats
from openprogram.core.intent import ChipEffect, ToolIntent
from openprogram.core.jsonio import JsonObject, digest
from openprogram.core.messages import ResultPart, TextBlock
from openprogram.core.ports import Discovery
from openprogram.core.prompt import Residency

DISCOVERY_TOOL: Final = "tool_search"
"""The tool that finds deferred ones. Where a turn lacks it nothing could, so nothing is deferred."""

OutputSink = Callable[[str], None]
"""Takes a running call's output as it appears; never blocks."""

Permission = Literal["none", "write", "execute", "network"]
"""What a call may do to the world, for the permission modes: nothing, change files, run programs, send data out."""

Origin = Literal["web", "terminal", "channel", "subagent"]
"""Where a turn comes from; a source may forbid tools (no shell from a chat channel)."""

DropReason = Literal[
    "tools_off",  # the master switch
    "not_in_preset",
    "switched_off",
    "chip_off",
    "profile_forbids",
    "source_forbids",
    "not_configured",  # no key, missing binary
]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What one running call is handed. Anything else a tool needs was given to its factory.

    `discovery` is None where nothing can be found or loaded: outside a turn of the agent. `waiting` is entered for as
    long as a person is asked about the call, which has not begun then. `person` is None where nobody is there to be
    asked, `chats` where the user's other chats are out of reach.
    """

    session_id: str
    turn_id: str
    call_id: str
    workspace: Path
    output: OutputSink
    extra_dirs: tuple[Path, ...] = ()
    discovery: Discovery | None = None
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    person: AskPerson | None = None
    chats: Chats | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call came to: parts for the model, `display` for people only."""

    content: tuple[ResultPart, ...]
    status: Literal["ok", "error", "denied"] = "ok"
    display: JsonObject | None = None

    @classmethod
    def text(cls, text: str, *, display: JsonObject | None = None) -> "ToolOutput":
        """A successful result of one text part."""
        return cls((TextBlock(text),), display=display)

    @classmethod
    def error(cls, text: str, *, display: JsonObject | None = None) -> "ToolOutput":
        """A failure that the model is told about."""
        return cls((TextBlock(text),), status="error", display=display)


Execute = Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]
"""Runs one call; may raise `ToolFailure`, whose message becomes an error result."""

Validate = Callable[[JsonObject], None]
"""Raises `BadArguments` where the tool would refuse these arguments; does nothing else."""


@dataclass(frozen=True, slots=True)
class CallPreview:
    """What a person is shown before allowing a call: the exact command, a unified diff, or the arguments.

    `left_out` counts lines of a diff that are not in `text`; `digest` is of all of it, and empty where `text` is all.
    """

    kind: Literal["command", "diff", "call"]
    text: str
    left_out: int = 0
    digest: str = ""


Preview = Callable[[JsonObject, ToolContext], Awaitable[CallPreview]]
"""Shows what a call would do and does nothing of it; may raise `ToolFailure` where the call could not work."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one call changes elsewhere, for a person to allow: `reason` says it in words, `pattern` names what "for this
    chat" would cover, empty where it could not."""

    reason: str
    pattern: str = ""


Judge = Callable[[JsonObject, ToolContext], Awaitable[Effect | None]]
"""What this call changes elsewhere, as things stand now; None where it only looks. Does nothing of it; may raise
`ToolFailure` where the call could not work."""

WrittenPaths = Callable[[JsonObject], tuple[str, ...]]
"""All the paths that a call of these arguments writes; raises `ValueError` where that cannot be told."""


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Bounds of one call: wall-clock seconds (None: it waits for a person), characters of result shown to the model."""

    timeout_s: float | None = 120.0
    output_chars: int = 30_000


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the registry knows it. `name` is what the model calls; unique, `[a-zA-Z0-9_-]{1,64}`.

    `needs_person`: it asks a person through the interface, so it is not for a turn without one. `effect` tells a
    person who is asked what a call does, where its permission alone does not say.
    `writes` names the parameters that hold all the paths a call writes, or takes them from the arguments; without it a
    writing call is about anything.
    `provides` names capabilities that a switch governs (`"web_search"` is the chip's). `source` is `builtin`,
    `plugin:NAME` or `mcp:SERVER`. `presets` are the built-in presets that list the tool. `version` changes when the
    behaviour behind an unchanged schema does; it is part of a contract's fingerprint. `validate` refuses arguments
    before anyone is asked about the call (None: `execute` alone knows); `preview` is what the person then sees. `judge`
    tells the calls of a tool of permission `none` or `network` apart: those with an effect ask. `asked_name` is set by
    the registry: the name that it would have if no other tool had that one.
    """

    name: str
    description: str
    parameters: JsonObject
    execute: Execute = field(compare=False, repr=False)
    readonly: bool = False
    parallel_safe: bool = False
    permission: Permission = "none"
    network: bool = False
    needs_person: bool = False
    effect: str = ""
    writes: tuple[str, ...] | WrittenPaths = ()
    provides: tuple[str, ...] = ()
    group: str | None = None
    presets: tuple[str, ...] = ()
    residency: Residency = "deferred"
    source: str = "builtin"
    limits: ToolLimits = ToolLimits()
    version: str = "1"
    asked_name: str = field(default="", compare=False)
    hosted: str | None = None
    """The provider runs the tool itself, by this name of a kind in its API."""
    validate: Validate | None = field(default=None, compare=False, repr=False)
    preview: Preview | None = field(default=None, compare=False, repr=False)
    judge: Judge | None = field(default=None, compare=False, repr=False)

    @property
    def declaration(self) -> JsonObject:
        """What a provider is told of the tool, in our neutral shape: `{name, description, parameters}`, or `{name,
        hosted}` where it runs it itself."""
        if self.hosted is not None:
            return {"name": self.name, "hosted": self.hosted}
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


@dataclass(frozen=True, slots=True)
class Preset:
    """A toolset: entries are tool names, `fnmatch` patterns (`*` is every tool) or attributes: `@builtin`, `@plugin`,
    `@plugin:NAME`, `@mcp`, `@mcp:SERVER`, `@readonly`, `@resident`, `@network`, `@provides:CAPABILITY`, and
    `@preset:NAME` for the tools that list themselves there. A leading `-` takes away what stands before it.
    `includes` pulls in other presets first."""

    name: str
    title: str
    description: str = ""
    entries: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    source: Literal["builtin", "config", "user"] = "builtin"


_NO_TEXT: Final = MappingProxyType[str, str]({})
_NO_TEXTS: Final = MappingProxyType[str, tuple[str, ...]]({})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every tool that exists at one moment, sorted by name, with the presets; immutable and versioned.

    `unavailable` maps the name of a tool that is registered but not configured to the reason, for people. `about` maps
    a source to what it says of itself, for finding its tools; `problems` to what it should have brought and has not;
    `down` to what is away and what to do, while it cannot be reached: its tools keep their place.
    """

    version: int
    tools: tuple[ToolSpec, ...]
    presets: Mapping[str, Preset]
    unavailable: Mapping[str, str] = field(default_factory=lambda: _NO_TEXT)
    about: Mapping[str, str] = field(default_factory=lambda: _NO_TEXT)
    problems: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NO_TEXTS)
    down: Mapping[str, str] = field(default_factory=lambda: _NO_TEXT)

    def get(self, name: str) -> ToolSpec | None:
        """The tool of that name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """Who answers: a default intent, instructions and a model. `forbidden` are `fnmatch` patterns of tools that no
    switch of a chat brings back."""

    name: str = "default"
    intent: ToolIntent = field(default_factory=ToolIntent)
    instructions: str = ""
    model: str | None = None
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """Why a registered tool is not in a resolution."""

    reason: DropReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Resolution:
    """An intent expanded against a snapshot: the authorised tools in a fixed order, a reason for each other tool.

    `unknown` are names in the intent or preset that no tool has; they are shown, never silently ignored.
    """

    kept: tuple[ToolSpec, ...]
    dropped: Mapping[str, Drop]
    unknown: tuple[str, ...]
    web_search: ChipEffect
    preset: str | None
    intent_revision: int
    registry_version: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the authorised tools, in order."""
        return tuple(tool.name for tool in self.kept)


@dataclass(frozen=True, slots=True)
class ContractTool:
    """An authorised tool with its executor as wrapped when the turn was frozen."""

    spec: ToolSpec
    execute: Execute = field(compare=False, repr=False)
    wrappers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """What one turn may do with tools, frozen at its start (spec tools.md section 4)."""

    tools: tuple[ContractTool, ...]
    intent_revision: int
    registry_version: int

    def get(self, name: str) -> ContractTool | None:
        """The authorised tool of that name, or None."""
        return next((tool for tool in self.tools if tool.spec.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the authorised tools, in order."""
        return tuple(tool.spec.name for tool in self.tools)

    @property
    def fingerprint(self) -> str:
        """Digest of names, schemas, residency, wrapper kinds and versions; not of states such as `down`."""
        return digest(
            [
                [tool.spec.declaration, tool.spec.residency, tool.spec.version, list(tool.wrappers)]
                for tool in self.tools
            ]
        )
