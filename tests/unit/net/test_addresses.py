"""Which addresses a request on someone else's behalf may reach (R16)."""

from ipaddress import ip_network

import pytest

from openprogram.net.addresses import AddressPolicy

PUBLIC = AddressPolicy()


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "2a00:1450:4001::200e"],
)
def test_public_addresses_may_be_reached(address):
    assert PUBLIC.refusal(address) is None


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "this host"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("169.254.169.254", "link-local"),
        ("168.63.129.16", "cloud metadata"),
        ("100.100.100.200", "shared by a provider"),
        ("192.0.0.192", "reserved"),
        ("192.88.99.1", "a 6to4 relay"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::", "this host"),
        ("::1", "loopback"),
        ("fe80::1", "link-local"),
        ("fc00::1", "private"),
        ("fd00:ec2::254", "private"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved or a tunnel"),
        ("2002:7f00:1::", "a 6to4 tunnel"),
        ("2001:db8::1", "documentation"),
        ("64:ff9b:1::a00:1", "local translation"),
        ("::7f00:1", "not a public unicast address"),
        ("4000::1", "not a public unicast address"),
    ],
)
def test_each_special_block_is_refused_with_its_reason(address, reason):
    assert PUBLIC.refusal(address) == reason


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:a9fe:a9fe", "link-local"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::169.254.169.254", "link-local"),
        ("::ffff:8.8.8.8", None),
        ("64:ff9b::808:808", None),
    ],
)
def test_an_address_inside_another_is_what_is_judged(address, reason):
    assert PUBLIC.refusal(address) == reason


@pytest.mark.parametrize("address", ["fe80::1%eth0", "2606:2800::1%1", "127.0.0.1%lo"])
def test_a_zone_makes_an_address_local(address):
    assert PUBLIC.refusal(address) == "an address with a zone, which is local"


@pytest.mark.parametrize("text", ["localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "", "8.8.8.8."])
def test_only_the_usual_numeric_form_is_an_address(text):
    assert PUBLIC.refusal(text) == "not a numeric address"


def test_an_exception_covers_its_network_and_nothing_else():
    policy = AddressPolicy((ip_network("10.0.0.0/8"), ip_network("fd00::/8")))
    assert policy.refusal("10.9.9.9") is None
    assert policy.refusal("::ffff:10.9.9.9") is None
    assert policy.refusal("fd12::1") is None
    assert policy.refusal("127.0.0.1") == "loopback"
    assert policy.refusal("192.168.0.1") == "private"
