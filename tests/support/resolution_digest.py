"""Prints one digest of many resolutions, catalogs and searches over a registry filled in random orders.

python -m tests.support.resolution_digest SEED, under several hash seeds
"""

import random
import sys
from itertools import product

from openprogram.agent.freeze import residency
from openprogram.agent.tool_search import tool_search
from openprogram.context.catalog import catalog
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import digest
from openprogram.core.tooling import AgentProfile, Contract, Preset, ToolSpec
from openprogram.tokens import count_tokens
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.registry import Registry
from openprogram.tools.resolve import resolve
from openprogram.tools.search.index import Index
from openprogram.tools.wrap import wrap
from tests.support.tools import BRAVE, BUILTIN, WEATHER, Person, Switches, spec

PRESETS = (
    Preset("mine", "Mine", entries=("re*", "gone", "-@network"), includes=("coding", "research")),
    Preset("all but", "All but", entries=("*", "-bash", "lost")),
)


def sources() -> dict[str, list[ToolSpec]]:
    """Many tools of several sources that ask for the same, invalid and too long names."""
    found: dict[str, list[ToolSpec]] = {"plugin:weather": [WEATHER], "mcp:brave": [BRAVE]}
    found["builtin"] = [*BUILTIN, tool_search]
    for server in range(6):
        found[f"mcp:s{server}"] = [
            spec(f"{'long_' * 15 if number % 5 == 0 else ''}get thing.{number % 9}", description=f"Number {number}.")
            for number in range(30)
        ]
    return found


def digests(seed: int) -> set[str]:
    """The digest of everything that resolution makes, for ten orders of registration."""
    shuffle = random.Random(seed)
    found = set()
    for _ in range(10):
        registry = Registry(shuffle.sample(PRESETS, len(PRESETS)))
        given = sources()
        for source in shuffle.sample(sorted(given), len(given)):
            tools = shuffle.sample(given[source], len(given[source]))
            registry.put(source, tools, {"web_fetch": "no network"}, about=f"All about {source}")
        index = Index(registry.snapshot.tools, registry.snapshot.about)
        found.add(digest([_resolved(registry, index, intent) for intent in _intents()]))
    return found


def _intents() -> list[ToolIntent]:
    presets = (None, "default", "full", "coding", "safe", "mine", "all but")
    return [
        ToolIntent(enabled, toolset, chip, ("write", "never"), picked)
        for enabled, toolset, chip, picked in product(
            (None, False), presets, (None, True, False), (None, ("weather", "away", "read"))
        )
    ]


def _resolved(registry: Registry, index: Index, intent: ToolIntent) -> list[object]:
    snapshot = registry.snapshot
    resolution = resolve(intent, snapshot, AgentProfile(forbidden=("get_*3",)), "web")
    contract = Contract(tuple(wrap(tool, Switches(), Person(), LeftBehind()) for tool in resolution.kept), 0, 0)
    return [
        [tool.declaration for tool in resolution.kept],
        [[name, drop.reason, drop.detail] for name, drop in resolution.dropped.items()],
        list(resolution.unknown),
        resolution.web_search,
        contract.fingerprint,
        residency(contract),
        catalog((tool for tool in resolution.kept if tool.residency == "deferred"), count_tokens),
        index.rank("search the weather, or get a thing", resolution.names, 8),
    ]


if __name__ == "__main__":
    print(*digests(int(sys.argv[1])))
