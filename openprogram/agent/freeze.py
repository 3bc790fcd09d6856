"""Freezing: a resolution becomes the contract of one turn (spec tools.md section 4)."""

from collections.abc import Callable

from openprogram.core.tooling import DISCOVERY_TOOL, Contract, ContractTool, LoadedSet, Residency, Resolution, ToolSpec


def freeze(resolution: Resolution, wrap: Callable[[ToolSpec], ContractTool]) -> Contract:
    """The authorised tools with their executors wrapped once; what the registry does later changes nothing in it."""
    return Contract(
        tools=tuple(wrap(spec) for spec in resolution.kept),
        intent_revision=resolution.intent_revision,
        registry_version=resolution.registry_version,
    )


def residency(contract: Contract) -> dict[str, Residency]:
    """How each authorised tool is shown in this turn."""
    if contract.get(DISCOVERY_TOOL) is None:
        return dict.fromkeys(contract.names, "resident")
    return {tool.spec.name: tool.spec.residency for tool in contract.tools}


def shown(contract: Contract, loaded: LoadedSet) -> tuple[ToolSpec, ...]:
    """The tools whose schemas the next request carries: the residents, then the loaded ones in order of discovery."""
    how = residency(contract)
    residents = tuple(tool.spec for tool in contract.tools if how[tool.spec.name] == "resident")
    found = (contract.get(name) for name in loaded.names if how.get(name) == "deferred")
    return residents + tuple(tool.spec for tool in found if tool is not None)
