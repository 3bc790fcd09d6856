"""Freezing: a resolution becomes the contract of one turn (spec tools.md section 4)."""

from collections.abc import Callable

from openprogram.core.prompt import Residency
from openprogram.core.tooling import DISCOVERY_TOOL, Contract, ContractTool, Resolution, ToolSpec


def freeze(resolution: Resolution, wrap: Callable[[ToolSpec], ContractTool]) -> Contract:
    """The authorised tools with their executors wrapped once; what the registry does later changes nothing in it."""
    return Contract(
        tools=tuple(wrap(spec) for spec in resolution.kept),
        intent_revision=resolution.intent_revision,
        registry_version=resolution.registry_version,
    )


def residency(contract: Contract) -> dict[str, Residency]:
    """How each authorised tool is shown in this turn: the one place that decides it (spec tools.md section 3)."""
    if contract.get(DISCOVERY_TOOL) is None:
        return dict.fromkeys(contract.names, "resident")
    return {tool.spec.name: tool.spec.residency for tool in contract.tools} | {DISCOVERY_TOOL: "resident"}
