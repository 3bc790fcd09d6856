"""What the requests of replayed sessions come to, and how that is shown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from _replay import Chat
from _traces import Session

from openprogram.ledger.log import outlines

ROUNDING: Final = 128
"""Tokens that the recorded provider may leave out: what is not a full step is no miss."""
SMALLEST: Final = 1_024
"""Tokens below which the recorded provider kept nothing."""
HEAD: Final = "strategy           script        read  of all possible      lost   tools  system  found  misses by cause"

Table = Mapping[str, Mapping[str, "Figures"]]
"""By strategy and script."""


@dataclass(slots=True)
class Figures:
    """Sums over sessions, in tokens but for `tool_bytes` and `system_bytes`, which are of all requests.

    `readable` is what could have been read from the second request on (spec cache.md C22), and `reread` what of it was;
    `before` is the same without regard to the smallest prompt that is kept. `found` counts discovered tools.
    """

    requests: int = 0
    prompt: int = 0
    read: int = 0
    before: int = 0
    readable: int = 0
    reread: int = 0
    lost_to_switches: int = 0
    tool_bytes: int = 0
    system_bytes: int = 0
    misses: Counter[str] = field(default_factory=Counter)
    found: int = 0

    def shown(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "read_share": round(self.reread / self.readable, 5) if self.readable else 1.0,
            "tokens_lost_to_toggles": self.lost_to_switches,
            "misses_by_cause": dict(sorted(self.misses.items())),
        }

    def plus(self, other: "Figures") -> "Figures":
        """Both together."""
        return Figures(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def asked(self, prompt: int, read: int, before: int, smallest: int) -> None:
        """Count one request, and what of the prompt `before` it was read."""
        self.requests += 1
        self.prompt += prompt
        self.read += read
        self.before += min(before, prompt)
        if before >= smallest:
            self.readable += before
            self.reread += min(read, before)


def figures(chat: Chat, records: Sequence[Mapping[str, Any]]) -> Figures:
    """Of one replayed chat, with the fake API's `records` of its requests.

    What was read and lost is the fake API's word; why, the inspector's, which has to tell the same tokens.
    """
    inspected = chat.inspected()
    if not len(chat.requests) == len(records) == len(inspected):
        raise RuntimeError(f"{len(chat.requests)} sent, {len(records)} arrived, {len(inspected)} were inspected")
    sums = Figures()
    smallest = chat.world.model.caching.minimum or 0
    before, loaded = 0, 0
    for sent, record, step in zip(chat.requests, records, inspected, strict=True):
        verdict = record["cache"]
        if (step.usage.cache_read, step.usage.prompt) != (verdict["read"], verdict["prompt"]):
            raise RuntimeError(f"the ledger has {step.usage} where the endpoint billed {verdict}")
        sums.asked(verdict["prompt"], verdict["read"], before, smallest)
        grown = len(sent.loaded) > loaded
        sums.found += grown
        if step.verdict.missed:
            # Who declares everything anew has no plan that would tell a discovery from the rest.
            sums.misses["discovery" if chat.naive and grown else step.cause or "unknown"] += 1
        if sent.switched and before >= smallest:
            sums.lost_to_switches += before - min(verdict["common_prefix"], before)
        before, loaded = verdict["prompt"], len(sent.loaded)
    sums.tool_bytes, sums.system_bytes = _bytes(chat)
    return sums


def _bytes(chat: Chat) -> tuple[int, int]:
    """Bytes of tools and of system prompts over all requests, as canonical JSON."""
    sizes = {segment.digest: len(segment.data) for put in chat.kept for segment in put.segments}
    tools = system = 0
    for record, outline in outlines(put.record for put in chat.kept):
        first = outline.messages[:1] if record.api == "openai-chat" else ()  # there the system prompt is a message
        tools += sum(sizes[digest] for digest in outline.tools)
        system += sum(sizes[digest] for digest in (*outline.system, *first))
    return tools, system


def recorded(sessions: Sequence[Session]) -> Figures:
    """What the recorded provider read, by the same measures. Why it did not read the rest it did not tell."""
    sums = Figures()
    for session in sessions:
        before = 0
        for usage in session.usage:
            sums.asked(usage.prompt, usage.cached, before, SMALLEST)
            sums.misses["provider"] += before >= SMALLEST and before - usage.cached >= ROUNDING
            before = usage.prompt
    return sums


def table(found: Table) -> str:
    """For people."""
    rows = [row(strategy, script, sums) for strategy, by in found.items() for script, sums in by.items()]
    return "\n".join([HEAD, *rows])


def row(strategy: str, script: str, sums: Figures) -> str:
    """One line of the table."""
    causes = ", ".join(f"{cause} {count:,}" for cause, count in sorted(sums.misses.items())) or "none"
    share = sums.reread / max(1, sums.readable)
    requests, prompt = max(1, sums.requests), max(1, sums.prompt)
    return (
        f"{strategy:18} {script:9} {share:8.2%} {sums.read / prompt:7.2%} {sums.before / prompt:8.2%}"
        f" {sums.lost_to_switches:9,} {sums.tool_bytes // requests:7,} {sums.system_bytes // requests:7,}"
        f" {sums.found:6,}  {causes}"
    )
