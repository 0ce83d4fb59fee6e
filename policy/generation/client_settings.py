"""Who may call over HTTP, as configured: clients with tokens, and an issuer of signed tokens."""

from __future__ import annotations

from dataclasses import dataclass

from policy.model import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClient:
    """A client by name. `token_digest` is the SHA-256 of its token, in lower-case hexadecimal.

    `said`: what it tells of its user's messages counts.
    """

    name: str
    token_digest: str
    caller: Caller
    said: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtIssuer:
    """Signs tokens (JWTs) for `audience` with the keys at the URL `jwks`.

    The claim `user` names the user, and the claim `groups` lists groups. All else of a caller is
    that of `caller`.
    """

    issuer: str
    audience: str
    jwks: str
    user: str
    groups: str
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """All who may call over HTTP by tokens of their own, and how long a message of a client may be.

    `said`: of a client without one, what it tells of its user's messages counts.
    """

    clients: tuple[KnownClient, ...] = ()
    jwt: JwtIssuer | None = None
    said: bool = False
    message_bytes: int = 4_000_000

    def __bool__(self) -> bool:
        return bool(self.clients) or self.jwt is not None
