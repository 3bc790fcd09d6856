"""What a chat's tools cost on its model: live resolution plus the loaded set, as a fresh request would send them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openprogram.agent.deferral import offer
from openprogram.agent.freeze import freeze
from openprogram.context.catalog import counted_texts, lines_of
from openprogram.core.prompt import Api, ModelInfo
from openprogram.core.protocol.tool_frames import ToolBudget
from openprogram.core.storage import SessionRow
from openprogram.core.surface import Surface
from openprogram.core.tooling import ContractTool, Resolution, Snapshot
from openprogram.providers.pricing import FRAME, tool_text
from openprogram.sessions.effective import floor
from openprogram.sessions.hosted import served
from openprogram.sessions.hub import Hub
from openprogram.surface.planner import plan
from openprogram.surface.wanted import Warmth
from openprogram.tokens.calibration import Ratio, calibrated


@dataclass(frozen=True, slots=True)
class Prices:
    """Tokens by tool: `declared` is what its schema costs where it is sent, `now` what it costs each request now.

    A tool that was not counted yet is in neither.
    """

    declared: Mapping[str, int]
    now: Mapping[str, int]
    budget: ToolBudget


async def prices(hub: Hub, row: SessionRow, snapshot: Snapshot, resolved: Resolution) -> Prices:
    """The prices now. What is not counted is being counted afterwards: the user's tabs are told to ask again."""
    model = await _model(hub, row.info.model)
    shown = _shown(hub, model, snapshot, resolved, row.loaded)
    api, ratio = model.counting.api, hub.meter.ratio(model)
    texts = {tool.name: tool_text(api, tool.declaration) for tool in snapshot.tools}
    sent = {str(tool["name"]): tool_text(api, tool) for tool in shown.declared}
    lines = lines_of(shown.catalog)
    wanted = {*texts.values(), *sent.values(), *lines, *counted_texts(resolved.kept)}
    counts = {text: hub.meter.exact(text) for text in wanted}
    if missing := [text for text, count in counts.items() if count is None]:
        hub.meter.want(row.user_id, missing)
    known = {name: calibrated(count, ratio) for name, text in texts.items() if (count := counts[text]) is not None}
    named = {line.removesuffix("\n"): calibrated(counts[line] or 0, ratio) for line in lines[1:]}
    now = {name: tokens if name in sent else named.get(name, 0) for name, tokens in known.items()}
    resident = _sum([counts[text] for text in sent.values()], ratio, FRAME[api] if sent else 0)
    return Prices(
        declared=known,
        now=now,
        budget=ToolBudget(
            model=model.id or None,
            declared=len(sent),
            resident=resident,
            deferred=sum(1 for name in resolved.names if shown.catalog and name not in sent),
            catalog=_sum([counts[line] for line in lines], ratio),
            overhead=model.counting.tool_overhead if sent else 0,
            ratio=ratio.value,
            samples=ratio.samples,
        ),
    )


def price_texts(snapshot: Snapshot, apis: Sequence[Api]) -> tuple[str, ...]:
    """What has to be counted for the prices of all registered tools at these wire formats."""
    tools = (tool_text(api, tool.declaration) for api in apis for tool in snapshot.tools)
    return (*tools, *counted_texts(snapshot.tools))


async def _model(hub: Hub, model_id: str | None) -> ModelInfo:
    """The chat's model as far as it is known; waits for no endpoint."""
    wanted = model_id or await hub.ports.models.default_id() or ""
    return hub.ports.models.about(wanted) or ModelInfo(id=wanted, endpoint="", model=wanted, title=wanted)


def _shown(hub: Hub, model: ModelInfo, snapshot: Snapshot, resolved: Resolution, loaded: tuple[str, ...]) -> Surface:
    """What a chat that begins now with these tools would send."""
    contract = freeze(served(resolved, model), lambda spec: ContractTool(spec, spec.execute))
    count = hub.ports.tokens.at_most
    asked = offer(contract, floor(snapshot, resolved, model), model, count, loaded, loaded)
    surface, _ = plan(None, asked, hub.refusals.of(model), Warmth(0.0))
    return surface


def _sum(counts: Sequence[int | None], ratio: Ratio, more: int = 0) -> int | None:
    known = [count for count in counts if count is not None]
    return calibrated(sum(known) + more, ratio) if len(known) == len(counts) else None
