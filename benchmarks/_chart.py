"""A bar chart as SVG: one group of bars for each strategy, readable in light and dark."""

from collections.abc import Mapping
from typing import Final
from xml.sax.saxutils import escape

_WIDTH: Final = 760
_LEFT: Final = 170
_BAR: Final = 16
_GAP: Final = 14
_COLOURS: Final = ("#4f7cac", "#c97b3d")


def chart(shares: Mapping[str, Mapping[str, float]], line: float) -> str:
    """Shares between 0 and 1 by strategy and script, with a line at what was recorded."""
    parts: list[str] = []
    y = 40
    scale = _WIDTH - _LEFT - 80
    for name, by_script in shares.items():
        parts.append(f'<text x="{_LEFT - 10}" y="{y + _BAR + 4}" text-anchor="end">{escape(name)}</text>')
        for number, (script, share) in enumerate(by_script.items()):
            top = y + number * _BAR
            width = max(1, round(share * scale))
            colour = _COLOURS[number % len(_COLOURS)]
            parts.append(
                f'<rect x="{_LEFT}" y="{top}" width="{width}" height="{_BAR - 2}" fill="{colour}">'
                f"<title>{escape(name)}, {escape(script)}: {share:.2%}</title></rect>"
                f'<text x="{_LEFT + width + 6}" y="{top + 12}">{share:.1%}</text>'
            )
        y += _BAR * len(by_script) + _GAP
    x = _LEFT + round(line * scale)
    parts.append(f'<line x1="{x}" x2="{x}" y1="30" y2="{y}" stroke="#888" stroke-dasharray="4 3"/>')
    scripts = list(dict.fromkeys(script for by_script in shares.values() for script in by_script))
    legend = "".join(
        f'<rect x="{_LEFT + number * 130}" y="10" width="12" height="12" fill="{_COLOURS[number % len(_COLOURS)]}"/>'
        f'<text x="{_LEFT + number * 130 + 18}" y="20">{escape(script)}</text>'
        for number, script in enumerate(scripts)
    )
    legend += f'<text x="{_LEFT + len(scripts) * 130}" y="20">- - as the recorded provider read</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 10}" font-family="sans-serif"'
        ' font-size="12" fill="#777" role="img" aria-label="Share of the cacheable prompt that was read from cache">'
        f"{legend}{''.join(parts)}</svg>\n"
    )
