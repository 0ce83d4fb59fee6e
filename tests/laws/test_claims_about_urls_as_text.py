"""A law of claims about the text of a URL, beside rules about the host that it names."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.catalog import Resource, ToolSpec
from policy.model import Facts, Resolvers
from tests.examples import examples
from tests.laws.situations import Tally
from tests.laws.tried_texts import try_texts
from tests.unit.verify.proving import tool

_TEXT = {"type": "string"}
_SPECS = (
    tool("t", {"u": _TEXT}, Resource(verb="connects", steps=("u",))),
    tool(
        "t",
        {"u": _TEXT, "v": _TEXT},
        Resource(verb="connects", steps=("u",)),
        Resource(verb="connects", steps=("v",)),
    ),
)
_ITEMS = (
    "a.test", "*.a.test", "b.test", "https://a.test", "http://b.test", "a.test:8080", "*.test",
    "https://a.test/x/**", "10.0.0.0/8", "private", "localhost", "redirected", "com", "x--y.test",
)  # fmt: skip
_SETS = (
    'hosts most = "*.test" except "x.a.test", "https://b.test"',
    'hosts some = "a.test", "b.test" except "10.0.0.0/8"',
)
_TEXTS = (
    "https://a.test/x", "https://a.test/", "a.test", "http://b.test", "https://", "x.a.test", "b",
    ".test", "@", "/x", "https://10.0.0.1/", "localhost", "https://a.test:8080/x", "A.test",
)  # fmt: skip
_GLOBS = ("https://*.test/*", "https://a.test/*", "*a.test*", "?.test", "http*")
_EXPRESSIONS = ("https:\\/\\/a\\.test\\/.*", "[a-z.]+", ".*@.*", "https?:\\/\\/.*\\.test(\\/.*)?")
_STARTS = ("", "https://", "http://", "HTTPS://", "ftp://", "file://", "https:", "x://", "//", " ")
_HOSTS = (
    "a.test", "b.test", "A.TEST", "x.a.test", "a.test.", "10.0.0.1", "[::1]", "localhost", "com",
    "user@a.test", "a.test@b.test", "a%2etest", "a.test\u200b", "xn--e1aybc", "x--y.test",
    "a..test", "\u0430.test", "0x7f.1", "http", "a" * 64 + ".test", "-a.test", "a_b.test",
)  # fmt: skip
_ENDS = (
    "", "/", "/x", ":8080", ":8080/x", ":0", ":99999/", "?q=@b.test", "#b.test", "/ ", "/\\b.test",
    "/x/../y", "?x", ":", "/%2e%2e/", "\n", "/@b.test", "\\@b.test", ":80@b.test/",
)  # fmt: skip
_UNIVERSE = tuple(map("".join, product(_STARTS, _HOSTS, _ENDS)))


def _addresses(host: str) -> tuple[str, ...] | None:
    return {"a.test": ("10.0.0.1",), "b.test": ("8.8.8.8", "10.0.0.1")}.get(host)


_FACTS = (Facts(history=()), Facts(history=(), resolvers=Resolvers(host=_addresses)))


@st.composite
def _conditions(draw: st.DrawFn, *, of_text: bool, only: bool = False) -> str:
    if of_text:
        relation = draw(
            st.sampled_from(("==", "starts with", "ends with", "contains", "like", "matches"))
        )
        if relation == "matches":
            return f"input.u matches /{draw(st.sampled_from(_EXPRESSIONS))}/"
        among = _GLOBS if relation == "like" else _TEXTS
        return f'input.u {relation} "{draw(st.sampled_from(among))}"'
    items = draw(st.lists(st.sampled_from(_ITEMS), min_size=1, max_size=2, unique=True))
    words = "only to" if only else draw(st.sampled_from(("to", "to", "outside")))
    if draw(st.integers(0, 3)) == 0:
        return f"connects {words} {draw(st.sampled_from(('most', 'some')))}"
    listed = ", ".join(item if item in ("private", "redirected") else f'"{item}"' for item in items)
    return f"connects {words} [{listed}]"


@st.composite
def _policies(draw: st.DrawFn) -> tuple[ToolSpec, tuple[str, ...]]:
    of_text = draw(st.booleans())
    if draw(st.booleans()):
        rules = [
            "allow t when connects to anything",
            f"deny t when {draw(_conditions(of_text=not of_text))}",
        ]
    else:
        allowed = draw(_conditions(of_text=False, only=True))
        extra = f" and {draw(_conditions(of_text=True))}" if draw(st.booleans()) else ""
        if draw(st.booleans()):
            allowed, extra = "connects to anything", f" and {draw(_conditions(of_text=True))}"
        rules, of_text = [f"allow t when {allowed}{extra}"], draw(st.booleans())
    claim = f"prove never allow t when {draw(_conditions(of_text=of_text))}"
    if draw(st.integers(0, 3)) == 0:
        claim += f" and {draw(_conditions(of_text=not of_text))}"
    spec = draw(st.sampled_from(_SPECS))
    return spec, ("policy for every agent", "default deny", *_SETS, *rules, claim)


def test_no_url_breaks_a_claim_that_holds() -> None:
    tally = Tally()

    @settings(max_examples=examples(100))
    @given(_policies(), st.sampled_from(_FACTS), st.sampled_from(("a.test", "x\u200b")))
    def law(policy: tuple[ToolSpec, tuple[str, ...]], facts: Facts, other: str) -> None:
        try_texts(policy, facts, _UNIVERSE, other=other, tally=tally)

    law()
    tally.shows("holds", share=0.05)
    tally.shows("broken", share=0.2)
