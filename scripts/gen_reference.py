#!/usr/bin/env python3
"""Write docs/protocol.md from the protocol's models. `--check` fails where the committed page differs."""

import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "protocol.md"
sys.path.insert(0, str(ROOT))

from openprogram.core import errors, events  # noqa: E402
from openprogram.core.protocol import VERSION  # noqa: E402
from openprogram.core.protocol.base import OlderOverride, Override  # noqa: E402
from openprogram.core.protocol.codec import ACTIONS  # noqa: E402
from openprogram.core.protocol.frames import AnyAck, ServerFrame  # noqa: E402

_INTRODUCTION = f"""# The WebSocket protocol

<!-- Written by scripts/gen_reference.py from openprogram/core; do not edit. -->

One WebSocket per tab at `/ws`, subprotocol `{VERSION}`, JSON text frames. A frame is one JSON object. The same actions
can be sent as `POST /api/actions/ACTION`, and a chat's events read as an event stream at `/api/sessions/ID/events`
(`Last-Event-ID` resumes). Every request needs the token: `Authorization: Bearer TOKEN`, or the cookie that
`GET /?token=TOKEN` sets.

A client frame is `{{"action": NAME, "id": CLIENT_ID, ...}}`. The id is the idempotency key: the same frame
sent twice has one effect and two equal acks. Fields with a default may be left out; unknown fields are an error.
"""

_INTENTS = """What `override` of `chat` and `tools` of `create_session` say: one of these objects, or a list of names,
which are picked. An empty list is `enabled: false`.
"""


def reference() -> str:
    """The whole page."""
    acks = get_args(AnyAck)
    frames = [frame for frame in get_args(ServerFrame) if frame not in acks]
    parts = [
        _INTRODUCTION,
        "## Actions\n",
        *(_section(f"`{name}`", kind, skip={"action", "id"}) for name, kind in sorted(ACTIONS.items())),
        "## Tool intents\n",
        _INTENTS,
        *(_section(kind.__name__, kind, skip=()) for kind in (Override, OlderOverride)),
        "## Frames from the server\n",
        *(_section(f"`{_tag(kind)}`", kind, skip={"type"}) for kind in frames),
        "## Acks\n",
        'Each is `{"type": "ack", "id": ..., ...}` with these fields.\n',
        *(_section(kind.__name__, kind, skip={"type", "id"}) for kind in acks),
        "## Events\n",
        "Inside an `event` frame. Events of a chat are numbered without gaps.\n",
        *(_section(f"`{_tag(kind)}`", kind, skip={"type"}) for kind in get_args(events.Event)),
        "## Error codes\n",
        "| code | meaning |\n|---|---|\n" + "\n".join(_error_rows()) + "\n",
    ]
    return "\n".join(parts)


def _tag(kind: type[Any]) -> str:
    tag = next(field for field in fields(kind) if field.name == "type")
    return str(tag.default)


def _section(title: str, kind: type[Any], *, skip: Iterable[str]) -> str:
    types = get_type_hints(kind)  # without the constraints of `Annotated`
    shown = [field for field in fields(kind) if field.name not in skip]
    rows = [f"| `{field.name}` | {_type(types[field.name])} | {_default(field)} |" for field in shown]
    table = "| field | type | default |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return f"### {title}\n\n{inspect.getdoc(kind) or ''}\n\n{table}"


def _type(annotation: Any) -> str:
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    text = " | ".join(inspect.formatannotation(None if option is NoneType else option) for option in options)
    text = re.sub(r"\b(?:openprogram|typing)\.(?:\w+\.)*", "", text)
    return "`" + text.replace("|", "or") + "`"


def _default(field: Any) -> str:
    if field.default is not MISSING:
        return f"`{field.default!r}`"
    return "required" if field.default_factory is MISSING else "empty"


def _error_rows() -> Iterable[str]:
    kinds: list[type[errors.OpenProgramError]] = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RequestError)
    ]
    kinds.append(errors.StorageError)
    for kind in kinds:
        if kind is not errors.RequestError and not is_dataclass(kind):
            yield f"| `{kind.code}` | {(inspect.getdoc(kind) or '').splitlines()[0]} |"


def main() -> int:
    """Write or check the page; returns the exit status."""
    page = reference()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text() == page else 1
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
