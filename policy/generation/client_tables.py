"""Reads `[serve.clients.NAME]` and `[serve.jwt]` in placet.toml."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from policy.generation.client_settings import ClientSettings, JwtIssuer, KnownClient
from policy.generation.setting_types import STRICT
from policy.model import Caller

_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")
_LOCAL = re.compile(r"localhost|127(\.[0-9]+){3}|::1")


def _digest(value: Any) -> str:
    found = _DIGEST.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(
            "a token is given by its SHA-256, as `sha256:` and 64 hexadecimal digits: "
            "`printf %s TOKEN | sha256sum`"
        )
    return found[1].lower()


def _no_two_of_one_token(clients: dict[str, ClientTable]) -> dict[str, ClientTable]:
    owners: dict[str, str] = {}
    for name, client in clients.items():
        other = owners.setdefault(client.token, name)
        if other != name:
            raise ValueError(f"`{other}` and `{name}` have the same token")
    return clients


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    local = parts.scheme == "http" and _LOCAL.fullmatch(host)
    if not host or not (parts.scheme == "https" or local):
        raise ValueError("keys are fetched over `https://`, and from this machine over `http://`")
    return value


class _Table(BaseModel):
    model_config = STRICT


class ClientTable(_Table):
    """One client: its token, and who it is."""

    token: Annotated[str, BeforeValidator(_digest)]
    agent: str = Caller().agent
    session: str = Caller().session
    role: str = Caller().role
    user: str | None = None
    groups: list[str] = []
    said: bool = False


class JwtTable(_Table):
    """The issuer of signed tokens, and what their claims mean."""

    issuer: str = Field(min_length=1)
    audience: str = Field(min_length=1)
    jwks: Annotated[str, AfterValidator(_url)]
    user_claim: str = Field(default="sub", min_length=1)
    groups_claim: str = Field(default="groups", min_length=1)
    agent: str = Caller().agent
    role: str = Caller().role


Clients = Annotated[dict[str, ClientTable], AfterValidator(_no_two_of_one_token)]


def client_settings(
    clients: dict[str, ClientTable], jwt: JwtTable | None, *, said: bool, message_bytes: int
) -> ClientSettings:
    """Return what the tables say."""
    return ClientSettings(
        clients=tuple(_client(name, table) for name, table in clients.items()),
        jwt=None if jwt is None else _issuer(jwt),
        said=said,
        message_bytes=message_bytes,
    )


def _client(name: str, table: ClientTable) -> KnownClient:
    caller = Caller(
        agent=table.agent,
        session=table.session,
        role=table.role,
        user=table.user,
        groups=tuple(table.groups),
    )
    return KnownClient(name=name, token_digest=table.token, caller=caller, said=table.said)


def _issuer(table: JwtTable) -> JwtIssuer:
    return JwtIssuer(
        issuer=table.issuer,
        audience=table.audience,
        jwks=table.jwks,
        user=table.user_claim,
        groups=table.groups_claim,
        caller=Caller(agent=table.agent, role=table.role),
    )
