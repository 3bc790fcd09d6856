"""Tools, snapshots and intents for tests: handy values, and hypothesis strategies that cover what can exist."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from openprogram.core.asking import Answer, ApprovalRequested
from openprogram.core.events import PermissionMode
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject, encode
from openprogram.core.ports import PermissionState
from openprogram.core.storage import Grant
from openprogram.core.tooling import AgentProfile, Preset, Resolution, Snapshot, ToolContext, ToolOutput, ToolSpec
from openprogram.session_config.layers import Layers
from openprogram.tools.registry import Registry
from openprogram.tools.resolve import resolve

PROFILE = AgentProfile()


async def echo(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Gives its arguments back as JSON."""
    return ToolOutput.text(encode(arguments).decode())


def spec(name: str, **fields: Any) -> ToolSpec:
    """A tool of that name that echoes its arguments."""
    declared: dict[str, Any] = {
        "description": f"Does {name}.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
        "execute": echo,
    }
    return ToolSpec(name=name, **{**declared, **fields})


BASH = spec("bash", permission="execute", residency="resident", presets=("coding",))
READ = spec("read", readonly=True, residency="resident", presets=("coding", "research"))
WRITE = spec("write", permission="write", writes=("path",), residency="resident", presets=("coding",))
FETCH = spec(
    "web_fetch", permission="network", network=True, readonly=True, residency="resident", presets=("research",)
)
SEARCH = spec(
    "web_search",
    permission="network",
    network=True,
    readonly=True,
    provides=("web_search",),
    residency="resident",
    presets=("research",),
)
NOTES = spec("memory_search", readonly=True, presets=("research",))
BUILTIN = (BASH, READ, WRITE, FETCH, SEARCH, NOTES)
BRAVE = spec("mcp__brave__search", permission="network", network=True, provides=("web_search",))
WEATHER = spec("weather", permission="network", network=True)


def registry(
    *more: tuple[str, Iterable[ToolSpec]],
    presets: Iterable[Preset] = (),
    unavailable: dict[str, str] | None = None,
) -> Registry:
    """A registry of the tools above as built-in ones, and of more sources."""
    made = Registry(presets)
    made.put("builtin", BUILTIN, unavailable or {})
    for source, tools in more:
        made.put(source, tools)
    return made


def snapshot(
    *more: tuple[str, Iterable[ToolSpec]],
    presets: Iterable[Preset] = (),
    unavailable: dict[str, str] | None = None,
) -> Snapshot:
    """The snapshot of `registry`."""
    return registry(*more, presets=presets, unavailable=unavailable).snapshot


def resolved(intent: ToolIntent, among: Snapshot, profile: AgentProfile = PROFILE) -> Resolution:
    """`resolve` for a turn from the browser."""
    return resolve(intent, among, profile, "web")


def context(workspace: Path, *, call_id: str = "c_1", extra_dirs: tuple[Path, ...] = ()) -> ToolContext:
    """The context of a call; its live output goes nowhere."""
    return ToolContext("s_1", "t_1", call_id, workspace, lambda text: None, extra_dirs)


class Person:
    """Answers approvals in the order given, and remembers what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.asked: list[ApprovalRequested] = []
        self._answers = list(answers)

    async def __call__(self, request: ApprovalRequested) -> Answer:
        self.asked.append(request)
        return self._answers.pop(0)


class Switches:
    """An authority whose state the test sets."""

    def __init__(self, mode: PermissionMode = "ask", *grants: Grant) -> None:
        self.mode: PermissionMode = mode
        self.grants = grants
        self.off: set[str] = set()

    def authorised_now(self, name: str) -> bool:
        return name not in self.off

    def permission(self) -> PermissionState:
        return PermissionState(self.mode, self.grants)


# -- strategies -------------------------------------------------------------------------------------------------

NAMES = ("bash", "read", "write", "web_fetch", "web_search", "memory_search", "weather", "mcp__brave__search", "gone")
PRESETS = ("default", "full", "coding", "research", "browser", "safe", "none")

optional_flags = st.sampled_from((None, True, False))
names = st.sampled_from(NAMES)
name_lists = st.lists(names, unique=True, max_size=5).map(tuple)


@st.composite
def intents(draw: st.DrawFn, *, disabled: st.SearchStrategy[tuple[str, ...]] = name_lists) -> ToolIntent:
    """Any intent over names and presets that a test's snapshot may or may not have."""
    return ToolIntent(
        enabled=draw(optional_flags),
        toolset=draw(st.sampled_from((None, *PRESETS))),
        web_search=draw(optional_flags),
        disabled=tuple(name for name in draw(disabled) if name != "web_search"),
        picked=draw(st.none() | name_lists),
        allowed=draw(st.none() | st.lists(st.sampled_from(("*", "web_*", "read", "m*")), max_size=2).map(tuple)),
    )


@st.composite
def layers(draw: st.DrawFn) -> Layers:
    """Any five layers."""
    return Layers(*(draw(intents()) for _ in range(5)))


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Some of the built-in tools with or without plug-ins and servers, some of them not configured."""
    builtin = draw(st.lists(st.sampled_from(BUILTIN), unique_by=lambda tool: tool.name))
    unavailable = draw(st.dictionaries(st.sampled_from([tool.name for tool in BUILTIN]), st.just("no key"), max_size=2))
    made = Registry()
    made.put("builtin", builtin, unavailable)
    if draw(st.booleans()):
        made.put("plugin:weather", [WEATHER])
    if draw(st.booleans()):
        made.put("mcp:brave", [BRAVE])
    return made.snapshot
