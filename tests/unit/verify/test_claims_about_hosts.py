"""Claims about sets of hosts: names, domains, networks, schemes, ports, paths and exceptions."""

from __future__ import annotations

import pytest

from policy.catalog import Resource
from tests.unit.verify.proving import proof, tool

TEXT = {"type": "string"}
FETCH = tool("fetch", {"url": TEXT}, Resource(verb="connects", steps=("url",)))


@pytest.mark.parametrize(
    ("rules", "claim", "status"),
    [
        # A domain is not below itself.
        (
            ('deny fetch when connects to "*.corp.test"',),
            'connects to "a.corp.test"',
            "holds",
        ),
        (('deny fetch when connects to "*.corp.test"',), 'connects to "corp.test"', "broken"),
        (
            ('deny fetch when connects to ["*.corp.test", "corp.test"]',),
            'connects to ["*.a.corp.test", "corp.test"]',
            "holds",
        ),
        # Schemes, ports and paths.
        (
            ('deny fetch when connects to "http://*"',),
            'connects to "http://a.example/x/**"',
            "holds",
        ),
        (('deny fetch when connects to "http://*"',), 'connects to "a.example"', "broken"),
        (
            ('deny fetch when connects to ["https://a.example", "http://a.example"]',),
            'connects to "https://a.example:8443"',
            "holds",
        ),
        (('deny fetch when connects to "*:22"',), 'connects to "ssh://a.example:22"', "holds"),
        (('deny fetch when connects to "*:22"',), 'connects to "ssh://a.example"', "broken"),
        (
            ('deny fetch when connects to "https://a.example/v1/**"',),
            'connects to "https://a.example/v1/*/x"',
            "holds",
        ),
        (
            ('deny fetch when connects to "https://a.example/v1/**"',),
            'connects to "https://a.example/v*/x"',
            "broken",
        ),
        # Networks, and several together.
        (("deny fetch when connects to private",), 'connects to "10.1.0.0/16"', "holds"),
        (("deny fetch when connects to private",), 'connects to "0.0.0.0/0"', "broken"),
        (
            ('deny fetch when connects to ["0.0.0.0/1", "128.0.0.0/1"]',),
            'connects to "8.8.8.0/24"',
            "holds",
        ),
        (("deny fetch when connects to loopback",), 'connects to "localhost"', "holds"),
        (("deny fetch when connects to loopback",), 'connects to "127.0.0.1"', "holds"),
        # Exceptions.
        (
            ('hosts far = "*" except "*.corp.test"', "deny fetch when connects to far"),
            'connects to "evil.example"',
            "holds",
        ),
        (
            ('hosts far = "*" except "*.corp.test"', "deny fetch when connects to far"),
            'connects to "*.test"',
            "broken",
        ),
    ],
)
def test_a_claim_about_a_host_is_decided(rules: tuple[str, ...], claim: str, status: str) -> None:
    allowed = ("allow fetch when connects to anything", *rules)
    found = proof(f"prove never allow fetch when {claim}", *allowed, specs=(FETCH,))
    assert found.status == status


@pytest.mark.parametrize(
    ("allowed", "claim", "status"),
    [
        ('connects only to "*.corp.test"', 'connects to "evil.example"', "holds"),
        (
            'connects only to "*.corp.test"',
            'connects outside ["*.example", "*.test"]',
            "holds",
        ),
        ('connects only to "*.corp.test"', 'connects outside "*.a.corp.test"', "broken"),
        ('connects only to "https://*.corp.test"', 'connects to "http://*"', "holds"),
        ('connects only to ["10.0.0.0/8", "fd00::/8"]', 'connects to "192.168.0.0/16"', "holds"),
    ],
)
def test_what_an_allow_leaves_out_is_not_allowed(allowed: str, claim: str, status: str) -> None:
    rule = f"allow fetch when {allowed}"
    assert proof(f"prove never allow fetch when {claim}", rule, specs=(FETCH,)).status == status


def test_a_name_may_have_any_address() -> None:
    found = proof(
        'prove never allow fetch when connects to "10.0.0.0/8"',
        'allow fetch when connects only to "*.corp.test"',
        specs=(FETCH,),
    )
    assert found.status != "holds"


def test_a_name_that_is_excepted_may_have_an_address_of_the_network() -> None:
    found = proof(
        'prove never allow fetch when connects to "10.0.0.0/8"',
        "allow fetch when connects to anything",
        'hosts inner = "10.0.0.0/8" except "a.test"',
        "deny fetch when connects to inner",
        specs=(FETCH,),
    )
    assert found.status != "holds"


def test_a_url_that_breaks_a_claim_is_short() -> None:
    found = proof(
        'prove never allow fetch when connects to "*.example"',
        'allow fetch when connects only to "https://*"',
        'deny fetch when connects to ["a.example", "https://*:443"]',
        specs=(FETCH,),
    )
    assert found.counterexample is not None
    (url,) = found.counterexample.situation.input.values()
    assert url.startswith("https://") and url.endswith("/") and len(url) <= 24
