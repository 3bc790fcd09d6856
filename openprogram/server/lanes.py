"""In which order a tab's actions are served: beside each other, but for those whose order means something.

What one action waits for (an endpoint's list of models, a directory on a disk that is away, a run that is just ending)
holds up no other but the ones that have to see what it did: two switches of one chat are flipped in the order sent, and
a message goes to the model chosen before it. A Stop waits for nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from openprogram.core.protocol import actions, control, user_actions
from openprogram.core.protocol.actions import Action, Stop

MAX_UNDER_WAY: Final = 1_000
"""Actions of one socket that are served or wait for each other; with more, nothing is read from it."""

Kind = Literal["switch", "mode", "answer", "user", "turn", "chat", "look", "list", "stop"]

_KINDS: Final[dict[type[object], Kind]] = {
    actions.SetToolsProfile: "switch",
    actions.ToggleWebSearch: "switch",
    actions.SetToolsEnabled: "switch",
    actions.SetToolDisabled: "switch",
    actions.PickTools: "switch",
    actions.SetPermissionMode: "mode",
    control.AnswerApproval: "answer",
    control.AnswerQuestion: "answer",
    user_actions.SetSetting: "user",
    user_actions.SavePreset: "user",
    user_actions.DeletePreset: "user",
    actions.Chat: "turn",
    actions.Compact: "turn",
    actions.ContinueTurn: "turn",
    actions.EditMessage: "turn",
    actions.Regenerate: "turn",
    actions.EditQueue: "turn",
    actions.ExplainTools: "look",
    actions.LoadMessages: "look",
    actions.ListSessions: "list",
    user_actions.GetSettings: "list",
    user_actions.ListModels: "list",
    Stop: "stop",
}
"""What else there is changes one chat or makes one: `chat`."""

_LOOKS: Final = ("look", "list")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an action stands among the others of its tab."""

    kind: Kind
    session_id: str | None
    id: str

    @classmethod
    def of(cls, action: Action) -> "Place":
        """The place of this action."""
        return cls(_KINDS.get(type(action), "chat"), getattr(action, "session_id", None), action.id)

    def follows(self, earlier: "Place") -> bool:
        """Whether this action has to see what that earlier one did."""
        if self.kind == "stop" or earlier.kind == "stop":
            return False
        if self.id == earlier.id:  # the one sent first has the effect (P5)
            return True
        if earlier.kind in _LOOKS:  # they change nothing, but their answers are large: one at a time
            return self.kind in _LOOKS
        if earlier.kind == "user":  # a preset that was saved can be chosen, and a new chat starts from the setting
            return self.kind not in ("mode", "answer")
        if self.session_id is None:  # a new chat may start from the newest one's switches
            return self.kind in ("turn", "chat") and earlier.kind == "switch"
        if self.session_id != earlier.session_id:
            return False
        return self.kind in ("turn", "chat", "look", earlier.kind)


Serve = Callable[[Action], Awaitable[None]]


class Lanes:
    """The actions of one tab that are under way, each a task of `tasks`.

    `serve` does an action and answers it; `repeat` does one that was answered before.
    """

    def __init__(self, tasks: asyncio.TaskGroup, serve: Serve, repeat: Serve) -> None:
        self._tasks = tasks
        self._serve = serve
        self._repeat = repeat
        self._under_way: dict[asyncio.Task[None], tuple[Place, list[asyncio.Task[None]]]] = {}
        self._room = asyncio.Event()
        self._room.set()

    def add(self, action: Action) -> None:
        """Serve it as soon as what it has to follow is done."""
        place = Place.of(action)
        if place.kind == "stop":
            turn = replace(place, kind="turn")
            others = self._under_way.values()
            begins = any(other.kind == "turn" and other.session_id == place.session_id for other, _ in others)
            self._start(action, place, self._serve)
            if begins:  # a turn that was asked for before, and begins after the Stop was served, is stopped as well
                self._start(action, turn, self._repeat)
        else:
            self._start(action, place, self._serve)

    async def room(self) -> None:
        """Wait until another action can be taken."""
        await self._room.wait()

    def _start(self, action: Action, place: Place, serve: Serve) -> None:
        before = self._followed(place)
        task = self._tasks.create_task(_after(before, action, serve), name=f"serve {action.action}")
        self._under_way[task] = place, before
        task.add_done_callback(self._done)
        if len(self._under_way) >= MAX_UNDER_WAY:
            self._room.clear()

    def _followed(self, place: Place) -> list[asyncio.Task[None]]:
        """What has to be done before; not what one of these waits for in any case."""
        followed, waited_for = list[asyncio.Task[None]](), set[asyncio.Task[None]]()
        for task, (other, before) in reversed(self._under_way.items()):
            if task in waited_for:
                waited_for.update(before)
            elif place.follows(other):
                followed.append(task)
                waited_for.update(before)
        return followed

    def _done(self, task: asyncio.Task[None]) -> None:
        del self._under_way[task]
        if len(self._under_way) < MAX_UNDER_WAY:
            self._room.set()


async def _after(before: list[asyncio.Task[None]], action: Action, serve: Serve) -> None:
    if before:
        await asyncio.wait(before)
    await serve(action)
