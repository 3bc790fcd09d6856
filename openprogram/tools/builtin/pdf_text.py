"""The text of a PDF's pages, taken out in a process of its own: a file may be made to hang, to swallow memory or to
crash what reads it, and then only this process goes.

Run as a script with the file as standard input (open for reading, seekable):

    python -I pdf_text.py FIRST LAST CHARACTERS < file.pdf

It writes one JSON object: `{"pages": 12, "texts": ["page FIRST", ...]}`, with whole pages up to about so many
characters and at least one, or `{"problem": "encrypted" | "damaged"}`, the former with `detail`. It imports nothing of
this program.
"""

import json
import logging
import resource
import sys
from typing import BinaryIO, Final

from pypdf import PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

_CPU_S: Final = 40
_MEMORY: Final = 2_000_000_000


def main() -> None:
    """Read the file at standard input and report."""
    logging.disable()
    _limit()
    first, last, characters = map(int, sys.argv[1:4])
    try:
        report = _report(sys.stdin.buffer, first, last, characters)
    except DependencyError:
        report = {"problem": "encrypted", "detail": "in a way that cannot be read here"}
    except FileNotDecryptedError:
        report = {"problem": "encrypted", "detail": "it needs a password"}
    except (PyPdfError, RecursionError):  # their texts are Python's, of no use to who has the file
        report = {"problem": "damaged"}
    sys.stdout.buffer.write(json.dumps(report).encode())


def _report(stream: BinaryIO, first: int, last: int, characters: int) -> dict[str, object]:
    reader = PdfReader(stream)
    if reader.is_encrypted and not reader.decrypt(""):
        return {"problem": "encrypted", "detail": "it needs a password"}
    count = len(reader.pages)
    texts: list[str] = []
    room = characters
    for number in range(first, min(last, count) + 1):
        text = reader.pages[number - 1].extract_text()
        if texts and len(text) > room:
            break
        texts.append(text[:characters])
        room -= len(text)
    return {"pages": count, "texts": texts}


def _limit() -> None:
    """Bounds by the system, below those that it has set already. (macOS refuses one on memory.)"""
    bounds = [(resource.RLIMIT_CPU, _CPU_S)]
    if sys.platform == "linux":
        bounds.append((resource.RLIMIT_AS, _MEMORY))
    for kind, bound in bounds:
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > bound:
            resource.setrlimit(kind, (bound, hard))


if __name__ == "__main__":
    main()
