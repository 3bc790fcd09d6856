"""Which schemas a request carries: residents first, then what was discovered, in that order (tools.md section 3)."""

from openprogram.agent.freeze import freeze, residency, shown
from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import Contract, ContractTool, LoadedSet
from openprogram.tools.registry import Registry
from tests.support.tools import resolved, spec

TOOLS = [
    spec("alpha", residency="deferred"),
    spec("bash", residency="resident"),
    spec("delta", residency="deferred"),
    spec("gamma", residency="deferred"),
]
SEARCH = spec("tool_search", residency="resident")


def _contract(*more: object) -> Contract:
    registry = Registry()
    registry.put("builtin", [*TOOLS, *more])  # type: ignore[list-item]
    resolution = resolved(ToolIntent(toolset="full"), registry.snapshot)
    return freeze(resolution, lambda tool: ContractTool(tool, tool.execute, ("wrapped",)))


def test_a_contract_is_the_resolution_with_its_executors_wrapped_once() -> None:  # T21
    contract = _contract()
    assert contract.names == ("alpha", "bash", "delta", "gamma")
    assert {tool.wrappers for tool in contract.tools} == {("wrapped",)}


def test_nothing_is_deferred_where_nothing_could_be_found() -> None:
    assert set(residency(_contract()).values()) == {"resident"}
    assert [tool.name for tool in shown(_contract(), LoadedSet())] == ["alpha", "bash", "delta", "gamma"]


def test_a_deferred_tool_is_not_shown_until_it_is_loaded_and_then_in_order_of_discovery() -> None:  # T16, T18, T22
    contract = _contract(SEARCH)
    assert residency(contract)["gamma"] == "deferred"
    assert [tool.name for tool in shown(contract, LoadedSet())] == ["bash", "tool_search"]
    loaded = LoadedSet(("gamma", "gone", "alpha", "bash"))
    assert [tool.name for tool in shown(contract, loaded)] == ["bash", "tool_search", "gamma", "alpha"]
