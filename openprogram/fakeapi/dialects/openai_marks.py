"""Where a prompt for one of OpenAI's models since GPT-5.6 is written to the cache, on both of its wire formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from openprogram.fakeapi.cache.segments import Prompt, Segment, Ttl
from openprogram.fakeapi.models import Api, find_model
from openprogram.fakeapi.shapes import JsonObject, child, objects

MOST_WRITES: Final = 4


def writes(body: JsonObject, api: Api) -> bool:
    """Whether the request's model caches at breakpoints on this API."""
    model = find_model(str(body.get("model")), api)
    return model is not None and api in model.writes_cache


def explicit(content: Any, body: JsonObject) -> Ttl | None:
    """The lifetime of the last breakpoint in a content; a part without one says nothing."""
    marks = [part["prompt_cache_breakpoint"] for part in objects(content) if "prompt_cache_breakpoint" in part]
    if not marks or not isinstance(marks[-1], dict):
        return None
    return _ttl(marks[-1].get("ttl") or child(body, "prompt_cache_options").get("ttl"))


def _ttl(value: Any) -> Ttl:
    return "12h" if value == "12h" else "30m"


def marked(segments: Sequence[Segment], body: JsonObject, api: Api) -> Prompt:
    """The segments with the breakpoints that this request writes: the newest four, of which the provider's
    own, at the newest content of the client's, takes one unless it is switched off."""
    if not writes(body, api):
        return tuple(replace(segment, breakpoint=None) for segment in segments)
    options = child(body, "prompt_cache_options")
    chosen = [index for index, segment in enumerate(segments) if segment.breakpoint is not None]
    newest = [index for index, segment in enumerate(segments) if segment.block][-1:]
    own = newest if options.get("mode") != "explicit" else []
    kept = {*own, *chosen[-(MOST_WRITES - len(own)) :]}
    usual = _ttl(options.get("ttl"))
    return tuple(
        replace(segment, breakpoint=(segment.breakpoint or usual) if index in kept else None)
        for index, segment in enumerate(segments)
    )
