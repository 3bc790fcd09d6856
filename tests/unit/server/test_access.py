"""The names that a server answers to, and who may bind where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.errors import ConfigError
from openprogram.server.access import Access, is_loopback, is_wildcard, make_access


def access(**changes: object) -> Access:
    values = {"token": "t", "host": "127.0.0.1", "port": 8790} | changes
    return make_access(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1:8790", "localhost:8790", "LOCALHOST:8790", "[::1]:8790"])
def test_loopback_names_with_the_bound_port_are_always_allowed(host: str) -> None:
    for bound in ("127.0.0.1", "0.0.0.0", "192.168.1.5"):
        assert access(host=bound).host_allowed(host)
        assert access(host=bound).origin_allowed(f"http://{host}")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost",
        "localhost.:8790",
        "evil.example:8790",
        "127.0.0.1:8790 ",
        "",
        "::1:8790",
    ],
)
def test_other_spellings_are_refused(host: str) -> None:
    assert not access().host_allowed(host)
    assert not access().origin_allowed(f"http://{host}")


def test_the_bound_address_is_a_name_of_the_server_and_a_wildcard_is_not() -> None:
    assert access(host="192.168.1.5").host_allowed("192.168.1.5:8790")
    assert access(host="fe80::1").host_allowed("[fe80::1]:8790")
    assert not access(host="0.0.0.0").host_allowed("0.0.0.0:8790")
    assert not access(host="0.0.0.0").host_allowed("192.168.1.5:8790")


def test_the_default_port_may_be_left_out() -> None:
    assert access(port=80).host_allowed("localhost")
    assert access(port=80).host_allowed("localhost:80")
    assert access(port=80).origin_allowed("http://localhost")


def test_the_public_url_brings_its_scheme_name_and_port_and_nothing_else() -> None:
    served = access(public_url="https://chat.example.com:8443/")
    assert served.host_allowed("chat.example.com:8443")
    assert served.origin_allowed("https://chat.example.com:8443")
    assert not served.host_allowed("chat.example.com")
    assert not served.origin_allowed("http://chat.example.com:8443")
    assert served.secure_hosts == {"chat.example.com:8443"}


@pytest.mark.parametrize("name", ["", "http://x", "a b", "a/b", "*.example.com", "x:99999999", "-x", "[::1"])
def test_a_name_that_cannot_be_one_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError) as raised:
        access(allow_hosts=(name,))
    assert raised.value.field == "allow_hosts"


@pytest.mark.parametrize("url", ["", "chat.example.com", "ftp://x", "https://", "https://x:port", "http://[::1"])
def test_a_public_url_that_cannot_be_one_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        access(public_url=url)
    assert raised.value.field == "public_url"


@pytest.mark.parametrize(
    ("host", "loopback", "wildcard"),
    [
        ("127.0.0.1", True, False),
        ("127.8.9.10", True, False),
        ("localhost", True, False),
        ("::1", True, False),
        ("[::1]", True, False),
        ("0.0.0.0", False, True),
        ("::", False, True),
        ("192.168.1.5", False, False),
        ("box.local", False, False),
        ("localhost.evil.example", False, False),
    ],
)
def test_what_stays_on_this_machine(host: str, loopback: bool, wildcard: bool) -> None:
    assert (is_loopback(host), is_wildcard(host)) == (loopback, wildcard)


@given(st.text(max_size=30))
def test_only_the_token_matches_the_token_and_only_the_cookie_the_cookie(presented: str) -> None:
    served = access(token="the-token")
    assert served.token_matches(presented) == (presented == "the-token")
    assert served.cookie_matches(presented) == (presented == served.cookie_value)


def test_another_token_or_port_is_another_cookie() -> None:
    assert access(token="a").cookie_value != access(token="b").cookie_value
    assert access(port=1).cookie_name != access(port=2).cookie_name
