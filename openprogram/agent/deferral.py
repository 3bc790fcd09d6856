"""Which tools a request declares and which it only names, as pure functions over contract, loaded set and surface.

A tool is *declared* when the endpoint has its schema. What is authorised and not declared is deferred in fact, whatever
its residency: on an endpoint that cannot add for free, a resident tool that a switch brings in mid-epoch waits in the
notices like any other (spec cache.md C2).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from openprogram.agent.environment import Setup
from openprogram.agent.freeze import residency
from openprogram.agent.tool_search import loads
from openprogram.context.assembler import PromptContext, assemble
from openprogram.context.catalog import Count, catalog, entries_of, uncovered
from openprogram.core.jsonio import JsonObject, digest
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message
from openprogram.core.ports import Authority
from openprogram.core.prompt import ModelInfo
from openprogram.core.surface import Surface
from openprogram.core.tooling import DISCOVERY_TOOL, Contract, ToolSpec
from openprogram.surface.wanted import Place, Wanted


def with_groups(contract: Contract, names: Iterable[str]) -> tuple[str, ...]:
    """The names, each followed by the other members of its group, so that a group costs once (T17)."""
    groups: dict[tuple[str, str], list[str]] = {}
    family: dict[str, list[str]] = {}
    for spec in (tool.spec for tool in contract.tools):
        if spec.group is not None:
            family[spec.name] = groups.setdefault((spec.source, spec.group), [])
            family[spec.name].append(spec.name)
    return tuple(dict.fromkeys(member for name in names for member in (name, *family.get(name, ()))))


def worth_keeping(
    loaded: LoadedSet, contract: Contract, history: Sequence[Message], previous: Surface | None
) -> tuple[str, ...]:
    """The loaded tools that a rebase at the start of a turn still declares.

    A tool that was declared and never called, nor one of its group, goes back into the catalog; one that was discovered
    and never yet declared had no chance to be called.
    """
    called = set(with_groups(contract, {call.name: None for message in history for call in message.calls}))
    declared = set(previous.names) if previous is not None else set()
    return tuple(name for name in loaded.names if name in called or name not in declared)


def wanted(
    setup: Setup,
    loaded: Sequence[str],
    kept: Sequence[str],
    history: Sequence[Message],
    previous: Surface | None,
    answer: str,
    withheld: frozenset[str] = frozenset(),
) -> Wanted:
    """What the planner is asked for. `loaded` may be added within an epoch; of it a rebase declares only `kept`.

    `answer` is the id of the message that the request will be answered with. `withheld` are tools that the provider
    would run and that the user has switched off since the turn began.
    """
    asked = offer(setup.contract, setup.floor, setup.model, setup.count, loaded, kept, previous)
    if withheld:
        asked = without(asked, withheld)
    return replace(
        asked,
        system_digest=_digest(prompt_of(setup, previous)),
        branch=tuple(message.id for message in history),
        at=history[-1].id if history else "",
        answer=answer,
        search=newest_search(history),
        cut=cut_of(history),
    )


def withheld(contract: Contract, authority: Authority) -> frozenset[str]:
    """The contract's tools that the provider would run and that are not authorised any more: where no call of theirs is
    dispatched here, the next request is where a switch is honoured (spec tools.md T4, T21)."""
    hosted = (tool.spec.name for tool in contract.tools if tool.spec.hosted is not None)
    return frozenset(name for name in hosted if not authority.authorised_now(name))


def without(asked: Wanted, names: frozenset[str]) -> Wanted:
    """The same wishes but for these tools."""

    def rest(tools: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
        return tuple(tool for tool in tools if tool["name"] not in names)

    discovered = None if asked.discovered is None else rest(asked.discovered)
    return replace(asked, tools=rest(asked.tools), authorised=asked.names - names, discovered=discovered)


def prompt_of(setup: Setup, surface: Surface | None) -> PromptContext:
    """The system prompt's context in the epoch of this surface.

    A chat that began when the system prompt named the directory keeps it there as long as it stays in it: what was sent
    is not edited (design law 4). All others are told in notices.
    """
    named = replace(setup.prompt, workspace=str(setup.workspace))
    return named if surface is not None and surface.system_digest == _digest(named) else setup.prompt


def _digest(prompt: PromptContext) -> str:
    return digest(list(assemble(prompt).texts))


def cut_of(view: Sequence[Message]) -> str | None:
    """The summary that what a model sees begins with."""
    return view[0].id if view and view[0].compaction is not None else None


def newest_search(history: Sequence[Message]) -> Place | None:
    """The newest result of a call that loaded tools, where no answer came after it."""
    loading: set[str] = set()
    place: Place | None = None
    for message in history:
        if message.role == "assistant":
            place = None
            loading.update(call.call_id for call in message.calls if call.name == DISCOVERY_TOOL and loads(call))
        for result in message.results:
            if result.status == "ok" and result.call_id in loading:
                place = Place(message.id, result.call_id)
    return place


def offer(
    contract: Contract,
    floor: Iterable[ToolSpec],
    model: ModelInfo,
    count: Count,
    loaded: Sequence[str],
    kept: Sequence[str],
    previous: Surface | None = None,
) -> Wanted:
    """The tools' part of what the planner is asked for: the prices that are shown come from here as well.

    The tool that finds others never waits. Where it is missing, whatever a rebase declares is declared from the start.
    """
    how = residency(contract)
    residents = [name for name in contract.names if how[name] == "resident"]
    deferred = [tool.spec for tool in contract.tools if how[tool.spec.name] == "deferred"]
    return Wanted(
        model=model.id,
        tools=_declarations(contract, (*residents, *kept)),
        floor=tuple(spec.declaration for spec in floor),
        system_digest="",
        authorised=frozenset(contract.names),
        discovered=_declarations(contract, (DISCOVERY_TOOL, *loaded)) if DISCOVERY_TOOL in how else None,
        waiting=_waiting(contract, loaded, previous),
        deferred=tuple(spec.declaration for spec in deferred if spec.name not in kept),
        catalog=catalog((spec for spec in deferred if spec.name not in kept), count),
    )


def undeclared(contract: Contract, surface: Surface | None) -> tuple[ToolSpec, ...]:
    """The authorised tools whose schemas the endpoint does not have; before any request those that are to wait.

    `surface` is as the branch has it. On `frozen` there are none: what came later cannot be loaded, it waits.
    """
    if surface is not None and surface.strategy == "frozen":
        return ()
    if surface is None:
        how = residency(contract)
        return tuple(tool.spec for tool in contract.tools if how[tool.spec.name] == "deferred")
    declared = set(surface.names)
    return tuple(tool.spec for tool in contract.tools if tool.spec.name not in declared)


def _waiting(contract: Contract, loaded: Sequence[str], previous: Surface | None) -> frozenset[str]:
    """What does not join the declared tools within an epoch, where nothing can be found any more: what had been told of
    in the catalog. So a switch that takes the finding away, or leaves a part of what there was, declares nothing (spec
    cache.md C2)."""
    if previous is None or contract.get(DISCOVERY_TOOL) is not None:
        return frozenset()
    new = uncovered((tool.spec for tool in contract.tools), entries_of(previous.catalog))
    return frozenset(contract.names) - {spec.name for spec in new} - set(loaded)


def _declarations(contract: Contract, names: Iterable[str]) -> tuple[JsonObject, ...]:
    known = {tool.spec.name: tool.spec for tool in contract.tools}
    return tuple(known[name].declaration for name in names if name in known)
