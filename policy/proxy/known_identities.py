"""The identities of a server: one token for all, clients with tokens, and users of an issuer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from policy.generation import ClientSettings
from policy.proxy.authentication import Identity, OneToken

if TYPE_CHECKING:
    from policy.proxy.signed_tokens import SignedTokens


class KnownIdentities:
    """Knows whose tokens there are, by the configuration in force at each request."""

    def __init__(self, settings: Callable[[], ClientSettings], *, token: str | None) -> None:
        self._settings = settings
        self._one = None if token is None else OneToken(token=token)
        self._signed: SignedTokens | None = None

    @property
    def required(self) -> bool:
        """Whether a request needs a token."""
        return self._one is not None or bool(self._settings())

    async def identity_of(self, token: bytes) -> Identity | None:
        """Return whom a token belongs to; None if it is nobody's, or that of several."""
        settings = self._settings()
        digest = hashlib.sha256(token).hexdigest()
        found = [
            Identity(name=f"client {client.name}", caller=client.caller, said=client.said)
            for client in settings.clients
            if client.token_digest == digest
        ]
        one = None if self._one is None else await self._one.identity_of(token)
        if one is not None:
            found.append(one)
        if found or settings.jwt is None or token.count(b".") != 2 or not token.isascii():
            return found[0] if len(found) == 1 else None
        if self._signed is None:
            # Only for servers whose clients have such tokens.
            from policy.proxy.signed_tokens import SignedTokens

            self._signed = SignedTokens()
        return await self._signed.identity_of(token.decode(), settings.jwt)
