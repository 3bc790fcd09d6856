"""Which browser there is, and what it may reach. Imports nothing of Playwright: that costs, and may be missing."""

import importlib.util
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter

from openprogram.core.jsonio import JsonObject
from openprogram.net.guarded import Resolve, system_resolve

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MAC: Final = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def find_chromium(environment: Mapping[str, str] = os.environ) -> Path | None:
    """`$CHROMIUM`, or a Chromium or Chrome on the PATH."""
    wanted = environment.get("CHROMIUM")
    path = environment.get("PATH")
    names = (wanted,) if wanted else (*_NAMES, _MAC)
    found = next((found for name in names if (found := shutil.which(name, path=path)) is not None), None)
    return Path(found) if found is not None else None


Action = Literal["open", "snapshot", "click", "type", "screenshot", "back", "close"]


@dataclass(frozen=True, slots=True)
class BrowserCall:
    """One thing to do with a page: `ref` names an element of its newest tree."""

    action: Action
    url: str = ""
    ref: str = ""
    text: str = ""
    submit: bool = False

    @classmethod
    def of(cls, arguments: JsonObject) -> "BrowserCall":
        """The call with these arguments, which its tool has checked."""
        return _CALL.validate_python(arguments)


_CALL: Final[TypeAdapter[BrowserCall]] = TypeAdapter(BrowserCall)


@dataclass(frozen=True, slots=True)
class BrowserConfig:
    """`allow` names networks (`192.168.1.0/24`) that pages may be fetched from although they are not public.

    A page that nobody used for `idle_s` seconds is closed, and with the last one the browser.
    """

    chromium: Path | None = field(default_factory=find_chromium)
    allow: tuple[str, ...] = ()
    resolve: Resolve = system_resolve
    idle_s: float = 600.0


def browser_availability(config: BrowserConfig) -> str | None:
    """Why there is no browser to be used, for people; None if there is one."""
    if importlib.util.find_spec("playwright") is None:
        return "The optional extra `browser` (Playwright) is not installed."
    if config.chromium is None:
        return "No Chromium or Chrome was found: install one, or name it in the environment variable CHROMIUM."
    return None
