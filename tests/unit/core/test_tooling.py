"""Contracts and loaded sets: equal words, equal fingerprints; discovery only grows, in order."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.loaded import LoadedSet
from openprogram.core.tooling import Contract, ContractTool, ToolOutput
from tests.support.tools import BASH, READ, spec


def _contract(*tools: ContractTool, intent: int = 1, registry: int = 1) -> Contract:
    return Contract(tools, intent, registry)


def _tool(**fields: object) -> ContractTool:
    return ContractTool(replace(READ, **fields), READ.execute, ("approval",))  # type: ignore[arg-type]


def test_a_fingerprint_tells_what_the_model_may_do_and_not_when_it_was_asked() -> None:  # T12, T23
    one = _contract(_tool())
    assert one.fingerprint == _contract(_tool(), intent=7, registry=9).fingerprint
    different = [
        _contract(),
        _contract(_tool(name="other")),
        _contract(_tool(description="reads better")),
        _contract(_tool(version="2")),
        _contract(_tool(residency="deferred")),
        _contract(ContractTool(READ, READ.execute, ())),
        _contract(_tool(), ContractTool(BASH, BASH.execute)),
    ]
    assert len({contract.fingerprint for contract in (one, *different)}) == len(different) + 1


def test_a_contract_knows_its_tools_by_name() -> None:
    contract = _contract(_tool())
    assert contract.names == ("read",)
    assert contract.get("read") == _tool()
    assert contract.get("bash") is None


@given(st.lists(st.lists(st.sampled_from("abcde")).map(tuple)))
def test_a_loaded_set_only_grows_and_keeps_its_order(found: list[tuple[str, ...]]) -> None:  # T22
    loaded = LoadedSet()
    for names in found:
        before = loaded.names
        new = loaded.add(names)
        assert loaded.names == (*before, *new)
        assert len(set(loaded.names)) == len(loaded.names)
        assert all(name in loaded for name in names)


def test_the_declaration_is_what_a_provider_is_told() -> None:
    tool = spec("weather", description="Tells it.")
    assert tool.declaration == {"name": "weather", "description": "Tells it.", "parameters": tool.parameters}


def test_an_error_is_an_output_too() -> None:
    assert ToolOutput.error("no").status == "error"
    assert ToolOutput.text("yes").status == "ok"
