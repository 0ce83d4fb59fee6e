"""Which of the keys that an issuer publishes count."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from policy.generation import JwtIssuer
from policy.model import Caller
from policy.proxy.signed_tokens import SignedTokens
from tests.unit.cli.test_gateway_callers import AUDIENCE, ISSUER, Issuer


class Publishing(Issuer):
    """Publishes any document; `key` is the key that signs."""

    def __init__(self, size: int = 2_048) -> None:
        super().__init__()
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=size)
        self.published_document: Any = {}

    def jwk(self, **members: Any) -> dict[str, Any]:
        key = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {**key, "kid": self.kid, "alg": "RS256", **members}

    def document(self) -> bytes:
        found = self.published_document
        return found if isinstance(found, bytes) else json.dumps(found).encode()

    async def user_of_its_token(self, document: Any) -> str | None:
        self.published_document = document
        async with self.published() as table:
            jwks = tomllib.loads(table)["serve"]["jwt"]["jwks"]
            here = JwtIssuer(
                issuer=ISSUER,
                audience=AUDIENCE,
                jwks=jwks,
                user="sub",
                groups="groups",
                caller=Caller(),
            )
            found = await SignedTokens().identity_of(self.token(), here)
        return None if found is None or found.caller is None else found.caller.user


@pytest.fixture(scope="module")
def issuer() -> Publishing:
    return Publishing()


async def test_a_key_for_encryption_verifies_no_signature(issuer: Publishing) -> None:
    key = issuer.jwk()
    assert await issuer.user_of_its_token({"keys": [key]}) == "eve"
    assert await issuer.user_of_its_token({"keys": [{**key, "use": "sig"}]}) == "eve"
    assert await issuer.user_of_its_token({"keys": [{**key, "use": "enc"}]}) is None
    assert await issuer.user_of_its_token({"keys": [{**key, "key_ops": ["encrypt"]}]}) is None
    # Some issuers give both of their keys one name.
    other = Publishing().jwk(use="enc")
    assert await issuer.user_of_its_token({"keys": [other, key]}) == "eve"


async def test_a_key_for_another_algorithm_spoils_no_other(issuer: Publishing) -> None:
    odd = [7, {**issuer.jwk(), "alg": "none"}, {**issuer.jwk(), "alg": "HS256"}, {"kty": "?"}]
    operations: tuple[Any, ...] = (5, None, {})
    odd += [{**issuer.jwk(), "key_ops": one} for one in operations]
    assert await issuer.user_of_its_token({"keys": odd}) is None
    assert await issuer.user_of_its_token({"keys": [*odd, issuer.jwk()]}) == "eve"


@pytest.mark.parametrize("document", [b"[" * 100_000, b"{", [], {}, {"keys": {}}, {"keys": [7]}])
async def test_what_is_no_set_of_keys_refuses_the_token(issuer: Publishing, document: Any) -> None:
    assert await issuer.user_of_its_token(document) is None


async def test_a_short_key_is_refused() -> None:
    """Its signatures can be made by others. Signing with it warns, too."""
    short = Publishing(size=1_024)
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        assert await short.user_of_its_token({"keys": [short.jwk()]}) is None
