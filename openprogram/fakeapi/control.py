"""The control surface for tests, under `/__fake/`. `docs/fake-api.md` describes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import orjson
from pydantic import BaseModel, ConfigDict, PositiveFloat, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openprogram.fakeapi.fault_mode import StandingFault
from openprogram.fakeapi.refusals import Refusing, feature_names
from openprogram.fakeapi.scripts import Script
from openprogram.fakeapi.shapes import JsonObject
from openprogram.fakeapi.state import FakeState

_SCRIPTS: Final = TypeAdapter(list[Script])
_FAULTS: Final = TypeAdapter(list[StandingFault])
_MAX_WAIT: Final = 60.0


class _Advance(BaseModel):
    model_config = ConfigDict(extra="forbid")
    advance: float


class _Models(BaseModel):
    model_config = ConfigDict(extra="forbid")
    models: list[str]


class _Tokenizer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    factor: PositiveFloat


class _Refuse(BaseModel):
    model_config = ConfigDict(extra="forbid")
    features: list[str]
    model: str | None = None


def control_routes(state: FakeState) -> list[Route]:
    """The routes of the control surface."""
    control = _Control(state)
    return [
        Route("/__fake/script", control.script, methods=["POST"]),
        Route("/__fake/release/{name}", control.release, methods=["POST"]),
        Route("/__fake/requests", control.requests, methods=["GET"]),
        Route("/__fake/state", control.state, methods=["GET"]),
        Route("/__fake/wait", control.wait, methods=["GET"]),
        Route("/__fake/clock", control.clock, methods=["POST"]),
        Route("/__fake/models", control.models, methods=["POST"]),
        Route("/__fake/tokenizer", control.tokenizer, methods=["POST"]),
        Route("/__fake/faults", control.faults, methods=["POST"]),
        Route("/__fake/refuse", control.refuse, methods=["POST"]),
        Route("/__fake/bill", control.bill, methods=["GET"]),
        Route("/__fake/reset", control.reset, methods=["POST"]),
    ]


class _Control:
    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def script(self, request: Request) -> Response:
        """Queue one script or a list of them."""
        raw = await request.body()
        try:
            value = orjson.loads(raw)
            scripts = _SCRIPTS.validate_python(value if isinstance(value, list) else [value])
        except (orjson.JSONDecodeError, ValidationError) as error:
            return _bad(str(error))
        for script in scripts:
            self._state.scripts.add(script)
        return _json({"queued": len(self._state.scripts)})

    async def release(self, request: Request) -> Response:
        """Release a hold, for all that wait there and all that come later."""
        self._state.holds.release(request.path_params["name"])
        return _json({"released": request.path_params["name"]})

    async def requests(self, request: Request) -> Response:
        """The recorded requests, in order; `?since=N` leaves out the first N, `bodies=0` their bodies."""
        try:
            since = int(request.query_params.get("since", "0"))
        except ValueError:
            return _bad("since must be a number")
        body = request.query_params.get("bodies") != "0"
        return _json({"requests": [record.shown(body=body) for record in self._state.requests.since(since)]})

    async def state(self, request: Request) -> Response:
        """Open streams, ended ones, queued scripts."""
        return _json(self._shown())

    async def wait(self, request: Request) -> Response:
        """Answer once all conditions hold, or with 408 and the state after `timeout` seconds."""
        try:
            conditions = [
                self._condition(name, value) for name, value in request.query_params.items() if name != "timeout"
            ]
            timeout = min(float(request.query_params.get("timeout", "10")), _MAX_WAIT)
        except ValueError as error:
            return _bad(str(error))
        try:
            async with asyncio.timeout(timeout):
                await self._state.signal.wait_until(lambda: all(holds() for holds in conditions))
        except TimeoutError:
            return _json({"error": "timeout", **self._shown()}, 408)
        return _json(self._shown())

    def _condition(self, name: str, value: str) -> Callable[[], bool]:
        state = self._state
        if name == "held":
            return lambda: state.streams.held(value)
        number = int(value)
        counts: dict[str, Callable[[], bool]] = {
            "requests": lambda: state.requests.count >= number,
            "open": lambda: len(state.streams.open) == number,
            "finished": lambda: state.streams.ended.get("finished", 0) >= number,
            "closed": lambda: state.streams.ended.get("closed_by_client", 0) >= number,
        }
        if name not in counts:
            raise ValueError(f"unknown condition: {name}")
        return counts[name]

    async def clock(self, request: Request) -> Response:
        """Let time pass for the caches."""
        try:
            advance = _Advance.model_validate_json(await request.body())
        except ValidationError as error:
            return _bad(str(error))
        self._state.clock.advance(advance.advance)
        return _json({"now": self._state.clock.now()})

    async def models(self, request: Request) -> Response:
        """Set the names that `GET /v1/models` lists."""
        try:
            models = _Models.model_validate_json(await request.body())
        except ValidationError as error:
            return _bad(str(error))
        self._state.listed_models = tuple(models.models)
        return _json({"models": models.models})

    async def tokenizer(self, request: Request) -> Response:
        """Report so many input tokens for one of o200k: a model with another tokenizer."""
        try:
            tokenizer = _Tokenizer.model_validate_json(await request.body())
        except ValidationError as error:
            return _bad(str(error))
        self._state.token_factor = tokenizer.factor
        return _json({"factor": tokenizer.factor})

    async def faults(self, request: Request) -> Response:
        """Set the faults that hold for coming requests; an empty list takes them back."""
        try:
            value = orjson.loads(await request.body())
            faults = _FAULTS.validate_python(value if isinstance(value, list) else [value])
        except (orjson.JSONDecodeError, ValidationError) as error:
            return _bad(str(error))
        self._state.faults.set(faults)
        return _json({"standing": len(self._state.faults)})

    async def refuse(self, request: Request) -> Response:
        """Set the features that are refused with 400 from now on; an empty list takes it back."""
        try:
            refuse = _Refuse.model_validate_json(await request.body())
        except ValidationError as error:
            return _bad(str(error))
        unknown = sorted(set(refuse.features) - set(feature_names()))
        if unknown:
            return _bad(f"unknown features: {', '.join(unknown)}; there are {', '.join(feature_names())}")
        self._state.refusing = Refusing(frozenset(refuse.features), refuse.model)
        return _json({"features": refuse.features})

    async def bill(self, request: Request) -> Response:
        """Every token answered for since the start, by kind."""
        return _json(self._state.bill.shown())

    async def reset(self, request: Request) -> Response:
        """Forget everything and break off what is open."""
        self._state.reset()
        return _json(self._shown())

    def _shown(self) -> JsonObject:
        state = self._state
        return {
            **state.streams.shown(),
            "requests": state.requests.count,
            "scripts": len(state.scripts),
            "clock": state.clock.now(),
        }


def _json(value: JsonObject, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _bad(message: str) -> Response:
    return _json({"error": message}, 400)
