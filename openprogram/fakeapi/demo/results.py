"""What the demo model says about the results of its calls: the results themselves, shortened."""

from __future__ import annotations

import re
from typing import Final

from openprogram.fakeapi.conversation import Call, Result
from openprogram.fakeapi.demo.phrases import say

_MAX_LINES: Final = 12
_MAX_CHARACTERS: Final = 1200
_DENIED: Final = re.compile(
    r"did not allow|not allowed|not permitted|has switched|not available|denied|declined|rejected|refused|拒绝",
    re.IGNORECASE,
)
_FAILED: Final = re.compile(
    r"^\W*(?:error|failed|denied|exception|traceback|the user did not allow|this call is not allowed"
    r"|the user has switched|the tool \S+ is not available)\b",
    re.IGNORECASE,
)
"""How a result that went wrong begins; for Chat Completions, which has no flag for it."""


def describe(call: Call, result: Result, chinese: bool) -> str:
    """One paragraph about one result, with an excerpt of it."""
    name = call.name
    text = result.text.strip()
    failed = result.is_error if result.is_error is not None else _FAILED.match(text) is not None
    if failed and _DENIED.search(text[:_MAX_CHARACTERS]):
        return say("denied", chinese, tool=name) + "\n\n" + _quoted(text)
    if failed:
        return say("failed", chinese, tool=name) + "\n\n" + _quoted(text)
    if not text:
        return say("empty_result", chinese, tool=name)
    count = text.count("\n") + 1
    lines = say("line" if count == 1 else "lines", chinese, count=count)
    subject = next((str(value) for value in call.arguments.values() if isinstance(value, str)), "")
    of = say("of", chinese, subject=subject.splitlines()[0]) if subject else ""
    intro = say("result", chinese, tool=name, of=of, lines=lines)
    return f"{intro}\n\n{_fenced(text, tail=name == 'bash')}"


def _quoted(text: str) -> str:
    shown, _ = _shortened(text, tail=False)
    return "\n".join(f"> {line}" for line in shown.splitlines())


def _fenced(text: str, tail: bool) -> str:
    """An excerpt in a code block whose fence the excerpt cannot close."""
    shown, cut = _shortened(text, tail)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    if cut:
        shown = f"...\n{shown}" if tail else f"{shown}\n..."
    return f"{fence}text\n{shown}\n{fence}"


def _shortened(text: str, tail: bool) -> tuple[str, bool]:
    lines = text.splitlines()
    kept = lines[-_MAX_LINES:] if tail else lines[:_MAX_LINES]
    shown = "\n".join(kept)
    if len(shown) > _MAX_CHARACTERS:
        shown = shown[-_MAX_CHARACTERS:] if tail else shown[:_MAX_CHARACTERS]
    return shown, len(shown) < len(text)
