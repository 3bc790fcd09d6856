"""From a registered tool to one that a turn may call: behaviour by wrapping, each wrapper in a file of its own.

validation   arguments that do not fit go back to the model, and nobody is asked about them
approval     a person's word where mode and grants want it; not counted as the tool's time
timeout      the call is cancelled at its limit
bounds       the result is cut to its limit
"""

from openprogram.core.asking import Ask
from openprogram.core.ports import Authority
from openprogram.core.tooling import ContractTool, ToolSpec
from openprogram.tools.approval import with_approval
from openprogram.tools.bounds import with_bounds
from openprogram.tools.timeout import with_timeout
from openprogram.tools.validation import with_validation


def wrap(spec: ToolSpec, authority: Authority, ask: Ask) -> ContractTool:
    """The tool with its wrapped executor. Whether it may be called at all is decided at dispatch, before it (law 6)."""
    execute = with_bounds(spec.execute, spec.limits.output_chars)
    execute = with_timeout(execute, spec.limits.timeout_s)
    execute = with_approval(execute, spec, authority, ask)
    kinds = ("approval", "timeout", "bounds")
    if spec.validate is not None:
        return ContractTool(spec, with_validation(execute, spec.validate), ("validation", *kinds))
    return ContractTool(spec, execute, kinds)
