"""Lists that look like a copy of a preset: what older programs stored in place of the user's wish. Pure.

A copy knows nothing of tools that came since, so the user is offered to follow the preset again (spec tools.md
section 1). Nothing is changed without that word, and what is then stored is the preset's name.
"""

from typing import Final

from openprogram.core.intent import ToolIntent
from openprogram.core.protocol.tool_frames import FollowOffer
from openprogram.core.tooling import Snapshot
from openprogram.session_config.patches import WEB_SEARCH
from openprogram.tools.presets import expand

FEWEST: Final = 8
"""Fewer names are a selection that a person makes by hand."""
BELONG: Final = 0.9
"""Of the listed tools that exist, the part that has to be in the preset."""
COVERED: Final = 0.75
"""Of the preset's tools, the part that has to be listed."""


def follow_offer(intent: ToolIntent, snapshot: Snapshot) -> FollowOffer | None:
    """The preset that the picked names of a chat's own intent look like a copy of; None where they do not.

    They do if at least `FEWEST` of them are in the preset, these are at least `BELONG` of all that exist, and at least
    `COVERED` of the preset's tools. Left out of both counts are tools that search the web, which a chip added or took
    away, and of the preset what comes from sources that the list has nothing of: plug-ins and servers since then. Of
    several presets it is the one that the list differs least from, then the one that means the fewest tools now.
    """
    searching = {tool.name for tool in snapshot.tools if WEB_SEARCH in tool.provides}
    source = {tool.name: tool.source for tool in snapshot.tools if tool.name not in searching}
    listed = set(intent.picked or ()) & source.keys()
    if len(listed) < FEWEST:
        return None
    sources = {source[name] for name in listed}
    best, least = None, (1.0, 0)
    for preset in snapshot.presets:
        names = set(expand(preset, snapshot.presets, snapshot.tools).names)
        meant = {name for name in names & source.keys() if source[name] in sources}
        differs = 1 - len(listed & meant) / len(listed | meant), len(names)
        if _is_copy(len(listed & meant), len(listed), len(meant)) and differs < least:
            best, least = FollowOffer(preset=preset, web_search=_added_search(intent, names)), differs
    return best


def _is_copy(shared: int, listed: int, meant: int) -> bool:
    return shared >= FEWEST and shared >= BELONG * listed and shared >= COVERED * meant


def _added_search(intent: ToolIntent, preset: set[str]) -> bool:
    """Whether the chip was on when the list was made: it put the tool there, the preset does not."""
    return WEB_SEARCH in (intent.picked or ()) and WEB_SEARCH not in preset and intent.web_search is None
