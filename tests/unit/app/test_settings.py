"""Flags before environment before file before default; whatever cannot be read is named, and nothing is skipped."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from openprogram.app.settings import Flags, Settings, load_settings
from openprogram.core.errors import ConfigError


def load(home: Path, config: str | None = None, environ: Mapping[str, str] | None = None, **flags: Any) -> Settings:
    if config is not None:
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(config)
    return load_settings(Flags(home=str(home), **flags), environ or {})


def refused(
    home: Path, config: str | None = None, environ: Mapping[str, str] | None = None, **flags: Any
) -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        load(home, config, environ, **flags)
    return raised.value


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_with_nothing_said_the_server_is_private_and_has_a_token_of_its_own(home: Path) -> None:
    settings = load(home)
    assert (settings.host, settings.port, settings.token_given) == ("127.0.0.1", 8790, False)
    assert (settings.endpoints, settings.permission_mode, settings.workspace) == ((), "ask", home / "workspace")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600
    assert len(settings.token) >= 43
    assert (home / "token").read_text().strip() == settings.token


@pytest.mark.parametrize("named", ["{}/typo", "relative", "{}/file", "~nobody_at_all/x"])
def test_a_workspace_that_is_named_and_not_there_is_an_error_and_is_not_made(home: Path, named: str) -> None:
    home.parent.joinpath("file").write_text("")
    error = refused(home, f'[chat]\n\nworkspace = "{named.format(home.parent)}"\n')
    assert error.field == "chat.workspace"
    assert "config.toml, line 3" in error.message
    assert sorted(path.name for path in home.parent.iterdir()) == ["data", "file"]


def test_a_workspace_that_is_named_and_there_is_taken(home: Path) -> None:
    project = home.parent / "project"
    project.mkdir()
    assert load(home, f'[chat]\nworkspace = "{project}/"\n').workspace == project
    (home.parent / "link").symlink_to(project)
    assert load(home, f'[chat]\nworkspace = "{home.parent}/link"\n').workspace == project  # whatever it leads to later


@pytest.mark.parametrize("named", ["{}", "{}/..", "/", "{}/../link"])
def test_a_workspace_that_holds_the_servers_keys_is_refused(home: Path, named: str) -> None:  # R18
    home.mkdir()
    (home.parent / "link").symlink_to(home)
    error = refused(home, f'[chat]\nworkspace = "{named.format(home)}"\n')
    assert error.field == "chat.workspace"
    assert "holds the data directory" in error.message


def test_an_endpoint_may_not_take_the_name_of_the_demo(home: Path) -> None:
    error = refused(home, '[endpoints.demo]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert error.field == "endpoints.demo"
    assert "config.toml, line 1" in error.message
    assert "demo model" in error.message


def test_the_own_token_is_made_once_and_kept_private(home: Path) -> None:
    first = load(home).token
    (home / "token").chmod(0o644)
    assert load(home).token == first
    assert stat.S_IMODE((home / "token").stat().st_mode) == 0o600


def test_a_flag_comes_before_the_environment_before_the_file_before_the_default(home: Path) -> None:
    config = '[server]\nhost = "127.0.0.3"\nport = 3\ntoken = "three"\nallow_hosts = ["three"]\n'
    environ = {"OPENPROGRAM_HOST": "127.0.0.2", "OPENPROGRAM_PORT": "2", "OPENPROGRAM_TOKEN": "two"}
    environ |= {"OPENPROGRAM_ALLOW_HOSTS": "two, too"}
    flags = {"host": "127.0.0.1", "port": 0, "token": "one", "allow_hosts": ("one",)}

    def values(settings: Settings) -> tuple[object, ...]:
        return settings.host, settings.port, settings.token, settings.allow_hosts

    assert values(load(home, config, environ, **flags)) == ("127.0.0.1", 0, "one", ("one",))
    assert values(load(home, config, environ)) == ("127.0.0.2", 2, "two", ("two", "too"))
    assert values(load(home, config)) == ("127.0.0.3", 3, "three", ("three",))


def test_an_empty_variable_is_none(home: Path) -> None:
    settings = load(home, environ={"OPENPROGRAM_HOST": "", "OPENPROGRAM_PORT": "", "OPENPROGRAM_TOKEN": ""})
    assert (settings.host, settings.port, settings.token_given) == ("127.0.0.1", 8790, False)


def test_the_home_may_come_from_the_environment(home: Path) -> None:
    assert load_settings(Flags(), {"OPENPROGRAM_HOME": str(home)}).home == home


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "box.local"])
def test_others_are_let_in_only_with_a_chosen_token(home: Path, host: str) -> None:  # R9
    error = refused(home, host=host)
    assert error.field == "host"
    assert "--token" in str(error.hint)
    assert load(home, host=host, token="chosen").token_given
    assert load(home, environ={"OPENPROGRAM_HOST": host, "OPENPROGRAM_TOKEN": "chosen"}).token_given


@pytest.mark.parametrize("token", ["", " ", "two words", "tab\t", "é", "x" * 513, "line\n"])
def test_a_token_that_fits_into_no_header_is_refused(home: Path, token: str) -> None:
    assert refused(home, token=token).field == "token"


@pytest.mark.parametrize("content", ["", "  \n", "two words\n"])
def test_a_damaged_token_file_is_not_replaced(home: Path, content: str) -> None:
    home.mkdir()
    (home / "token").write_text(content)
    assert str(home / "token") in refused(home).message
    assert (home / "token").read_text() == content


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1e3", "٣"])
def test_a_port_that_is_none_is_refused(home: Path, port: str) -> None:
    error = refused(home, environ={"OPENPROGRAM_PORT": port})
    assert "OPENPROGRAM_PORT" in error.message


@pytest.mark.parametrize(
    ("config", "line", "field"),
    [
        ("[server]\nhost = 5\n", 2, "server.host"),
        ("[server]\n\n# the port\nport = 70000\n", 4, "server.port"),
        ("server.port = 'x'\n", 1, "server.port"),
        ("[server]\nprot = 1\n", 2, "server.prot"),
        ("[sever]\nport = 1\n", 1, "sever"),
        ("[server]\nport = 1\n[search]\ntavily_key = 1\n", 4, "search.tavily_key"),
        ("[chat]\npermission_mode = 'bypass'\n", 2, "chat.permission_mode"),
        ('[server]\nallow_hosts = [\n  "a",\n  5,\n]\n', 2, "server.allow_hosts.1"),
        ('[endpoints.local]\napi = "openai-chat"\n', 1, "endpoints.local.base_url"),
        ('[endpoints.local]\napi = "openai"\nbase_url = "http://127.0.0.1/v1"\n', 2, "endpoints.local.api"),
        ('[endpoints."Lo cal"]\nbase_url = "http://127.0.0.1/v1"\n', 1, "endpoints.Lo cal"),
    ],
)
def test_a_fault_in_the_file_is_named_with_file_line_and_key(home: Path, config: str, line: int, field: str) -> None:
    error = refused(home, config)
    assert error.field == field
    assert error.message.startswith(f"{home / 'config.toml'}, line {line}: ")


def test_a_file_that_is_not_toml_or_not_text_is_named(home: Path) -> None:
    assert "line 2" in refused(home, "[server]\nport = \n").message
    (home / "config.toml").write_bytes(b"\xff\xfe")
    assert str(home / "config.toml") in refused(home).message


def test_keys_show_in_no_repr(home: Path) -> None:  # R18
    config = (
        '[search]\ntavily_key = "k-one"\n[endpoints.x]\napi = "openai-chat"\nbase_url = "http://h/v1"\nkey = "k-two"\n'
    )
    settings = load(home, config, {"EXA_API_KEY": "k-three"}, token="k-four")
    assert (settings.search.tavily_key, settings.search.exa_key) == ("k-one", "k-three")
    assert settings.endpoints[0].key == "k-two"
    assert "k-" not in repr(settings)


def test_a_wrong_key_is_not_repeated_in_the_message(home: Path) -> None:  # R18
    error = refused(home, "[search]\ntavily_key = 987654321\n")
    assert "987654321" not in f"{error.message} {error.hint}"


def test_endpoints_come_from_file_and_environment(home: Path) -> None:
    config = '[endpoints.local]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["m"]\n'
    settings = load(home, config, {"ANTHROPIC_API_KEY": "k"})
    assert [endpoint.name for endpoint in settings.endpoints] == ["local", "anthropic"]


def test_a_home_that_is_a_file_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for home in (file, file / "below"):
        error = refused(home)
        assert (error.field, str(home) in error.message) == ("home", True)
        assert "--home" in str(error.hint)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_home_without_permission_is_explained(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    assert refused(home).field == "home"


def test_a_config_that_is_a_directory_is_explained(home: Path) -> None:
    (home / "config.toml").mkdir(parents=True)
    assert str(home / "config.toml") in refused(home).message
