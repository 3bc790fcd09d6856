import asyncio
from pathlib import Path

import pytest

from openprogram.core.asking import Answer
from openprogram.core.errors import BadArguments, ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock
from openprogram.core.tooling import Contract, ToolContext, ToolLimits, ToolOutput
from openprogram.tools.decorator import tool
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.wrap import wrap
from tests.support.tools import BASH, READ, Person, Switches, context, spec


@tool(permission="execute", limits=ToolLimits(timeout_s=0.01, output_chars=100))
async def run(context: ToolContext, command: str) -> str:
    """Run a command.

    Args:
        command: what to run
    """
    if command == "hang":
        await asyncio.Event().wait()
    return command


async def test_arguments_that_do_not_fit_go_back_and_nobody_is_asked(tmp_path: Path) -> None:
    person = Person()
    with pytest.raises(BadArguments):
        await wrap(run, Switches(), person, LeftBehind()).execute({"comand": "ls"}, context(tmp_path))

    assert person.asked == []


async def test_waiting_for_a_person_is_not_the_tools_time(tmp_path: Path) -> None:
    class Slow(Person):
        async def __call__(self, request):
            await asyncio.sleep((run.limits.timeout_s or 0) * 3)  # the law is about elapsed time itself
            return await super().__call__(request)

    output = await wrap(run, Switches(), Slow(Answer("once")), LeftBehind()).execute(
        {"command": "ls"}, context(tmp_path)
    )

    assert output == ToolOutput.text("ls")


async def test_a_call_that_hangs_is_stopped_at_its_limit(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match=r"did not finish within 0\.01 s and was stopped"):
        await wrap(run, Switches("auto"), Person(), LeftBehind()).execute({"command": "hang"}, context(tmp_path))


async def test_a_long_result_is_cut(tmp_path: Path) -> None:
    output = await wrap(run, Switches("auto"), Person(), LeftBehind()).execute(
        {"command": "x" * 1000}, context(tmp_path)
    )

    assert "900 characters left out" in output.content[0].text


def test_the_kinds_of_wrappers_with_their_versions_are_part_of_the_contract() -> None:  # T23
    declared, foreign = (wrap(made, Switches(), Person(), LeftBehind()) for made in (run, READ))

    assert declared.wrappers == ("validation/1", "approval/2", "timeout/1", "bounds/1")
    assert foreign.wrappers == ("approval/2", "timeout/1", "bounds/1")
    unwrapped = type(declared)(run, run.execute)
    assert Contract((declared,), 0, 0).fingerprint != Contract((unwrapped,), 0, 0).fingerprint


async def test_a_contract_runs_what_was_wrapped_whatever_the_registry_holds(tmp_path: Path) -> None:  # T22
    async def replaced(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        return ToolOutput.text("new")

    frozen = wrap(BASH, Switches("auto"), Person(), LeftBehind())
    later = wrap(spec("bash", permission="execute", execute=replaced), Switches("auto"), Person(), LeftBehind())

    assert (await frozen.execute({"command": "ls"}, context(tmp_path))).content == (TextBlock('{"command":"ls"}'),)
    assert (await later.execute({"command": "ls"}, context(tmp_path))).content == (TextBlock("new"),)
