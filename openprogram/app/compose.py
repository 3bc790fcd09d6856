"""The composition root: every layer is built and wired here, and nowhere else."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from openprogram.app.demo import ENDPOINT, MODEL, DemoProcess
from openprogram.app.models import Models
from openprogram.app.search import Search
from openprogram.app.serve import Parts
from openprogram.app.settings import Settings
from openprogram.bus.local import LocalBus
from openprogram.core.errors import ConfigError
from openprogram.core.ids import new_id
from openprogram.core.tooling import AgentProfile
from openprogram.providers.config import EndpointConfig, ModelEntry
from openprogram.providers.factory import build_provider, warm_up
from openprogram.sessions.hub import Defaults, Ports
from openprogram.sessions.service import session_service
from openprogram.store.sqlite import SqliteStore
from openprogram.tools.builtin import builtin_tools
from openprogram.tools.registry import Registry

DATABASE: Final = "openprogram.db"
WELCOME: Final = """# Workspace

This is the directory that chats work in until you give them another one: files that the assistant reads, writes and
runs live here. Delete this file whenever you like.
"""


@asynccontextmanager
async def compose(settings: Settings) -> AsyncIterator[Parts]:
    """A running application without its server. Raises `ConfigError` or `StorageError` where it cannot run."""
    prepare_workspace(settings.workspace)
    async with AsyncExitStack() as stack:
        store = await SqliteStore.open(settings.home / DATABASE)
        stack.push_async_callback(store.aclose)
        bus = LocalBus()
        stack.push_async_callback(bus.aclose)
        models = Models(settings.endpoints, DemoProcess(), demo_endpoint, build_provider, now=time.monotonic)
        stack.push_async_callback(models.aclose)
