"""The chip's tool where the model's provider searches the web itself: the same tool and name, in the provider's own
form (spec cache.md section 1)."""

from dataclasses import replace

from openprogram.core.prompt import ModelInfo
from openprogram.core.tooling import Resolution, ToolSpec
from openprogram.session_config.patches import WEB_SEARCH


def as_served(spec: ToolSpec, model: ModelInfo) -> ToolSpec:
    """The tool as this model has it."""
    kind = model.capability.hosted_search
    if spec.name != WEB_SEARCH or kind is None:
        return spec
    return replace(spec, hosted=kind, residency="resident")


def served(resolved: Resolution, model: ModelInfo) -> Resolution:
    """The chat's tools as this model has them."""
    return replace(resolved, kept=tuple(as_served(spec, model) for spec in resolved.kept))
