"""Which models a chat can be given."""

from openprogram.core.protocol.frames import ModelChoice, ModelsAck
from openprogram.core.protocol.user_actions import ListModels
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request


async def list_models(hub: Hub, request: Request, action: ListModels) -> ModelsAck:
    """What can be chosen now."""
    models, default = await choices(hub)
    return ModelsAck(id=action.id, models=models, default_model=default)


async def choices(hub: Hub) -> tuple[tuple[ModelChoice, ...], str | None]:
    """The models, and the id of the one that chats have by default, where it is known yet."""
    catalog = hub.ports.models
    models = tuple(
        ModelChoice(
            id=model.id,
            title=model.title,
            endpoint=model.endpoint,
            context_window=model.context_window,
            demo=model.demo,
        )
        for model in await catalog.models()
    )
    default = await catalog.default_id()
    hub.default_model = None if default is None else catalog.about(default)
    return models, default
