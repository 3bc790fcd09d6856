"""The environment of commands (R14)."""

import pytest

from openprogram.tools.builtin.environment import command_environment, is_secret_name


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "OPENAI_APIKEY",
        "TAVILY_API_KEY",
        "GITHUB_TOKEN",
        "TOKEN",
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "PGPASSWORD",
        "DB_PASS",
        "MYSQL_PWD",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SENTRY_DSN",
        "AZURE_STORAGE_CONNECTION_STRING",
        "OPENPROGRAM_HOME",
        "openprogram_token",
        "some_api_key",
        "BASH_ENV",
    ],
)
def test_secret_names(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "TOKENIZERS_PARALLELISM", "KEYBOARD", "VIRTUAL_ENV", "PWD", "PASSAGE"],
)
def test_names_that_are_no_secrets(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("https://user:word@example.org/", False),
        ("redis://:word@localhost:6379/0", False),
        ("https://example.org/a:b@c", True),
        ("https://example.org:8080/", True),
        ("a:b@c", True),
    ],
)
def test_a_password_in_a_url_is_a_secret(value, kept):
    assert ("SOME_URL" in command_environment({"SOME_URL": value})) is kept


def test_nothing_waits_for_a_person():
    assert command_environment({"PAGER": "less", "TERM": "xterm"}) == {
        "PAGER": "cat",
        "TERM": "dumb",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
    }


def test_exceptions_are_kept():
    assert command_environment({"A_TOKEN": "1"}, frozenset({"A_TOKEN"}))["A_TOKEN"] == "1"
