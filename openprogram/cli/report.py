"""The cache inspector as text for a terminal."""

from collections.abc import Sequence
from typing import Final

from openprogram.core.protocol.cache_frames import CacheState, CacheStep, CacheTotals
from openprogram.sessions.tool_misses import ToolMisses

_BAR: Final = 24
_UNKNOWN: Final = "?"
LEGEND: Final = "█ read from the cache  ▓ written to it  ░ neither  (· unknown)"


def chat_lines(title: str, steps: Sequence[CacheStep], totals: CacheTotals, cache: CacheState) -> list[str]:
    """A chat's requests, one a line, with sums and the state of the cache below."""
    head = ["#", "prompt", "read", "written", "output", "hit", "cost", "so far", "missed", "cause"]
    table = [[*_cells(number, step)] for number, step in enumerate(steps, 1)]
    widths = [max(len(row[column]) for row in [head, *table]) for column in range(len(head))]
    lines = [title, "", f"{_row(head, widths)}"]
    for step, cells in zip(steps, table, strict=True):
        lines.append(f"{_row(cells, widths)}  {_bar(step)}{_marks(step)}")
        if step.provider is not None:
            lost = "" if step.provider.missed is None else f", {tokens(step.provider.missed)} tokens"
            lines.append(f"      the provider says: {step.provider.said}{lost}")
        if step.difference is not None and step.cause is not None:
            lines += _difference(step)
    return [*lines, "", LEGEND, *_sums(totals), _warmth(cache), *_forced(cache)]


def tool_lines(chats: int, tools: Sequence[ToolMisses]) -> list[str]:
    """Each tool with its share of chats, and the miss rate of the request after it."""
    head = ["tool", "chats", "share", "requests after", "missed", "miss rate", "tokens"]
    table = [
        [
            tool.name or "(no tool)",
            str(tool.chats),
            percent(tool.chat_share),
            str(tool.requests_after),
            str(tool.missed),
            percent(tool.miss_rate),
            tokens(tool.tokens),
        ]
        for tool in tools
    ]
    widths = [max(len(row[column]) for row in [head, *table]) for column in range(len(head))]
    return [f"{chats} chats with requests on record", "", *(_row(row, widths, left=1) for row in [head, *table])]


def printable(line: str) -> str:
    """A line without what a terminal would obey: titles and names come from messages, models and servers."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


def percent(share: float | None) -> str:
    """A share."""
    return _UNKNOWN if share is None else f"{share * 100:.1f} %"


def tokens(count: int | None) -> str:
    """A number of tokens."""
    return _UNKNOWN if count is None else f"{count:,}"


def dollars(cost: float | None) -> str:
    """A price."""
    return _UNKNOWN if cost is None else f"${cost:.4f}"


def _cells(number: int, step: CacheStep) -> list[str]:
    used = step.usage
    return [
        str(number),
        tokens(step.prompt),
        tokens(used.cache_read if used else None),
        tokens(_written(step)),
        tokens(used.output if used else None),
        percent(step.hit),
        dollars(step.cost),
        dollars(step.cost_so_far),
        tokens(step.missed),
        step.cause or ("too short" if step.below_minimum else "-"),
    ]


def _written(step: CacheStep) -> int | None:
    used = step.usage
    if used is None or (used.cache_write_5m is None and used.cache_write_1h is None):
        return None
    return (used.cache_write_5m or 0) + (used.cache_write_1h or 0)


def _bar(step: CacheStep) -> str:
    prompt, used = step.prompt, step.usage
    if not prompt or used is None or used.cache_read is None:
        return "·" * _BAR
    read = round(_BAR * used.cache_read / prompt)
    written = min(_BAR - read, round(_BAR * (_written(step) or 0) / prompt))
    return "█" * read + "▓" * written + "░" * (_BAR - read - written)


def _marks(step: CacheStep) -> str:
    marks = (*step.moved, *([] if step.reason in ("unchanged", "") else [step.reason]))
    return f"  {' '.join(marks)}" if marks else ""


def _difference(step: CacheStep) -> list[str]:
    """Where the request parted from the one before it, with the text on both sides."""
    place = step.difference
    if place is None:
        return []
    lost = f", {dollars(step.lost)} lost" if step.lost is not None else ""
    lines = [f"      {place.section} {place.index} ({place.name}), byte {place.byte:,}{lost}"]
    lines += [f"      {sign} {text!r}" for sign, text in (("-", place.before), ("+", place.after)) if text]
    return lines


def _sums(totals: CacheTotals) -> list[str]:
    unpriced = f" ({totals.unpriced} without a price)" if totals.unpriced else ""
    return [
        f"{totals.requests} requests, {dollars(totals.cost)}{unpriced}",
        f"{percent(totals.reused)} of what could be read from the cache was; {percent(totals.hit)} of all input",
        f"{tokens(totals.missed)} tokens missed, {dollars(totals.lost)} lost",
    ]


def _warmth(cache: CacheState) -> str:
    match cache.state:
        case "none":
            return "The cache holds nothing of this chat yet."
        case "unknown":
            return f"{cache.model} does not report what it reads from a cache."
        case "warm":
            price = f"; the next message reads it for {dollars(cache.cost_warm)}, later for {dollars(cache.cost_cold)}"
            return f"{cache.model}: warm until {cache.warm_until}{price}"
        case "cold":
            return f"{cache.model}: cold since {cache.warm_until}; the next message costs {dollars(cache.cost_cold)}"


def _forced(cache: CacheState) -> list[str]:
    return ["The next request declares the tools anew, as you asked."] if cache.forced else []


def _row(cells: Sequence[str], widths: Sequence[int], left: int = 0) -> str:
    aligned = [
        cell.ljust(width) if number < left or (number == len(cells) - 1 and left == 0) else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(aligned)
