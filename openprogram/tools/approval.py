"""A call that needs a person's word waits for it (spec trust.md R17, protocol.md P9)."""

import os
from typing import Final

from openprogram.core.asking import Answer, ApprovalRequested, Ask
from openprogram.core.errors import ToolFailure
from openprogram.core.ids import new_id
from openprogram.core.jsonio import JsonObject, digest
from openprogram.core.messages import TextBlock
from openprogram.core.ports import Authority
from openprogram.core.tooling import CallPreview, Execute, ToolContext, ToolOutput, ToolSpec
from openprogram.permissions.decide import Decision, decide
from openprogram.permissions.preview import default_preview
from openprogram.permissions.subject import holds_in
from openprogram.tools.obstacles import Obstacles, hindered

CHANGED: Final = (
    "Not run: what this call would do has changed since the user allowed it. "
    "Look again, and call it anew if it is still right: the user is asked again."
)


def with_approval(
    execute: Execute, spec: ToolSpec, authority: Authority, ask: Ask, obstacles: Obstacles = lambda _tool: None
) -> Execute:
    """Run a call where mode and grants allow it or a person does; else the result says that it was denied.

    Mode, grants and, after the wait, the switches and what stands in the way are read at that moment. A call whose
    effect is no longer the one that was shown does not run.
    """

    async def approved(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        state = authority.permission()
        roots = (context.workspace, *context.extra_dirs)
        effect = None if spec.judge is None else await spec.judge(arguments, context)
        decision = decide(state.mode, state.grants, spec, arguments, roots, os.path.realpath, effect)
        if decision.outcome == "deny":
            return _denied(f"This call is not allowed here: {decision.reason}.")
        if decision.outcome == "ask":
            shown = await _preview(spec, arguments, context)
            with context.waiting():
                answer = await ask(_request(spec, arguments, context, decision, shown))
            if answer.decision == "deny":
                return _denied(refusal(answer))
            if not authority.authorised_now(spec.name):
                return _denied(f"The user has switched {spec.name} off.")
            if (found := obstacles(spec)) is not None:
                return hindered(spec.name, found)
            if await _preview(spec, arguments, context) != shown:
                raise ToolFailure(CHANGED)
        return await execute(arguments, context)

    return approved


async def _preview(spec: ToolSpec, arguments: JsonObject, context: ToolContext) -> CallPreview:
    return default_preview(spec, arguments) if spec.preview is None else await spec.preview(arguments, context)


def _request(
    spec: ToolSpec, arguments: JsonObject, context: ToolContext, decision: Decision, shown: CallPreview
) -> ApprovalRequested:
    return ApprovalRequested(
        approval_id=new_id("a"),
        turn_id=context.turn_id,
        call_id=context.call_id,
        tool=spec.name,
        arguments=arguments,
        kind=shown.kind,
        preview=shown.text,
        reason=decision.reason,
        pattern=decision.pattern,
        left_out=shown.left_out,
        directory=holds_in(spec, context.workspace),
        digest=digest([spec.name, arguments, str(context.workspace), shown.kind, shown.digest or shown.text]),
    )


def refusal(answer: Answer) -> str:
    """What the model is told of a call that the person denied."""
    if answer.note:
        return f"The user did not allow this call and says: {answer.note}"
    return "The user did not allow this call. Do not try it again in another form; ask what to do instead."


def _denied(text: str) -> ToolOutput:
    return ToolOutput((TextBlock(text),), status="denied")
