"""What a delta has to say in words, where the API has no form for it (spec cache.md section 1). Pure.

The text is stored with the delta: these sentences may be edited, what was sent stays.
"""

from openprogram.core.surface import Delta, Surface


def words(here: Surface, delta: Delta) -> str:
    """The text beside a delta behind what `here` has shown; empty where the delta says it all.

    `additional_tools` cannot take a tool back, and small models take a list of new tools for all there is: so what is
    off is said, and said again with everything that comes later.
    """
    if here.strategy != "additional_tools":
        return ""
    off = (here.hidden - set(delta.offered)) | set(delta.withdrawn)
    lines = []
    if delta.defined:
        lines.append("More tools are available now. Those from before stay, but for any that is named as unavailable.")
    if delta.referenced:
        lines.append(f"Available again: {', '.join(delta.referenced)}.")
    if off:
        lines.append(f"Unavailable, do not call: {', '.join(sorted(off))}.")
    return "\n".join(lines)
