"""Tools: declaring, registering, resolving and wrapping them. The built-in ones are in `builtin`.

What a package that publishes tools needs is importable from here: see docs/plugins.md.
"""

from openprogram.core.errors import ToolFailure
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput, ToolSpec
from openprogram.tools.decorator import tool

__all__ = ["ToolContext", "ToolFailure", "ToolLimits", "ToolOutput", "ToolSpec", "tool"]
