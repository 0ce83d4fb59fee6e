"""Checks tokens that an issuer has signed (JWTs), with the keys that it publishes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import jwt

from policy.generation import JwtIssuer
from policy.model import Caller
from policy.proxy.authentication import Identity

_LOG = logging.getLogger(__name__)
# Signatures that only the issuer can make: with a shared secret we could, too.
_ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
_LEEWAY = 30  # seconds that clocks may differ
_FRESH = 3_600.0  # seconds until keys are fetched again
_USABLE = 86_400.0  # seconds for which keys serve while the issuer cannot be reached
_PAUSE = 30.0  # seconds between two fetches, whatever tokens name
_PATIENCE = 10.0  # seconds
_LARGEST = 1_000_000  # bytes
_MOST_GROUPS = 1_000
# What a document that is no set of keys leads to, or one that cannot be got.
_UNREADABLE = (
    httpx2.HTTPError, ValueError, TypeError, RecursionError, jwt.PyJWTError, TimeoutError,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """The keys of one address; `at` is when they were fetched."""

    keys: jwt.PyJWKSet
    at: float


class SignedTokens:
    """Knows the callers of signed tokens. `clock` returns seconds that only grow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._keys: dict[str, _Keys] = {}
        self._tried: dict[str, float] = {}
        self._fetching = asyncio.Lock()

    async def identity_of(self, token: str, issuer: JwtIssuer) -> Identity | None:
        """Return whom a token was issued for; None if it is not valid here and now."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in _ALGORITHMS:
                return None
            key = await self._key(issuer.jwks, header.get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=issuer.audience,
                issuer=issuer.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError:
            return None
        return _identity(claims, issuer)

    async def _key(self, url: str, kid: Any) -> jwt.PyJWK | None:
        """Return the key that a token names; keys are fetched again for one that is not known."""
        known = self._keys.get(url)
        old = known is None or self._clock() - known.at >= _FRESH
        if old or _named(known, kid) is None:
            known = await self._fetched(url)
        if known is None or self._clock() - known.at >= _USABLE:
            return None
        return _named(known, kid)

    async def _fetched(self, url: str) -> _Keys | None:
        async with self._fetching:
            tried = self._tried.get(url)
            if tried is not None and self._clock() - tried < _PAUSE:
                return self._keys.get(url)
            self._tried[url] = self._clock()
            try:
                keys = jwt.PyJWKSet(_for_signatures(await _read(url)))
            except _UNREADABLE as error:
                _LOG.warning("the keys at %s cannot be read: %s", url, type(error).__name__)
            else:
                self._keys[url] = _Keys(keys=keys, at=self._clock())
            return self._keys.get(url)


def _named(known: _Keys | None, kid: Any) -> jwt.PyJWK | None:
    """Return the key of this name; a token without one is signed by the only key there is."""
    if known is None:
        return None
    keys = known.keys.keys
    if kid is None:
        return keys[0] if len(keys) == 1 else None
    return next((key for key in keys if key.key_id == kid), None)


def _for_signatures(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the keys of a document that are published for signatures that are accepted here.

    A key for encryption is not one (RFC 7517, 4.2), though it would verify a signature.
    """
    found = document.get("keys")
    if not isinstance(found, list):
        raise TypeError("the keys are no list")
    return [
        key
        for key in found
        if isinstance(key, dict)
        and key.get("use") in ("sig", None)
        and _may_verify(key.get("key_ops", ["verify"]))
        and key.get("alg", _ALGORITHMS[0]) in _ALGORITHMS
    ]


def _may_verify(operations: Any) -> bool:
    return isinstance(operations, list) and "verify" in operations


async def _read(url: str) -> dict[str, Any]:
    """Return the document at an address; redirects are not followed."""
    body = b""
    async with (
        asyncio.timeout(_PATIENCE),
        httpx2.AsyncClient(timeout=_PATIENCE, follow_redirects=False) as client,
        client.stream("GET", url) as response,
    ):
        if response.status_code != 200:
            raise ValueError("the answer has another status than 200")
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _LARGEST:
                raise ValueError("the answer is too long")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise TypeError("the answer is no object")
    return found


def _identity(claims: dict[str, Any], issuer: JwtIssuer) -> Identity | None:
    """Return the identity that claims describe; None if one has the wrong type."""
    user, groups = claims.get(issuer.user), claims.get(issuer.groups, [])
    if not isinstance(user, str) or not user.strip() or not user.isprintable():
        return None
    if not isinstance(groups, list) or len(groups) > _MOST_GROUPS:
        return None
    if not all(isinstance(group, str) for group in groups):
        return None
    caller: Caller = replace(issuer.caller, user=user, groups=tuple(groups))
    return Identity(name=f"jwt {json.dumps([issuer.issuer, user])}", caller=caller)
