"""What is known of hosts."""

import pytest

from openprogram.providers.hosts import Quirks, cache_ttl_of, is_loopback, quirks_of


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:8081/v1", True),
        ("http://127.8.8.8", True),
        ("http://[::1]:8081", True),
        ("http://LOCALHOST:11434/v1", True),
        ("http://model.localhost/v1", True),
        ("http://192.168.0.7:8081", False),
        ("https://api.openai.com/v1", False),
        ("https://localhost.example.com", False),
    ],
)
def test_this_machine_is_told_from_others(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


def test_only_openai_itself_gets_what_only_openai_knows() -> None:
    assert quirks_of("https://api.openai.com/v1").cache_key
    assert quirks_of("https://api.openai.com.example.org/v1") == Quirks()
    assert quirks_of("http://127.0.0.1:8081/v1") == Quirks()


def test_how_long_a_prefix_is_taken_for_warm() -> None:
    assert cache_ttl_of("https://gateway.example", "anthropic") == 300
    assert cache_ttl_of("https://api.openai.com/v1", "openai-chat") == 1800
    assert cache_ttl_of("http://127.0.0.1:8081/v1", "openai-chat") == 3600
