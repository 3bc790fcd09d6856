"""The live side of a chat that has a run: what actions from outside talk to."""

from dataclasses import dataclass

from openprogram.sessions.approvals import Broker
from openprogram.sessions.authority import LiveAuthority
from openprogram.sessions.questions import Questions
from openprogram.sessions.run import Run, RunSurfaces


@dataclass(frozen=True, slots=True)
class Live:
    """One run with the ports that actions reach it through."""

    run: Run
    authority: LiveAuthority
    broker: Broker
    questions: Questions
    surfaces: RunSurfaces
