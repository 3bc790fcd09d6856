"""Calling a tool the way the agent does, without the agent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput, ToolSpec


@dataclass
class Caller:
    """One chat's calls in one workspace; `live` collects what people saw while they ran."""

    workspace: Path
    extra_dirs: tuple[Path, ...] = ()
    session_id: str = "s_test"
    live: list[str] = field(default_factory=list)
    on_output: Callable[[], object] = bool
    calls: int = 0

    def context(self) -> ToolContext:
        self.calls += 1
        return ToolContext(
            session_id=self.session_id,
            turn_id="t_test",
            call_id=f"c_{self.calls}",
            workspace=self.workspace,
            output=self._take,
            extra_dirs=self.extra_dirs,
        )

    def _take(self, text: str) -> None:
        self.live.append(text)
        self.on_output()

    async def __call__(self, spec: ToolSpec, **arguments: JsonValue) -> ToolOutput:
        return await spec.execute(arguments, self.context())

    async def fails(self, spec: ToolSpec, **arguments: JsonValue) -> str:
        """The message of the `ToolFailure` that the call raises."""
        with pytest.raises(ToolFailure) as caught:
            await self(spec, **arguments)
        return caught.value.message

    async def preview(self, spec: ToolSpec, **arguments: JsonValue) -> CallPreview:
        assert spec.preview is not None
        return await spec.preview(arguments, self.context())


def text_of(output: ToolOutput) -> str:
    """What the model is told."""
    return "\n".join(part.text for part in output.content)


def display_of(output: ToolOutput) -> JsonObject:
    """What people are shown."""
    assert output.display is not None
    return output.display


def contents(root: Path) -> dict[str, tuple[bytes, int] | str]:
    """Every path below, with bytes and mode of files: what "nothing was touched" is measured by."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode) if path.is_file() else "folder"
        for path in sorted(root.rglob("*"))
    }
