"""The one door to the chats: every action of the protocol goes through `SessionService.perform` (spec tools.md T10)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast

import structlog
from pydantic import TypeAdapter

from openprogram import __version__
from openprogram.core.errors import IdConflict, OpenProgramError, StorageError, UnknownAction
from openprogram.core.events import Notice
from openprogram.core.protocol import VERSION, actions, user_actions
from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.cache_actions import (
    ForceRebase,
    InspectCache,
    InspectStep,
    PreviewModels,
    PreviewSend,
    PreviewToggle,
    UsageTotals,
)
from openprogram.core.protocol.control import AnswerApproval, AnswerQuestion
from openprogram.core.protocol.frames import (
    Ack,
    AnyAck,
    ChatAck,
    Hello,
    IntentAck,
    PreviewAck,
    SessionAck,
    SettingsAck,
    Snapshot,
    UserInfo,
)
from openprogram.core.storage import Remembered
from openprogram.sessions import (
    answers,
    branches,
    chat,
    compacting,
    inspect,
    intents,
    manage,
    models,
    presets,
    preview,
    read,
    rebase,
    send_price,
    settings,
)
from openprogram.sessions.hub import Defaults, Hub, Ports
from openprogram.sessions.messaging import OtherChats
from openprogram.sessions.request import Request
from openprogram.sessions.startup import recover_all
from openprogram.sessions.sweeping import sweep_for_ever

_log = structlog.get_logger(__name__)

Handler = Callable[[Hub, Request, Any], Awaitable[AnyAck]]

HANDLERS: Final[Mapping[type[Any], Handler]] = MappingProxyType(
    {
        actions.Chat: chat.chat,
        actions.Stop: chat.stop,
        actions.ContinueTurn: chat.continue_turn,
        actions.Compact: compacting.compact,
        actions.EditMessage: branches.edit_message,
        actions.Regenerate: branches.regenerate,
        actions.SelectBranch: branches.select_branch,
        actions.EditQueue: chat.edit_queue,
        actions.SetToolsProfile: intents.set_tools_profile,
        actions.ToggleWebSearch: intents.toggle_web_search,
        actions.SetToolsEnabled: intents.set_tools_enabled,
        actions.SetToolDisabled: intents.set_tool_disabled,
        actions.PickTools: intents.pick_tools,
        actions.ExplainTools: read.explain_tools,
        actions.CreateSession: manage.create_session,
        actions.ListSessions: manage.list_sessions,
        actions.RenameSession: manage.rename_session,
        actions.PinSession: manage.pin_session,
        actions.DeleteSession: manage.delete_session,
        actions.RestoreSession: manage.restore_session,
        actions.LoadMessages: read.load_messages,
        actions.SetModel: manage.set_model,
        actions.SetWorkspace: manage.set_workspace,
        actions.SetPermissionMode: manage.set_permission_mode,
        InspectCache: inspect.inspect_cache,
        InspectStep: inspect.inspect_step,
        UsageTotals: inspect.usage,
        PreviewToggle: preview.preview_toggle,
        PreviewSend: send_price.preview_send,
        PreviewModels: send_price.preview_models,
        ForceRebase: rebase.force_rebase,
        AnswerApproval: answers.answer_approval,
        AnswerQuestion: answers.answer_question,
        user_actions.GetSettings: settings.get_settings,
        user_actions.ListModels: models.list_models,
        user_actions.SetSetting: settings.set_setting,
        user_actions.SavePreset: presets.save_preset,
        user_actions.DeletePreset: presets.delete_preset,
    }
)
"""What serves each action; `subscribe`, `unsubscribe` and `ping` belong to the connection."""

_DONE_BY_COMMIT: Final = frozenset({actions.Chat})
"""Actions that do nothing before their commit, which refuses to be done twice: whether they were done before is only
asked where they fail, as the first token would wait for the answer."""


class SessionService:
    """All chats of this server. Use `session_service` to open one: its runs live inside that block."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._under_way: dict[tuple[str, str], asyncio.Task[AnyAck]] = {}

    @property
    def boot_id(self) -> str:
        """Id of this process's start."""
        return self._hub.boot_id

    async def hello(self, user: UserInfo) -> Hello:
        """The first frame on a socket: who the user is, and what there is to choose from."""
        hub = self._hub
        choices, default = await models.choices(hub)
        return Hello(
            version=VERSION,
            server=__version__,
            boot_id=hub.boot_id,
            user=user,
            models=choices,
            default_model=default,
            presets=presets.preset_infos(hub.ports.snapshot()),
            workspace=str(hub.defaults.workspace),
        )

    async def perform(self, user_id: str, action: Action) -> AnyAck:
        """Do an action and return its ack. The same id again has no second effect and gets an equal ack (P5).

        Raises `OpenProgramError`; then nothing was applied and the id is not remembered. A caller that is cancelled
        (its client went away) cancels nothing: what was begun is done whole.
        """
        handler = HANDLERS.get(type(action))
        if handler is None:
            raise UnknownAction(f"{action.action} is not served here", field="action")
        key = (user_id, action.id)
        while (twin := self._under_way.get(key)) is not None:
            await asyncio.wait({twin})
        work = asyncio.create_task(self._perform(handler, user_id, action), name=f"action {action.action}")
        self._under_way[key] = work
        work.add_done_callback(partial(self._done, key))
        return await asyncio.shield(work)

    async def settle(self) -> None:
        """Wait for the actions under way."""
        while self._under_way:
            await asyncio.wait(set(self._under_way.values()))

    async def _perform(self, handler: Handler, user_id: str, action: Action) -> AnyAck:
        request = Request.of(user_id, action)
        if type(action) not in _DONE_BY_COMMIT and (known := await self._known(request)) is not None:
            return _read_ack(action, known)
        try:
            return await handler(self._hub, request, action)
        except (
            OpenProgramError
        ):  # what was done before may be refused now, if not for its commit then for a change since
            if (known := await self._known(request)) is None:
                raise
            return _read_ack(action, known)

    def _done(self, key: tuple[str, str], work: asyncio.Task[AnyAck]) -> None:
        del self._under_way[key]
        if not work.cancelled() and (error := work.exception()) is not None:
            _log.debug("action_refused", action=work.get_name(), error=repr(error))

    async def snapshot(self, user_id: str, session_id: str) -> Snapshot:
        """A chat as of now. Raises `UnknownSession`."""
        return await read.snapshot(self._hub, user_id, session_id)

    async def authorise(self, user_id: str, session_id: str) -> None:
        """Raises `UnknownSession` unless the chat is this user's."""
        await self._hub.row(user_id, session_id)

    def registry_changed(self, user_id: str) -> None:
        """Tell a user's tabs that tools, presets or what is available are others now."""
        self._hub.sidebar.hint(user_id, "registry_changed")

    def tell(self, session_id: str, notice: Notice) -> None:
        """Show a quiet line in a chat: something happened beside its turns. One that is gone is not told."""
        if not self._hub.closing:
            self._hub.tasks.create_task(self._tell(session_id, notice), name=f"tell {session_id}")

    async def _tell(self, session_id: str, notice: Notice) -> None:
        try:
            row = await self._hub.ports.store.session(session_id)
            if row is not None and not row.info.deleted:
                await self._hub.journal.commit(session_id, row.user_id, (notice,))
        except StorageError as error:
            _log.warning("not_told", session_id=session_id, notice=notice.code, error=error.message)

    def models_changed(self, user_id: str) -> None:
        """Tell a user's tabs that an endpoint has other models than they were told."""
        self._hub.sidebar.hint(user_id, "models_changed")

    async def _known(self, request: Request) -> Remembered | None:
        known = await self._hub.ports.store.remembered(request.user_id, request.client_id)
        if known is not None and known.digest != request.digest:
            raise IdConflict("this id was used for something else", field="id", hint="make a fresh id for each action")
        return known


_ACKS: Final[Mapping[type[Any], TypeAdapter[Any]]] = MappingProxyType(
    {
        actions.Chat: TypeAdapter(ChatAck),
        actions.EditMessage: TypeAdapter(ChatAck),
        actions.SetToolsProfile: TypeAdapter(IntentAck),
        actions.ToggleWebSearch: TypeAdapter(IntentAck),
        actions.SetToolsEnabled: TypeAdapter(IntentAck),
        actions.SetToolDisabled: TypeAdapter(IntentAck),
        actions.PickTools: TypeAdapter(IntentAck),
        ForceRebase: TypeAdapter(PreviewAck),
        user_actions.SetSetting: TypeAdapter(SettingsAck),
        user_actions.SavePreset: TypeAdapter(Ack),
        user_actions.DeletePreset: TypeAdapter(Ack),
    }
)
_SESSION_ACK: Final = TypeAdapter(SessionAck)


def _read_ack(action: Action, known: Remembered) -> AnyAck:
    adapter = _ACKS.get(type(action), _SESSION_ACK)
    return cast(AnyAck, adapter.validate_json(known.ack))


@asynccontextmanager
async def session_service(ports: Ports, defaults: Defaults, boot_id: str) -> AsyncIterator[SessionService]:
    """Recover what an earlier process left, then serve; on exit the runs are cut and recovered at the next start."""
    tasks = await asyncio.TaskGroup().__aenter__()
    hub = Hub(ports, defaults, boot_id, tasks, OtherChats)
    sidebar = tasks.create_task(hub.sidebar.serve(), name="sidebar hints")
    service = SessionService(hub)
    meter = tasks.create_task(hub.meter.serve(), name="meter")
    sweeper = tasks.create_task(sweep_for_ever(hub), name="sweeper")
    try:
        await hub.calibration.load()
        await hub.refusals.load()
        await recover_all(hub)
        yield service
    finally:
        hub.cut_runs()
        await service.settle()
        sidebar.cancel()
        meter.cancel()
        sweeper.cancel()
        await tasks.__aexit__(None, None, None)  # no `async with`: it would wrap what fails in the caller's block
        hub.projects.close()
