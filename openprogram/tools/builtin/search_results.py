"""What a search came to, the same for every provider; and reading it out of JSON that is not to be trusted."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal

from openprogram.core.jsonio import JsonObject, JsonValue, scrub

FailureKind = Literal[
    "auth",  # the key is missing, wrong or not allowed to do this
    "quota",  # the account has used up what it may
    "rate_limited",
    "unreachable",
    "timeout",
    "bad_answer",  # not the documented shape, or an error of the provider
]

_TITLE: Final = 200
_SNIPPET: Final = 600
_URL: Final = 2_000
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `date` is ISO (`2026-01-31`) where the provider gave a date that can be read, else as it gave it."""

    title: str
    url: str
    snippet: str
    date: str | None

    @property
    def display(self) -> JsonObject:
        """The hit for the interface."""
        return {"title": self.title, "url": self.url, "snippet": self.snippet, "date": self.date}


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """A provider could not answer. `provider` is its title; `message` is for people and holds no key."""

    provider: str
    kind: FailureKind
    message: str

    @property
    def display(self) -> JsonObject:
        """The failure for the interface."""
        return {"provider": self.provider, "kind": self.kind, "message": self.message}


def hit(title: JsonValue, url: JsonValue, snippet: JsonValue, date: JsonValue) -> Hit | None:
    """A hit of whatever a provider sent; None if it has no address that can be opened."""
    address = url.strip() if isinstance(url, str) else ""
    if not address.startswith(("http://", "https://")) or len(address) > _URL:
        return None
    return Hit(_plain(title, _TITLE) or address, scrub(address), _plain(snippet, _SNIPPET), day(date))


def distinct(hits: Sequence[Hit | None], count: int) -> tuple[Hit, ...]:
    """The first `count` hits with different addresses."""
    found: dict[str, Hit] = {}
    for one in hits:
        if one is not None:
            found.setdefault(one.url, one)
    return tuple(found.values())[:count]


def objects(value: JsonValue, *path: str) -> Iterator[JsonObject]:
    """The objects in the array at `path`; nothing where the shape is another."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def strings(value: JsonValue) -> str:
    """An array of strings as one, for providers that send excerpts."""
    parts = value if isinstance(value, list) else []
    return " ... ".join(part for part in parts if isinstance(part, str))


def day(value: JsonValue) -> str | None:
    """A date as ISO where it is one, else the text as given, else None."""
    if not isinstance(value, str) or not value.strip():
        return None
    text = _plain(value, 40)
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return parse(text).date().isoformat()
        except (ValueError, TypeError, IndexError):
            continue
    return text


def _plain(value: JsonValue, limit: int) -> str:
    if not isinstance(value, str):
        return ""
    text = _SPACE.sub(" ", html.unescape(_MARKUP.sub("", value[: 20 * limit]))).strip()
    return scrub(text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…")
