"""The conversation: sending, stopping, branching, the queue, and answers to the agent's questions."""

from typing import Final

from openprogram.core.protocol.actions import (
    Chat,
    Compact,
    ContinueTurn,
    EditMessage,
    EditQueue,
    Regenerate,
    SelectBranch,
    Stop,
)
from openprogram.core.protocol.control import AnswerApproval, AnswerQuestion
from openprogram.server.ws_actions.base import Handlers, perform

HANDLERS: Final[Handlers] = {
    Chat: perform,
    Stop: perform,
    Compact: perform,
    ContinueTurn: perform,
    EditMessage: perform,
    Regenerate: perform,
    SelectBranch: perform,
    EditQueue: perform,
    AnswerApproval: perform,
    AnswerQuestion: perform,
}
