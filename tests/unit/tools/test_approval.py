from pathlib import Path

import pytest

from openprogram.core.asking import Answer
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock
from openprogram.core.storage import Grant
from openprogram.core.tooling import CallPreview, Execute, ToolContext, ToolOutput, ToolSpec
from openprogram.tools.approval import with_approval
from openprogram.tools.builtin.diff import unified
from openprogram.tools.builtin.edit import edit
from openprogram.tools.builtin.write import write
from tests.support.tools import BASH, READ, WRITE, Person, Switches, context, echo, spec

LS: JsonObject = {"command": "ls"}
ONCE = Answer("once")


class File:
    """A writing tool over one file, with a preview of what it would change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spec = spec("write", permission="write", writes=("path",), execute=self.execute, preview=self.preview)

    async def execute(self, arguments: JsonObject, context: ToolContext) -> ToolOutput:
        self.path.write_text(str(arguments["content"]))
        return ToolOutput.text("written")

    async def preview(self, arguments: JsonObject, context: ToolContext) -> CallPreview:
        old = self.path.read_text() if self.path.exists() else None
        return CallPreview("diff", unified(self.path.name, old, str(arguments["content"])).text)


def approved(tool: ToolSpec, person: Person, switches: Switches | None = None) -> Execute:
    return with_approval(tool.execute, tool, switches or Switches(), person)


async def test_what_needs_no_word_asks_nobody(tmp_path: Path) -> None:
    person = Person()
    output = await approved(READ, person)({"path": "a"}, context(tmp_path))

    assert output.status == "ok"
    assert person.asked == []


async def test_a_person_sees_the_exact_call_and_allows_it(tmp_path: Path) -> None:
    person = Person(ONCE)
    output = await approved(BASH, person)(LS, context(tmp_path, call_id="c_7"))

    assert output == ToolOutput.text('{"command":"ls"}')
    (asked,) = person.asked
    assert (asked.turn_id, asked.call_id, asked.tool, asked.arguments) == ("t_1", "c_7", "bash", LS)
    assert (asked.kind, asked.preview, asked.pattern) == ("command", "ls", "ls")
    assert (asked.reason, asked.directory) == (f"runs in {tmp_path}", str(tmp_path))
    assert asked.approval_id.startswith("a_")


async def test_a_denied_call_does_not_run_and_the_note_reaches_the_model(tmp_path: Path) -> None:
    file = File(tmp_path / "a")
    output = await approved(file.spec, Person(Answer("deny", "use b instead")))(
        {"path": "a", "content": "x"}, context(tmp_path)
    )

    assert output.status == "denied"
    assert "use b instead" in output.content[0].text
    assert not file.path.exists()


async def test_a_denial_without_a_note_says_what_to_do(tmp_path: Path) -> None:
    output = await approved(BASH, Person(Answer("deny")))(LS, context(tmp_path))

    assert output == ToolOutput(
        (TextBlock("The user did not allow this call. Do not try it again in another form; ask what to do instead."),),
        status="denied",
    )


async def test_a_grant_of_this_chat_asks_nobody(tmp_path: Path) -> None:
    person = Person(Answer("deny"))
    run = approved(BASH, person, Switches("ask", Grant("bash", "ls", str(tmp_path))))

    assert (await run(LS, context(tmp_path))).status == "ok"
    assert (await run({"command": "ls && rm -rf x"}, context(tmp_path))).status == "denied"
    assert [asked.preview for asked in person.asked] == ["ls && rm -rf x"]


async def test_the_mode_is_read_at_each_call(tmp_path: Path) -> None:
    person, switches = Person(ONCE), Switches("auto")
    run = approved(BASH, person, switches)
    await run(LS, context(tmp_path))
    switches.mode = "ask"
    await run(LS, context(tmp_path))

    assert len(person.asked) == 1


async def test_edits_are_accepted_in_the_workspace_and_not_through_a_link_out_of_it(tmp_path: Path) -> None:
    workspace, outside, extra = (tmp_path / name for name in ("ws", "outside", "extra"))
    for directory in (workspace, outside, extra):
        directory.mkdir()
    (workspace / "link").symlink_to(outside)
    person = Person(Answer("deny"))
    run = approved(WRITE, person, Switches("accept_edits"))
    here = context(workspace, extra_dirs=(extra,))

    assert (await run({"path": "a"}, here)).status == "ok"
    assert (await run({"path": str(extra / "a")}, here)).status == "ok"
    assert (await run({"path": "link/a"}, here)).status == "denied"
    assert person.asked[0].reason == "changes files outside the workspace"


async def test_a_workspace_that_is_itself_reached_by_a_link_is_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "ws").symlink_to(tmp_path / "real")
    run = approved(WRITE, Person(), Switches("accept_edits"))

    assert (await run({"path": "a"}, context(tmp_path / "ws"))).status == "ok"


async def test_a_diff_is_shown_before_a_write(tmp_path: Path) -> None:
    file = File(tmp_path / "a")
    file.path.write_text("old\n")
    person = Person(ONCE)
    await approved(file.spec, person)({"path": "a", "content": "new\n"}, context(tmp_path))

    assert person.asked[0].kind == "diff"
    assert person.asked[0].preview == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n"
    assert file.path.read_text() == "new\n"


async def test_a_file_that_changed_while_the_approval_waited_is_not_written(tmp_path: Path) -> None:
    file = File(tmp_path / "a")

    class Slow(Person):
        async def __call__(self, request):
            file.path.write_text("someone else's\n")
            return await super().__call__(request)

    with pytest.raises(ToolFailure, match="changed since the user allowed it"):
        await approved(file.spec, Slow(ONCE))({"path": "a", "content": "new\n"}, context(tmp_path))
    assert file.path.read_text() == "someone else's\n"


@pytest.mark.parametrize("tool", [write, edit])
async def test_a_change_past_what_is_shown_of_a_diff_is_another_call(tmp_path: Path, tool: ToolSpec) -> None:
    file = tmp_path / "long"
    lines = [f"line {n}\n" for n in range(20_000)]
    file.write_text("".join(lines))
    arguments: JsonObject = {"path": "long", "content": "".join(f"new {line}" for line in lines)}
    if tool is edit:
        arguments = {"path": "long", "old": "line", "new": "new line", "replace_all": True}

    class Slow(Person):
        async def __call__(self, request):
            file.write_text("".join([*lines[:-1], "line of someone else\n"]))
            return await super().__call__(request)

    person = Slow(ONCE, ONCE)
    run = approved(tool, person)
    with pytest.raises(ToolFailure, match="changed since the user allowed it"):
        await run(arguments, context(tmp_path))
    file.write_text("".join([*lines[:-1], "line that was there\n"]))
    with pytest.raises(ToolFailure, match="changed since the user allowed it"):
        await run(arguments, context(tmp_path))
    first, second = person.asked
    assert first.preview == second.preview
    assert first.left_out == second.left_out > 10_000
    assert first.digest != second.digest


async def test_two_calls_with_the_same_preview_are_told_apart_by_their_arguments(tmp_path: Path) -> None:
    person = Person(ONCE, ONCE)
    for timeout in (1, 2):
        await approved(BASH, person)({"command": "ls", "timeout": timeout}, context(tmp_path))
    assert person.asked[0].digest != person.asked[1].digest


async def test_a_tool_that_was_switched_off_while_the_approval_waited_does_not_run(tmp_path: Path) -> None:
    switches = Switches()

    class SwitchesOff(Person):
        async def __call__(self, request):
            switches.off.add("bash")
            return await super().__call__(request)

    output = await approved(BASH, SwitchesOff(ONCE), switches)(LS, context(tmp_path))
    assert output.status == "denied"


async def test_a_call_that_could_not_work_asks_nobody(tmp_path: Path) -> None:
    async def impossible(arguments: JsonObject, context: ToolContext) -> CallPreview:
        raise ToolFailure("the text to replace is not in the file")

    person = Person()
    edit = spec("edit", permission="write", preview=impossible, execute=echo)
    with pytest.raises(ToolFailure, match="not in the file"):
        await approved(edit, person)({"path": "a"}, context(tmp_path))
    assert person.asked == []
