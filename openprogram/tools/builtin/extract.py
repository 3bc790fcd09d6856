"""Readable text out of what a web server sent. Blocking and heavy: run in a worker, on bounded input."""

import codecs
import html
import re
from dataclasses import dataclass
from typing import Final

import orjson

from openprogram.core.jsonio import scrub

_META_CHARSET: Final = re.compile(rb"""<meta[^<>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_HEAD: Final = 2_048
_PAGE_CHARS: Final = 300_000
"""Characters of a page, scripts and styles not counted, that are looked at: mostly under a second of work, and the
work grows faster than the page."""

_TITLE: Final = re.compile(r"<title(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_TITLE_CHARS: Final = 500

_CUT_CHARACTER: Final = 4
"""Bytes at the end of a body that was cut, in which half a character may stand."""

_SKIPPED: Final = ("script", "style", "svg", "noscript", "template")


@dataclass(frozen=True, slots=True)
class Extract:
    """A page as text. `whole` is False if only its beginning was looked at."""

    title: str | None
    text: str
    whole: bool = True


def is_html(content_type: str, body: bytes) -> bool:
    """Whether this is a page to extract from, also where the server does not say."""
    if content_type:
        return content_type in ("text/html", "application/xhtml+xml")
    return body[:_HEAD].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def decoded(body: bytes, charset: str, *, page: bool) -> str:
    """The body as text: byte order mark, then what the server says, then the page itself, then UTF-8, else Latin."""
    for mark, name in ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if body.startswith(mark):
            return body.decode(name, "replace").lstrip("\ufeff")
    declared = _META_CHARSET.search(body, 0, _HEAD) if page and not charset else None
    named = charset or (declared[1].decode("ascii", "replace") if declared else "")
    for name in (named, "utf-8"):
        try:
            return body.decode(name)
        except UnicodeDecodeError as error:
            if error.start >= len(body) - _CUT_CHARACTER:
                return body.decode(name, "ignore")
        except LookupError:
            continue
    return body.decode("cp1252", "replace")


def extract_page(source: str, url: str) -> Extract:
    """Title and readable text of an HTML page."""
    from trafilatura import extract, html2txt  # noqa: PLC0415 - 0.4 s and 40 MB, on first use

    bare = without(source, _SKIPPED)
    cut = bare[:_PAGE_CHARS]
    text = extract(
        cut,
        url=url,
        fast=True,
        favor_recall=True,
        output_format="markdown",
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    text = text or html2txt(cut) or ("" if "<" in cut else cut)
    return Extract(_title(bare), scrub(text).strip(), whole=len(cut) == len(bare))


def _title(source: str) -> str | None:
    found = _TITLE.search(source, 0, _PAGE_CHARS)
    if found is None:
        return None
    end = source.find("<", found.end())
    title = " ".join(html.unescape(source[found.end() : end if end >= 0 else None][:_TITLE_CHARS]).split())
    return scrub(title) or None


def pretty_json(source: str) -> str:
    """JSON indented; what is not JSON stays as it came."""
    try:
        return orjson.dumps(orjson.loads(source), option=orjson.OPT_INDENT_2).decode()
    except (orjson.JSONDecodeError, TypeError):
        return source


def without(source: str, names: tuple[str, ...]) -> str:
    """`source` without these elements and what is in them, in one pass however broken the markup is."""
    lowered = source.lower()
    if len(lowered) != len(source):
        return source
    kept: list[str] = []
    at = 0
    opening = re.compile(rf"<({'|'.join(names)})[\s/>]")
    while (match := opening.search(lowered, at)) is not None:
        kept.append(source[at : match.start()])
        end = lowered.find(f"</{match[1]}", match.end())
        if end < 0:
            return "".join(kept)
        close = lowered.find(">", end)
        if close < 0:
            return "".join(kept)
        at = close + 1
    kept.append(source[at:])
    return "".join(kept)
