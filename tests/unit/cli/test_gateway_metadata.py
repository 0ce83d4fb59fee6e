"""Where clients read at which issuer they get a token (RFC 9728), as the SDK's client reads it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
)
from mcp.shared.auth import ProtectedResourceMetadata

from tests.plain_http import plain_client
from tests.unit.cli.gateways import Gateway
from tests.unit.cli.test_gateway_callers import ADA, AUDIENCE, CLIENTS, ISSUER, before_callers

TABLE = (
    f'[serve.jwt]\nissuer = "{ISSUER}"\naudience = "{{}}"\njwks = "https://keys.example.com/k"\n'
)


async def get(g: Gateway, path: str) -> httpx2.Response:
    async with plain_client() as client:
        return await client.get(g.url.removesuffix("/mcp") + path)


async def refused(g: Gateway, **headers: str) -> httpx2.Response:
    async with plain_client() as client:
        return await client.post(g.url, json={}, headers=headers)


async def test_a_client_without_a_token_learns_where_to_get_one(tmp_path: Path) -> None:
    async with before_callers(tmp_path, TABLE.format(AUDIENCE)) as g:
        answer = await refused(g)
        assert answer.status_code == 401
        url = extract_resource_metadata_from_www_auth(answer)
        assert url is not None
        assert url in build_protected_resource_metadata_discovery_urls(None, AUDIENCE)
        for path in (urlsplit(url).path, "/.well-known/oauth-protected-resource"):
            found = await get(g, path)
            assert found.status_code == 200
            assert found.headers["access-control-allow-origin"] == "*"
            metadata = ProtectedResourceMetadata.model_validate_json(found.content)
            assert found.json()["resource"] == AUDIENCE
            assert [str(one).rstrip("/") for one in metadata.authorization_servers] == [
                ISSUER.rstrip("/")
            ]
        challenge = (await refused(g, Authorization="Bearer x.y.z")).headers["www-authenticate"]
        assert 'error="invalid_token"' in challenge
        # An edit of the policy counts at once.
        (tmp_path / "rules" / "placet.toml").write_text(CLIENTS)
        while (await get(g, "/.well-known/oauth-protected-resource")).status_code == 200:
            pass
        assert "resource_metadata" not in (await refused(g)).headers["www-authenticate"]


async def test_without_an_issuer_there_is_no_metadata(tmp_path: Path) -> None:
    async with before_callers(tmp_path, CLIENTS) as g:
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/x"):
            assert (await get(g, path)).status_code == 401
        async with g.client(token=ADA) as client:
            assert (await client.list_tools()).tools
