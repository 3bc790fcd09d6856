"""How each tool of a contract is shown (tools.md section 3)."""

from openprogram.agent.freeze import freeze, residency
from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import Contract, ContractTool
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


def test_what_is_resident_or_deferred_is_its_typed_field() -> None:  # T16
    assert residency(_contract(SEARCH)) == {
        "alpha": "deferred",
        "bash": "resident",
        "delta": "deferred",
        "gamma": "deferred",
        "tool_search": "resident",
    }
