"""Build hook: wheel and sdist carry the built interface, so that installing them needs no Node."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebInterfaceHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the interface into the package, if its sources changed, before files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling once per target, editable installs included."""
        script = Path(self.root) / "scripts" / "build_webui.py"
        spec = importlib.util.spec_from_file_location("build_webui", script)
        if spec is None or spec.loader is None:
            raise FileNotFoundError(f"cannot load {script}")
        build_webui = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build_webui)
        build_webui.ensure_built(Path(self.root))
