"""Where the metadata of a server are, by the audience of its tokens."""

from __future__ import annotations

import pytest

from policy.generation import JwtIssuer
from policy.model import Caller
from policy.proxy.resource_metadata import metadata_url


@pytest.mark.parametrize(
    ("audience", "url"),
    [
        ("https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"),
        ("https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
        ("https://a.example/", "https://a.example/.well-known/oauth-protected-resource"),
        ("http://[::1]:8/x?y", "http://[::1]:8/.well-known/oauth-protected-resource/x?y"),
        ("placet", None),
        ('https://a.example/"', None),
        ("https://a.example/\r\nX: y", None),
        ("https://a.example/ä", None),
        ("https://[a/mcp", None),
        ("https://a.example/#x", None),
    ],
)
def test_the_address_follows_from_the_audience(audience: str, url: str | None) -> None:
    issuer = JwtIssuer(
        issuer="https://login.example.com",
        audience=audience,
        jwks="",
        user="sub",
        groups="groups",
        caller=Caller(),
    )
    assert metadata_url(issuer) == url
