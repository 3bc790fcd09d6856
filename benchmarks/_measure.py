"""Replays sessions on every strategy at a fake API of its own; several such processes share the work."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import aiohttp
from _figures import Figures, figures
from _processes import running
from _replay import Chat
from _script import Script, answers, quiet, scripted
from _traces import Session
from _world import World

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import Api
from openprogram.core.surface import Strategy
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.providers.config import EndpointConfig, ModelEntry

NAIVE: Final = "naive"
SEED: Final = 1
WHERE: Final[Mapping[str, tuple[Api, str]]] = {
    "inline_changes": ("anthropic", "claude-opus-5-5"),
    "reference_changes": ("anthropic", "claude-opus-5-5"),
    "tool_reference": ("anthropic", "claude-opus-4-6"),
    "additional_tools": ("openai-responses", "gpt-5.6"),
    "client_tool_search": ("openai-responses", "gpt-5.4"),
    "append": ("openai-chat", "gpt-4.1"),
    "bridge": ("openai-chat", "gpt-4.1"),
    "frozen": ("openai-chat", "gpt-4.1"),
    NAIVE: ("openai-chat", "gpt-4.1"),
}
"""At which kind of endpoint each strategy is replayed."""
SCRIPTS: Final = {"recorded": quiet, "switched": scripted}

Case = tuple[str, str]
"""A strategy, and the name of a script."""


@dataclass(frozen=True, slots=True)
class Fake:
    """The fake API's control surface."""

    base_url: str
    http: aiohttp.ClientSession

    async def script(self, queue: Sequence[JsonObject]) -> None:
        """Forget what was, and answer so."""
        await self._post("reset", {})
        await self._post("script", list(queue))

    async def requests(self, *, bodies: bool = False) -> list[dict[str, Any]]:
        """What arrived since."""
        async with self.http.get(f"{self.base_url}/__fake/requests?bodies={bodies:d}") as answer:
            found: list[dict[str, Any]] = (await answer.json())["requests"]
            return found

    async def _post(self, path: str, body: object) -> None:
        async with self.http.post(f"{self.base_url}/__fake/{path}", data=json.dumps(body).encode()) as answer:
            if answer.status != 200:
                raise RuntimeError(f"the fake API took no {path}: {await answer.text()}")


async def replay(fake: Fake, session: Session, strategy: str, script: Script, home: Path) -> Chat:
    """One session at the fake API, which has the records of its requests afterwards.

    Raises `RuntimeError` where not everything happened as it was to.
    """
    api, model = WHERE[strategy]
    how: Strategy = "append" if strategy == NAIVE else strategy  # type: ignore[assignment]
    base = fake.base_url if api == "anthropic" else f"{fake.base_url}/v1"
    config = EndpointConfig("bench", api, base, "key", (ModelEntry(model),), how)
    queue = list(answers(session, script, how))
    await fake.script(queue)

    async def bash(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
        return await chat.bash(context)

    async with World(config, bash, home) as world:
        chat = Chat(session, script, world, strategy == NAIVE)
        await chat.replay()
    planned = [happening for happenings in script.values() for happening in happenings]
    faults = chat.failures + ["not all that was to happen did"] * (chat.happened != planned)
    if faults or len(chat.requests) != len(queue):
        raise RuntimeError(f"{session.id} on {strategy}: {len(chat.requests)} of {len(queue)} requests; {faults}")
    return chat


# -- one process ------------------------------------------------------------------------------------------------


@cache
def _own_fake() -> tuple[str, str]:
    """This process' fake API and its directory; they end with it."""
    stack = ExitStack()
    _kept.append(stack)
    process = stack.enter_context(running("-m", "openprogram", "fake-api", "--port", "0", "--exit-with-stdin"))
    home: str = stack.enter_context(tempfile.TemporaryDirectory())
    return json.loads(process.line)["base_url"], home


_kept: Final[list[ExitStack]] = []


def of_session(session: Session, cases: Sequence[Case]) -> dict[Case, Figures]:
    """All cases of one session, one after the other: what was tokenised for one serves the others."""
    return asyncio.run(_of_session(session, cases, *_own_fake()))


async def _of_session(session: Session, cases: Sequence[Case], base_url: str, home: str) -> dict[Case, Figures]:
    found: dict[Case, Figures] = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as http:
        fake = Fake(base_url, http)
        for strategy, name in cases:
            chat = await replay(fake, session, strategy, SCRIPTS[name](session, SEED), Path(home))
            found[strategy, name] = figures(chat, await fake.requests())
    return found


# -- all of them ------------------------------------------------------------------------------------------------


def measured(sessions: Sequence[Session], cases: Sequence[Case], processes: int) -> Iterator[dict[Case, Figures]]:
    """The figures of each session as soon as it is done, the longest begun first."""
    order = sorted(sessions, key=lambda session: -len(session.steps))
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(of_session, session, cases) for session in order]):
            yield done.result()
