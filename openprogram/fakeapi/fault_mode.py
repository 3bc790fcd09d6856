"""Faults that hold for coming requests, whatever their answers: a provider's bad hour."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import PositiveInt

from openprogram.fakeapi.faults import Fault
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.scripts import FaultScript, MatchScript


class StandingFault(FaultScript):
    """A fault for the next `times` requests that match, or for all of them until it is taken back."""

    times: PositiveInt | None = None
    match: MatchScript = MatchScript()


@dataclass(slots=True)
class _Standing:
    fault: StandingFault
    left: int | None


@dataclass(slots=True)
class FaultMode:
    """The standing faults in the order in which they were set; a request takes the first that matches."""

    _standing: list[_Standing] = field(default_factory=list)

    def set(self, faults: list[StandingFault]) -> None:
        """Replace all standing faults; an empty list ends the bad hour."""
        self._standing = [_Standing(fault, fault.times) for fault in faults]

    def take(self, text: str, model: str, api: Api) -> Fault | None:
        """The fault that strikes a request, or `None`."""
        for standing in self._standing:
            if not standing.fault.match.fits(text, model, api):
                continue
            if standing.left is not None:
                standing.left -= 1
                if standing.left == 0:
                    self._standing.remove(standing)
            return standing.fault.fault()
        return None

    def __len__(self) -> int:
        return len(self._standing)
