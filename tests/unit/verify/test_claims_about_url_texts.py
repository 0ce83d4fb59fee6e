"""Claims about the text of a URL, beside rules about the host that it names."""

from __future__ import annotations

import pytest

from policy.catalog import Resource
from tests.unit.verify.file_tools import TEXT
from tests.unit.verify.proving import proof, tool

FETCH = tool("fetch", {"url": TEXT}, Resource(verb="connects", steps=("url",)))
BOTH = tool(
    "both",
    {"url": TEXT, "proxy": TEXT},
    Resource(verb="connects", steps=("url",)),
    Resource(verb="connects", steps=("proxy",)),
)
ANY = "allow fetch when connects to anything"


@pytest.mark.parametrize(
    ("denied", "claim", "status"),
    [
        ('connects to "evil.test"', 'input.url == "https://evil.test/x"', "holds"),
        ('connects to "evil.test"', 'input.url == "http://EVIL.test:8080"', "holds"),
        # Whatever follows, it is this host, or the URL cannot be read.
        ('connects to "evil.test"', 'input.url starts with "https://evil.test/"', "holds"),
        ('connects to "*.test"', 'input.url in ["https://a.test", "b.test/x"]', "holds"),
        ('connects outside "docs.example"', 'input.url == "https://evil.test/"', "holds"),
        # A host goes on, and has a port.
        ('connects to "evil.test"', 'input.url starts with "https://evil.test"', "broken"),
        ('connects to "evil.test:8443"', 'input.url == "https://evil.test/"', "broken"),
        ('connects to "*.evil.test"', 'input.url == "https://evil.test/"', "broken"),
        # Letter case does not matter to a host, nor does a scheme.
        ('input.url contains "evil.test"', 'connects to "evil.test"', "broken"),
        ('input.url starts with "https://evil.test/"', 'connects to "evil.test"', "broken"),
        # Which addresses a name has is not known.
        ("connects to private", 'input.url == "https://evil.test/"', "broken"),
        ("connects to private", 'input.url == "https://10.0.0.1/"', "undecided"),
    ],
)
def test_a_text_and_its_host_are_one_value(denied: str, claim: str, status: str) -> None:
    found = proof(
        f"prove never allow fetch when {claim}", ANY, f"deny fetch when {denied}", specs=(FETCH,)
    )
    assert found.status == status


@pytest.mark.parametrize(
    ("allowed", "claim", "status"),
    [
        ('input.url == "https://docs.example/a"', 'connects to "evil.test"', "holds"),
        ('input.url == "https://docs.example/a"', 'connects outside "docs.example"', "holds"),
        ('input.url == "https://10.0.0.1/"', 'connects to "evil.test"', "undecided"),
        # A URL that cannot be read may be one of any host.
        ('input.url starts with "https://docs.example/"', 'connects to "evil.test"', "broken"),
        ('input.url starts with "https://docs.example"', 'connects to "*.evil.test"', "broken"),
    ],
)
def test_hosts_of_texts_that_are_allowed(allowed: str, claim: str, status: str) -> None:
    rule = f"allow fetch when {allowed} and connects to anything"
    assert proof(f"prove never allow fetch when {claim}", rule, specs=(FETCH,)).status == status


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ('input.url == "https://evil.test/x"', "holds"),
        ('input.url starts with "https://evil.test/"', "holds"),
        ('input.url contains "evil.test"', "broken"),
        ('input.url == "https://docs.example/"', "broken"),
    ],
)
def test_texts_of_hosts_that_are_allowed(claim: str, status: str) -> None:
    rule = 'allow fetch when connects only to "docs.example"'
    assert proof(f"prove never allow fetch when {claim}", rule, specs=(FETCH,)).status == status


def test_one_of_two_urls_says_nothing_of_the_other() -> None:
    claim = 'prove never allow both when connects to "evil.test" and input.url == "https://a.test/"'
    found = proof(claim, "allow both when connects to anything", specs=(BOTH,))
    assert found.counterexample is not None
    assert "evil.test" in found.counterexample.situation.input["proxy"]
