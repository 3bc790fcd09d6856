"""`config.toml` in the data directory: read, checked, and every fault named with file, line and key."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from openprogram.app.home import unusable
from openprogram.core.errors import ConfigError

CONFIG_FILE: Final = "config.toml"

Port = Annotated[int, Field(ge=0, le=65535)]
Text = Annotated[str, Field(min_length=1)]
Level = Literal["debug", "info", "warning", "error"]


class _Table(BaseModel):
    """A table of the file: unknown keys are faults, since a misspelt rule would silently not hold."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ServerTable(_Table):
    """`[server]`: where to listen and who may come."""

    host: Text | None = None
    port: Port | None = None
    token: Text | None = Field(default=None, repr=False)
    allow_hosts: list[Text] = []
    public_url: Text | None = None
    log_level: Level | None = None


class SearchTable(_Table):
    """`[search]`: keys and addresses of web search services."""

    tavily_key: Text | None = Field(default=None, repr=False)
    brave_key: Text | None = Field(default=None, repr=False)
    exa_key: Text | None = Field(default=None, repr=False)
    serper_key: Text | None = Field(default=None, repr=False)
    searxng_url: Text | None = None


class ChatTable(_Table):
    """`[chat]`: what a new chat has where nothing else is said."""

    workspace: Text | None = None
    permission_mode: Literal["ask", "accept_edits", "auto"] | None = None


class ToolsTable(_Table):
    """`[tools]`: how tools are offered."""

    embeddings: bool = False


class ConfigTables(_Table):
    """The whole file. `endpoints` is checked by `openprogram.providers.discovery`, `presets` by `tools.presets`."""

    server: ServerTable = ServerTable()
    search: SearchTable = SearchTable()
    chat: ChatTable = ChatTable()
    tools: ToolsTable = ToolsTable()
    endpoints: dict[str, Any] = {}
    presets: dict[str, Any] = {}


class ConfigFile:
    """A config file's text, to say where in it a fault stands."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._text = text

    def tables(self) -> ConfigTables:
        """The checked content. Raises `ConfigError`."""
        try:
            content = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{self.path}: not TOML: {error}", field="config.toml") from error
        except RecursionError as error:
            raise ConfigError(f"{self.path}: nested too deeply", field="config.toml") from error
        try:
            return TypeAdapter(ConfigTables).validate_python(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            raise self._fault([str(part) for part in first["loc"]], first["msg"]) from error

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Add file and line to a `ConfigError` about one of this file's keys."""
        try:
            yield
        except ConfigError as error:
            keys = (error.field or "").split(".")
            line = find_line(self._text, keys)
            if line is None:
                raise
            raise ConfigError(
                f"{self.path}, line {line}: {error.message}", field=error.field, hint=error.hint
            ) from error

    def _fault(self, keys: Sequence[str], message: str) -> ConfigError:
        line = find_line(self._text, keys)
        place = f"{self.path}, line {line}" if line else str(self.path)
        return ConfigError(f"{place}: {'.'.join(keys)}: {message[:1].lower()}{message[1:]}", field=".".join(keys))


def read_config(home: Path) -> ConfigFile:
    """The data directory's config file; an empty one if there is none. Raises `ConfigError` if it cannot be read."""
    path = home / CONFIG_FILE
    try:
        return ConfigFile(path, path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return ConfigFile(path, "")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})", field="config.toml") from error
    except OSError as error:
        raise unusable(path, error) from error


_HEADER: Final = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?")
_KEY: Final = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")


def find_line(text: str, keys: Sequence[str]) -> int | None:
    """The line, from 1, where the key of that path stands, or else the nearest table around it."""
    places = list(_places(text.splitlines()))
    for length in range(len(keys), 0, -1):
        for line, path in places:
            if path == list(keys[:length]):
                return line
    return None


def _places(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    table: list[str] = []
    for number, line in enumerate(lines, 1):
        if header := _HEADER.fullmatch(line):
            table = _parts(header[1])
            yield number, table
        elif key := _KEY.match(line):
            yield number, table + _parts(key[1])


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
