"""Questions that change nothing: what a chat's tools are, and why."""

from typing import Final

from openprogram.core.protocol.actions import ExplainTools
from openprogram.server.ws_actions.base import Handlers, perform

HANDLERS: Final[Handlers] = {
    ExplainTools: perform,
}
