"""The tools of a replayed chat: the program's own, with recorded results in place of real work, a server that may be
gone, and a way out of plan mode."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from _script import EXIT_PLAN, SERVED

from openprogram.app.builtin import BuiltinSource
from openprogram.app.settings import Flags, load_settings
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.ports import Provider
from openprogram.core.prompt import ModelInfo
from openprogram.core.tooling import DISCOVERY_TOOL, ToolContext, ToolOutput, ToolSpec
from openprogram.providers.config import EndpointConfig
from openprogram.providers.factory import build_provider
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.playwright_browser import Browsers
from openprogram.tools.registry import Registry

SERVER: Final = "mcp:bench"
PLANNING: Final = "plugin:plan"
Execute = Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]


@dataclass
class World:
    """One life of the program: a registry and a provider. A restart makes another one.

        async with World(config, bash, home) as world: ...

    `bash` does what the recorded commands did. `planning` is whether plan mode is on.
    """

    config: EndpointConfig
    bash: Execute
    home: Path
    planning: bool = False
    registry: Registry = field(default_factory=Registry)
    boots: int = 0
    up: bool = False
    order: tuple[str, ...] = SERVED

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        await self._stack.__aenter__()
        await self.boot()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def model(self) -> ModelInfo:
        """The model that the chat is with."""
        return self.config.info(self.config.models[0].model)

    @property
    def provider(self) -> Provider:
        """Where requests go."""
        return self._provider

    async def boot(self) -> None:
        """Begin anew with what is configured; servers are there again."""
        await self._stack.aclose()
        self.boots += 1
        self._provider = build_provider(self.config)
        self._stack.push_async_callback(self._provider.aclose)
        jobs = await self._stack.enter_async_context(Jobs())
        self.registry = Registry()
        settings = load_settings(Flags(home=str(self.home)), {})
        BuiltinSource(settings, self.registry, jobs, Browsers(BrowserConfig()), None).register(keyless_consent=True)
        builtin = [tool for tool in self.registry.snapshot.tools if tool.source == "builtin"]
        self.registry.put("builtin", map(self._recorded, builtin))
        self.registry.put(PLANNING, [self._exit_plan()])
        self.serve(up=True)

    def serve(self, *, up: bool) -> None:
        """The server is lost, or is back with its list in another order."""
        self.up = up
        self.order = self.order[::-1]
        self.registry.put(SERVER, map(self._served, self.order) if up else ())

    def _recorded(self, tool: ToolSpec) -> ToolSpec:
        """Commands give what they gave; nothing else is really done."""
        if tool.name == DISCOVERY_TOOL:
            return tool
        return replace(tool, execute=self.bash if tool.name == "bash" else _nothing)

    def _exit_plan(self) -> ToolSpec:
        parameters: JsonObject = {
            "type": "object",
            "properties": {"plan": {"type": "string", "description": "The plan, as the user is to read it."}},
            "required": ["plan"],
            "additionalProperties": False,
        }

        async def leave(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
            if not self.planning:
                raise ToolFailure("Plan mode is not on.")
            self.planning = False
            return ToolOutput.text("The user agrees. Plan mode is off: go ahead.")

        return ToolSpec(
            EXIT_PLAN, "Show the user a plan and ask to leave plan mode.", parameters, leave, presets=("coding",)
        )

    def _served(self, name: str) -> ToolSpec:
        parameters: JsonObject = {
            "type": "object",
            "properties": {
                "subject": {"type": "string", "description": "What to look at: a module, a test or a person."},
                "since": {"type": "string", "description": "Only what is newer than this date, as YYYY-MM-DD."},
                "form": {"type": "string", "enum": ["short", "long"], "description": "How much of each to show."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Most entries."},
            },
            "required": ["subject"],
            "additionalProperties": False,
        }

        async def report(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
            if not self.up:
                raise ToolFailure("The server bench is not connected.")
            return ToolOutput.text("Nothing new.")

        number = name.rpartition("_")[2]
        return ToolSpec(name, f"Report number {number} on a subject, newest entries first.", parameters, report)


async def _nothing(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
    return ToolOutput.text("Done.")
