"""Everything that the server's parts are handed, in one value."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from openprogram.core.clock import Clock
from openprogram.server.access import Access
from openprogram.server.fanout import Fanout
from openprogram.server.metrics import Metrics
from openprogram.server.service import Service


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """What `create_app` needs. `ready` says whether `/readyz` is good; `static` holds the built interface."""

    service: Service
    fanout: Fanout
    access: Access
    static: Path
    ready: Callable[[], bool] = _always
    heartbeat_s: float = 10.0
    clock: Clock = time.time
    metrics: Metrics = field(default_factory=Metrics)
