"""The composition root: every layer is built and wired here, and nowhere else."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from openprogram.app.beside import beside
from openprogram.app.builtin import BuiltinSource, job_ended, journals, output_dir
from openprogram.app.counting import counting
from openprogram.app.demo import ENDPOINT, MODEL, DemoProcess
from openprogram.app.finding import finding
from openprogram.app.home import sole_use
from openprogram.app.models import DEMO_INFO, Models
from openprogram.app.plugins import following_packages
from openprogram.app.presets import PresetSource, following
from openprogram.app.serve import Parts
from openprogram.app.settings import OWN_WORKSPACE, Settings
from openprogram.bus.local import LocalBus
from openprogram.core.errors import ConfigError
from openprogram.core.ids import new_id
from openprogram.core.jsonio import JsonValue
from openprogram.core.tooling import AgentProfile
from openprogram.permissions.modes import refused_by_mode
from openprogram.providers.config import BUILT_IN, EndpointConfig, ModelEntry
from openprogram.providers.factory import build_provider, warm_up
from openprogram.server.auth import OWNER
from openprogram.sessions.hub import Defaults, Ports, SettingChanged
from openprogram.sessions.presets import PRESETS
from openprogram.sessions.service import session_service
from openprogram.sessions.settings import KEYLESS_SEARCH
from openprogram.store.sqlite.store import SqliteStore
from openprogram.tokens.counts import TokenCounts
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.change_journal import recover
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.output import prune
from openprogram.tools.builtin.playwright_browser import browsing
from openprogram.tools.registry import Registry

DATABASE: Final = "openprogram.db"
_WELCOME: Final = """# Workspace

Chats work in this directory until you give them another one: files that the assistant reads, writes and runs are here.
Delete this file whenever you like.
"""


@asynccontextmanager
async def compose(settings: Settings) -> AsyncIterator[Parts]:
    """A running application without its server. Raises `ConfigError` or `StorageError` where it cannot run."""
    prepare_workspace(settings)
    async with AsyncExitStack() as stack:
        stack.enter_context(sole_use(settings.home))
        await asyncio.to_thread(recover, journals(settings))
        store = await SqliteStore.open(settings.home / DATABASE)
        stack.push_async_callback(store.aclose)
        bus = LocalBus()
        stack.push_async_callback(bus.aclose)
        demo = DemoProcess()
        models = Models(settings.endpoints, demo, demo_endpoint, build_provider, now=time.monotonic)
        stack.push_async_callback(models.aclose)
        jobs = await stack.enter_async_context(Jobs(output_dir(settings)))
        registry = Registry()
        browsers = await stack.enter_async_context(browsing(BrowserConfig()))
        builtin = BuiltinSource(settings, registry, jobs, browsers, None if models.has_endpoint else demo)
        presets = PresetSource(registry, settings.presets, await store.setting(OWNER.id, PRESETS))
        await stack.enter_async_context(following(settings.home, presets))
        builtin.register(keyless_consent=bool(await store.setting(OWNER.id, KEYLESS_SEARCH)))
        await stack.enter_async_context(following_packages(registry))
        tokens = TokenCounts(store)
        apis = {DEMO_INFO.counting.api, *(endpoint.api for endpoint in settings.endpoints)}
        await stack.enter_async_context(counting(registry, tokens, apis))
        ports = Ports(
            store=store,
            bus=bus,
            models=models,
            snapshot=lambda: registry.snapshot,
            finder=await stack.enter_async_context(finding(settings, registry)),
            tokens=tokens,
            clock=time.time,
            monotonic=time.monotonic,
            news=jobs.news,
            setting_changed=followers(builtin.setting_changed, presets.setting_changed),
            mode_rule=refused_by_mode,
            tidy=lambda: asyncio.to_thread(prune, builtin.output_dir, time.time(), keep=jobs.outputs()),
        )
        defaults = Defaults(
            workspace=settings.workspace,
            profile=AgentProfile(),
            permission_mode=settings.permission_mode,
            platform=sys.platform,
            home=settings.home,
            secrets=settings.secrets,
        )
        service = await stack.enter_async_context(session_service(ports, defaults, new_id("e")))
        stack.callback(jobs.subscribe(lambda job: service.tell(job.session_id, job_ended(job))))
        stack.callback(registry.subscribe(lambda _: service.registry_changed(OWNER.id)))
        models.subscribe(lambda: service.models_changed(OWNER.id))
        await stack.enter_async_context(beside(lambda: warm_up(settings.endpoints), "warm up", again_s=None))
        yield Parts(service=service, log=store, bus=bus)


def followers(*each: SettingChanged) -> SettingChanged:
    """All of them, told of a setting one after the other."""

    def changed(user_id: str, key: str, value: JsonValue) -> None:
        for follower in each:
            follower(user_id, key, value)

    return changed


def prepare_workspace(settings: Settings) -> None:
    """Make the server's own workspace, with a word of welcome, if it is not there. Raises `ConfigError`.

    One that was named is never made: a name that is not there is a typo.
    """
    workspace = settings.workspace
    if workspace.is_dir() or workspace != settings.home / OWN_WORKSPACE:
        return
    try:
        workspace.mkdir(parents=True)
        (workspace / "README.md").write_text(_WELCOME, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"the workspace {workspace} cannot be made: {error.strerror or error}",
            field="chat.workspace",
            hint="name another directory in config.toml",
        ) from error


def demo_endpoint(base_url: str) -> EndpointConfig:
    """The demo as an endpoint like any other: it speaks Chat Completions over HTTP."""
    return EndpointConfig(
        name=ENDPOINT,
        api="openai-chat",
        base_url=f"{base_url}/v1",
        key="demo",
        models=(ModelEntry(MODEL),),
        source=BUILT_IN,
    )
