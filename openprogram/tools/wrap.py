"""From a registered tool to one that a turn may call: behaviour by wrapping, each wrapper in a file of its own.

validation   arguments that do not fit go back to the model, and nobody is asked about them
approval     a person's word where mode and grants want it; not counted as the tool's time
timeout      the call is cancelled at its limit
bounds       the result is cut to its limit

Around whatever a tool of others does stands `leaving`: it is left behind where it does not end.

A contract tells kinds with versions (spec tools.md T23): raise one when what its wrapper does to a call changes.
"""

from typing import Final

from openprogram.core.asking import Ask
from openprogram.core.ports import Authority
from openprogram.core.tooling import ContractTool, ToolSpec
from openprogram.tools.approval import with_approval
from openprogram.tools.bounds import with_bounds
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.obstacles import Obstacles
from openprogram.tools.timeout import with_timeout
from openprogram.tools.validation import with_validation

VALIDATION: Final = "validation/1"
KINDS: Final = ("approval/2", "timeout/1", "bounds/1")


def wrap(
    spec: ToolSpec, authority: Authority, ask: Ask, left: LeftBehind, obstacles: Obstacles = lambda _tool: None
) -> ContractTool:
    """The tool with its wrapped executor. Whether it may be called at all is decided at dispatch, before it (law 6).

    `left` takes what does not end when it should; `obstacles` tells what came in the way while a person was asked.
    """
    watched = left.watched(spec)
    execute = with_bounds(watched.execute, spec.limits.output_chars)
    execute = with_timeout(execute, spec.limits.timeout_s)
    execute = with_approval(execute, watched, authority, ask, obstacles)
    if spec.validate is not None:
        return ContractTool(spec, with_validation(execute, spec.validate), (VALIDATION, *KINDS))
    return ContractTool(spec, execute, KINDS)
