"""From mode and grants to a decision (spec trust.md R17). What no stated reason allows asks: nothing fails open."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from openprogram.core.events import PermissionMode
from openprogram.core.jsonio import JsonObject
from openprogram.core.storage import Grant
from openprogram.core.tooling import Effect, ToolSpec
from openprogram.permissions.subject import Resolve, Subject, covers, holds_in, subject


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is for people; `pattern` is what "allow for this chat" would cover, empty where it could not."""

    outcome: Literal["allow", "ask", "deny"]
    reason: str
    pattern: str = ""


def decide(
    mode: PermissionMode,
    grants: Iterable[Grant],
    spec: ToolSpec,
    arguments: JsonObject,
    roots: Sequence[Path],
    resolve: Resolve = os.path.normpath,
    effect: Effect | None = None,
) -> Decision:
    """Whether this call runs, asks or is refused. `roots` are the workspace and then the extra directories; `effect` is
    what the tool itself says that the call changes elsewhere.

    `ask`: what writes, executes or has an effect asks. `accept_edits`: writing inside the roots does not, but to where
    a project says what its chats may do. `auto`: nothing asks. In each mode a call asks when it cannot be told what it
    would touch, and does not when a grant covers it that was given for this workspace.
    """
    if effect is None and spec.permission in ("none", "network"):
        return Decision("allow", "it changes nothing")
    try:
        what = subject(spec, arguments, roots, resolve) if effect is None else Subject("tool", effect.pattern)
    except (ValueError, OSError) as error:
        return Decision("ask", f"it cannot be told what {spec.name} would touch: {error}")
    if mode == "auto":
        return Decision("allow", "this chat allows everything")
    here = holds_in(spec, roots[0])
    if any(grant.tool == spec.name and grant.directory == here and covers(grant.pattern, what) for grant in grants):
        return Decision("allow", "allowed for this chat")
    if (
        mode == "accept_edits"
        and spec.permission == "write"
        and what.kind == "paths"
        and what.inside
        and not what.steers
    ):
        return Decision("allow", "this chat accepts edits in its workspace")
    return Decision("ask", _why(spec, what, roots[0]) if effect is None else effect.reason, what.pattern)


def _why(spec: ToolSpec, what: Subject, workspace: Path) -> str:
    """What the question itself does not say yet."""
    match what.kind:
        case "command":
            return f"runs in {workspace}"
        case "paths" if what.steers:
            return "changes what chats may do here, or what git runs"
        case "paths" if what.inside:
            return "changes files in the workspace"
        case "paths":
            return "changes files outside the workspace"
        case "tool" if spec.effect:
            return spec.effect
        case "tool":
            return "changes files" if spec.permission == "write" else "runs programs"
