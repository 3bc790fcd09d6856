"""What the server is told from outside, as one typed value.

A command-line flag comes before the environment (`OPENPROGRAM_*`), that before `config.toml` in the data directory,
that before the default. Nothing that cannot be read is skipped: it is a `ConfigError` that says where it stands.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from openprogram.app.config_file import ConfigTables, Level, SearchTable, read_config
from openprogram.app.demo import ENDPOINT as DEMO
from openprogram.app.home import check_token, own_token, prepare_home
from openprogram.app.presets import config_presets
from openprogram.core.errors import ConfigError
from openprogram.core.events import PermissionMode
from openprogram.core.tooling import Preset
from openprogram.providers.config import EndpointConfig
from openprogram.providers.discovery import discover
from openprogram.server.access import is_loopback

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8790
DEFAULT_HOME: Final = Path("~/.openprogram")
OWN_WORKSPACE: Final = "workspace"
"""Below the data directory: where chats work when nothing else is said. Only this one is made by the server."""
_SHORTEST_SECRET: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Options of the command line; None where one was not given."""

    home: str | None = None
    host: str | None = None
    port: int | None = None
    token: str | None = field(default=None, repr=False)
    allow_hosts: tuple[str, ...] = ()
    public_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Keys and addresses of web search services; None where one is not configured."""

    tavily_key: str | None = field(default=None, repr=False)
    brave_key: str | None = field(default=None, repr=False)
    exa_key: str | None = field(default=None, repr=False)
    serper_key: str | None = field(default=None, repr=False)
    searxng_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that is configured. `token_given` is false for the data directory's own random token."""

    home: Path
    host: str
    port: int
    token: str = field(repr=False)
    token_given: bool
    allow_hosts: tuple[str, ...]
    public_url: str | None
    log_level: Level
    endpoints: tuple[EndpointConfig, ...]
    search: SearchSettings
    workspace: Path
    """The directory that a new chat works in by default."""
    permission_mode: PermissionMode
    presets: tuple[Preset, ...] = ()
    """Those of `config.toml`."""
    embeddings: bool = False
    """Whether deferred tools are found by meaning too."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every key and token in here that is long enough to be one: local servers are given "x" or "none"."""
        search = self.search
        keys = [endpoint.key for endpoint in self.endpoints]
        keys += [self.token, search.tavily_key, search.brave_key, search.exa_key, search.serper_key]
        return tuple(key for key in keys if key is not None and len(key) >= _SHORTEST_SECRET)


def load_settings(flags: Flags, environ: Mapping[str, str]) -> Settings:
    """Merge the sources. Makes the data directory and its token if they are missing.

    Raises `ConfigError`: a directory that cannot be used, a file that cannot be read, a value that cannot be one, an
    address that others can reach without a token that was chosen for it (R9).
    """
    chosen = flags.home or environ.get("OPENPROGRAM_HOME") or str(DEFAULT_HOME)
    home = Path(os.path.abspath(Path(chosen).expanduser()))
    prepare_home(home)
    config = read_config(home)
    tables = config.tables()
    with config.locating():
        endpoints = _endpoints(environ, tables)
        workspace = _workspace(home, tables.chat.workspace)
    presets = config_presets(config, tables)
    server = tables.server
    host = flags.host or environ.get("OPENPROGRAM_HOST") or server.host or DEFAULT_HOST
    given = _given_token(flags, environ, tables)
    if given is None and not is_loopback(host):
        raise ConfigError(
            f"{host} can be reached by others, so a token has to be chosen for it",
            field="host",
            hint="give one with --token or OPENPROGRAM_TOKEN, or listen on 127.0.0.1",
        )
    return Settings(
        home=home,
        host=host,
        port=_port(flags, environ, server.port),
        token=own_token(home) if given is None else given,
        token_given=given is not None,
        allow_hosts=_allow_hosts(flags, environ, server.allow_hosts),
        public_url=flags.public_url or environ.get("OPENPROGRAM_PUBLIC_URL") or server.public_url,
        log_level=server.log_level or "info",
        endpoints=endpoints,
        search=_search(environ, tables.search),
        workspace=workspace,
        permission_mode=tables.chat.permission_mode or "ask",
        presets=presets,
        embeddings=tables.tools.embeddings,
    )


def _endpoints(environ: Mapping[str, str], tables: ConfigTables) -> tuple[EndpointConfig, ...]:
    if DEMO in tables.endpoints:
        raise ConfigError(
            f"an endpoint cannot be named {DEMO!r}: that is the built-in demo model's name",
            field=f"endpoints.{DEMO}",
            hint="choose another name",
        )
    return discover(environ, tables.endpoints)


def _workspace(home: Path, named: str | None) -> Path:
    """The directory of new chats: the server's own, or one that was named and is there."""
    if named is None:
        return home / OWN_WORKSPACE
    path = Path(os.path.normpath(os.path.expanduser(named)))
    if not path.is_absolute():
        raise ConfigError(
            f"chat.workspace: {named!r} is not an absolute path", field="chat.workspace", hint="begin it with / or ~/"
        )
    try:
        found, real, private = path.is_dir(), path.resolve(), home.resolve()
    except OSError as error:
        raise ConfigError(f"chat.workspace: {path}: {error.strerror or error}", field="chat.workspace") from error
    if real in (private, *private.parents):
        raise ConfigError(
            f"chat.workspace: {path} holds the data directory, whose keys every chat could then read",
            field="chat.workspace",
            hint=f"name a directory without {home} in it, or another data directory with --home",
        )
    if not found:
        raise ConfigError(
            f"chat.workspace: there is no directory {path}",
            field="chat.workspace",
            hint="check the spelling, or make it first",
        )
    return real


def _given_token(flags: Flags, environ: Mapping[str, str], tables: ConfigTables) -> str | None:
    if flags.token is not None:
        return check_token(flags.token, "--token")
    if environ.get("OPENPROGRAM_TOKEN"):
        return check_token(environ["OPENPROGRAM_TOKEN"], "OPENPROGRAM_TOKEN")
    if tables.server.token is not None:
        return check_token(tables.server.token, "config.toml: server.token")
    return None


def _port(flags: Flags, environ: Mapping[str, str], configured: int | None) -> int:
    if flags.port is not None:
        return _checked_port(str(flags.port), "--port")
    if environ.get("OPENPROGRAM_PORT"):
        return _checked_port(environ["OPENPROGRAM_PORT"], "OPENPROGRAM_PORT")
    return DEFAULT_PORT if configured is None else configured


def _checked_port(text: str, source: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise ConfigError(f"{source}: {text!r} is not a port (0 to 65535)", field="port")
    return int(text)


def _allow_hosts(flags: Flags, environ: Mapping[str, str], configured: list[str]) -> tuple[str, ...]:
    if flags.allow_hosts:
        return flags.allow_hosts
    names = environ.get("OPENPROGRAM_ALLOW_HOSTS", "").replace(",", " ").split()
    return tuple(names or configured)


def _search(environ: Mapping[str, str], table: SearchTable) -> SearchSettings:
    def value(variable: str, configured: str | None) -> str | None:
        return environ.get(variable, "").strip() or configured

    return SearchSettings(
        tavily_key=value("TAVILY_API_KEY", table.tavily_key),
        brave_key=value("BRAVE_API_KEY", table.brave_key),
        exa_key=value("EXA_API_KEY", table.exa_key),
        serper_key=value("SERPER_API_KEY", table.serper_key),
        searxng_url=value("SEARXNG_URL", table.searxng_url),
    )
