"""The `Discovery` port of one call: what the running turn can find and load, and what this call asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from openprogram.agent.deferral import undeclared, with_groups
from openprogram.agent.environment import Rank
from openprogram.agent.freeze import residency
from openprogram.core.jsonio import JsonObject
from openprogram.core.loaded import LoadedSet
from openprogram.core.ports import Authority, Discovery, Selection
from openprogram.core.surface import Surface
from openprogram.core.tooling import DISCOVERY_TOOL, Contract, ToolSpec


@dataclass(frozen=True, slots=True)
class Discoverable:
    """What discovery looks at in a turn. `surface` is what the model was shown when it made its calls."""

    contract: Contract
    surface: Surface | None
    loaded: LoadedSet
    authority: Authority
    rank: Rank

    @property
    def undeclared(self) -> dict[str, ToolSpec]:
        """What the model has no schema of, by name; nothing where the turn has no way to ask for one."""
        if self.contract.get(DISCOVERY_TOOL) is None:
            return {}
        return {spec.name: spec for spec in undeclared(self.contract, self.surface)}

    @property
    def findable(self) -> dict[str, ToolSpec]:
        """What a free text may find: the undeclared, and the deferred that are loaded."""
        how = residency(self.contract)
        deferred = {tool.spec.name: tool.spec for tool in self.contract.tools if how[tool.spec.name] == "deferred"}
        return {name: spec for name, spec in (deferred | self.undeclared).items() if self.allows(name)}

    def allows(self, name: str) -> bool:
        """Whether the turn has this tool and the user still wants it."""
        return self.contract.get(name) is not None and self.authority.authorised_now(name)

    def needs_loading(self, name: str) -> bool:
        """Whether a call of this tool was written without its schema (T20)."""
        return name in self.undeclared and name not in self.loaded


@dataclass(frozen=True, slots=True)
class CallDiscovery(Discovery):
    """The port. `discovered` collects the names; they join the loaded set once all calls of the answer are done, in the
    order of the calls (T22)."""

    among: Discoverable
    discovered: list[str] = field(default_factory=list)

    async def find(self, query: str, limit: int) -> tuple[JsonObject, ...]:
        """The deferred tools that fit best, loaded or not."""
        findable = self.among.findable
        return tuple(findable[name].declaration for name in await self.among.rank(query, findable.keys(), limit))

    def select(self, names: Sequence[str]) -> Selection:
        """Load these, with their groups."""
        undeclared = self.among.undeclared
        names = tuple(dict.fromkeys(names))
        allowed = [name for name in names if self.among.allows(name)]
        members = with_groups(self.among.contract, allowed)
        wanted = [name for name in members if name in undeclared and self.among.allows(name)]
        self.discovered.extend(name for name in wanted if name not in self.discovered)
        return Selection(
            loaded=tuple(undeclared[name].declaration for name in wanted),
            ready=tuple(name for name in allowed if name not in undeclared),
            unknown=tuple(name for name in names if name not in allowed),
        )
