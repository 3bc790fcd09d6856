"""What a chat's tools are, what its requests cost, and why; and having its tools declared anew."""

from typing import Final

from openprogram.core.protocol.actions import ExplainTools
from openprogram.core.protocol.cache_actions import (
    ForceRebase,
    InspectCache,
    InspectStep,
    PreviewModels,
    PreviewSend,
    PreviewToggle,
    UsageTotals,
)
from openprogram.server.ws_actions.base import Handlers, perform

HANDLERS: Final[Handlers] = {
    ExplainTools: perform,
    InspectCache: perform,
    InspectStep: perform,
    UsageTotals: perform,
    PreviewToggle: perform,
    PreviewSend: perform,
    PreviewModels: perform,
    ForceRebase: perform,
}
