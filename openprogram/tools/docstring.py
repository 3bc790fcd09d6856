"""Google-style docstrings as the model's description of a tool and of each parameter.

Prose is unwrapped, since line ends cost tokens and say nothing; lists and indented blocks keep their lines. The result
is part of what providers cache, so this module is written to give the same text for the same docstring for ever.
"""

import re
from dataclasses import dataclass
from inspect import cleandoc
from itertools import pairwise
from typing import Final

_SECTION: Final = re.compile(r"(Args|Returns|Raises|Yields|Note|Example)s?:\s*")
_PARAMETER: Final = re.compile(r"(?P<name>\w+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)")
_KEPT_LINE: Final = re.compile(r"[-*] |\d+[.)] |\s")


@dataclass(frozen=True, slots=True)
class Documentation:
    """`description` is everything before the first section; `parameters` maps names in `Args:` to their text."""

    description: str
    parameters: dict[str, str]


def parse_docstring(text: str) -> Documentation:
    """Read a docstring. Sections other than `Args:` are for the reader of the code and are left out.

    Raises `ValueError` where a line under `Args:` is neither `name: text` nor the continuation of one.
    """
    lines = cleandoc(text).splitlines()
    starts = [index for index, line in enumerate(lines) if _SECTION.fullmatch(line)]
    end = starts[0] if starts else len(lines)
    parameters: dict[str, str] = {}
    for start, stop in pairwise([*starts, len(lines)]):
        if lines[start].startswith("Arg"):
            parameters.update(_parse_args(lines[start + 1 : stop]))
    return Documentation(_unwrap(lines[:end]), parameters)


def _unwrap(lines: list[str]) -> str:
    out: list[str] = []
    joinable = False
    for line in lines:
        if not line.strip():
            out.append("")
            joinable = False
        elif joinable and not _KEPT_LINE.match(line):
            out[-1] += " " + line.rstrip()
        else:
            out.append(line.rstrip())
            joinable = True
    return "\n".join(out).strip()


def _parse_args(lines: list[str]) -> dict[str, str]:
    filled = [line for line in lines if line.strip()]
    if not filled:
        return {}
    margin = min(len(line) - len(line.lstrip()) for line in filled)
    found: dict[str, str] = {}
    name = ""
    for line in filled:
        text = line[margin:].rstrip()
        match = _PARAMETER.fullmatch(text)
        if match is not None:
            name = match["name"]
            if name in found:
                raise ValueError(f"`{name}` is described twice")
            found[name] = match["text"]
        elif name and text.startswith(" "):
            found[name] = f"{found[name]} {text.strip()}".strip()
        else:
            raise ValueError(f"cannot read the line {text!r} under Args: write `name: what it is`")
    return found
