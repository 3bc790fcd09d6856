"""The built-in tools as a source of the registry, kept in step with the settings that they depend on."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from openprogram.agent.tool_search import tool_search
from openprogram.app.demo import DemoProcess
from openprogram.app.settings import Settings
from openprogram.core.events import Notice
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.sessions.settings import KEYLESS_SEARCH
from openprogram.tools.builtin.compose import BuiltinConfig, builtin_tools, unavailable_tools
from openprogram.tools.builtin.job_words import ending, short
from openprogram.tools.builtin.jobs import Job, Jobs
from openprogram.tools.builtin.playwright_browser import Browsers
from openprogram.tools.builtin.search_config import SearchConfig
from openprogram.tools.builtin.web_search import web_search_tool
from openprogram.tools.registry import Registry

_ON_DEMAND: Final = "on-demand"
"""Stands for the demo's address, which is known once its process runs."""


def output_dir(settings: Settings) -> Path:
    """Where commands leave their output."""
    return settings.home / "output"


def journals(settings: Settings) -> Path:
    """Where changes of several files are noted down while they are made."""
    return settings.home / "changes"


def job_ended(job: Job) -> Notice:
    """What people are shown when a background command has ended by itself."""
    how = ending(job.end.code) if job.end is not None else "ended"
    return Notice("job_ended", f"Background command {job.id}: {how} ({short(job.command)})")


class BuiltinSource:
    """Registers the built-in tools, and again when a setting changes what they can do.

    `demo` offers its canned search where no endpoint and no search service is configured; None: it is not offered.
    """

    def __init__(
        self, settings: Settings, registry: Registry, jobs: Jobs, browsers: Browsers, demo: DemoProcess | None
    ) -> None:
        search = settings.search
        self.output_dir: Final = output_dir(settings)
        self._registry = registry
        self._demo = demo
        self._config = BuiltinConfig(
            output_dir=self.output_dir,
            jobs=jobs,
            journals=journals(settings),
            browsers=browsers,
            search=SearchConfig(
                tavily_key=search.tavily_key,
                brave_key=search.brave_key,
                exa_key=search.exa_key,
                serper_key=search.serper_key,
                searxng_url=search.searxng_url,
                demo_url=_ON_DEMAND if demo is not None else None,
            ),
        )

    def register(self, *, keyless_consent: bool) -> None:
        """Put the tools into the registry as they are configured now."""
        config = replace(self._config, search=replace(self._config.search, keyless_consent=keyless_consent))
        tools = tuple(self._with_demo(tool, config.search) for tool in builtin_tools(config))
        self._registry.put("builtin", (*tools, tool_search), unavailable_tools(config))

    def setting_changed(self, _user_id: str, key: str, value: JsonValue) -> None:
        """Follow a setting that was stored."""
        if key == KEYLESS_SEARCH:
            self.register(keyless_consent=bool(value))

    def _with_demo(self, tool: ToolSpec, search: SearchConfig) -> ToolSpec:
        """The search tool that asks the demo, whose process starts with the first query."""
        demo = self._demo
        if tool.name != "web_search" or demo is None or search.configured:
            return tool

        async def execute(arguments: JsonObject, context: ToolContext) -> ToolOutput:
            known = replace(search, demo_url=await demo.base_url())
            return await web_search_tool(known).execute(arguments, context)

        return replace(tool, execute=execute)
