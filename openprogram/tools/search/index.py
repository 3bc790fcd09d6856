"""The index over the tools of a registry."""

from collections.abc import Iterable, Mapping

from openprogram.core.tooling import ToolSpec
from openprogram.tools.search.document import FIELDS, document
from openprogram.tools.search.ranking import Ranking
from openprogram.tools.search.words import Words


class Index(Ranking):
    """Terms of many tools, to be asked which fit a query best."""

    def __init__(self, tools: Iterable[ToolSpec], about: Mapping[str, str]) -> None:
        """`about` says of a source (`mcp:SERVER`, `plugin:NAME`) what it is."""
        words = Words()
        super().__init__({tool.name: document(tool, about.get(tool.source, ""), words) for tool in tools}, FIELDS)
