"""A bar chart as SVG: one group of bars for each strategy, readable in light and dark."""

from typing import Final
from xml.sax.saxutils import escape

from _figures import Figures, Table

_WIDTH: Final = 760
_LEFT: Final = 170
_RIGHT: Final = 80
_TOP: Final = 52
_BAR: Final = 15
_GAP: Final = 12
_COLOURS: Final = {"recorded": "#4f7cac", "switched": "#c97b3d"}
_TITLE: Final = "Cacheable input that was paid for again (share of tokens; less is better)"


def chart(found: Table) -> str:
    """What of the cacheable input was not read from the cache, by strategy and script."""
    most = max((_missed(sums) for by_script in found.values() for sums in by_script.values()), default=0) or 1.0
    parts: list[str] = []
    y = _TOP
    for name, by_script in found.items():
        height = _BAR * len(by_script)
        parts.append(f'<text x="{_LEFT - 10}" y="{y + height / 2 + 4:g}" text-anchor="end">{escape(name)}</text>')
        for script, sums in by_script.items():
            parts.append(_bar(y, name, script, _missed(sums), most))
            y += _BAR
        y += _GAP
    legend = "".join(
        f'<rect x="{_LEFT + number * 110}" y="26" width="12" height="12" fill="{colour}"/>'
        f'<text x="{_LEFT + number * 110 + 18}" y="36">{script}</text>'
        for number, (script, colour) in enumerate(_COLOURS.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" font-family="sans-serif"'
        f' font-size="12" fill="#777" role="img" aria-label="{_TITLE}">'
        f'<text x="{_LEFT}" y="16" font-size="13">{_TITLE}</text>{legend}{"".join(parts)}</svg>\n'
    )


def _bar(y: int, name: str, script: str, share: float, most: float) -> str:
    width = max(1, round(share / most * (_WIDTH - _LEFT - _RIGHT)))
    return (
        f'<rect x="{_LEFT}" y="{y}" width="{width}" height="{_BAR - 2}" fill="{_COLOURS[script]}">'
        f"<title>{escape(name)}, {escape(script)}: {share:.3%}</title></rect>"
        f'<text x="{_LEFT + width + 6}" y="{y + 11}">{share:.2%}</text>'
    )


def _missed(sums: Figures) -> float:
    return 1 - sums.reread / sums.readable if sums.readable else 0.0
