"""A law of claims about the text of an argument, beside rules about the path that it names."""

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
_OPTIONAL = tool("t", {"p": _TEXT}, Resource(verb="reads", steps=("p",), tree=False))
_SPECS = (
    _OPTIONAL,
    tool(
        "t",
        {"p": _TEXT, "q": _TEXT},
        Resource(verb="reads", steps=("p",), tree=False),
        Resource(verb="reads", steps=("q",), tree=False),
    ),
)
_ITEMS = (
    "/etc/**", "/etc/x", "/etc/*", "/srv/**", "**/x", "**/*.k", "**/.env", "**/a/**", "**", "/",
    "~/**", "./**", "~/x", "a/**", "/*/x", "**/?", "**/%*", "/home/u/**", "/w/**",
)  # fmt: skip
_TEXTS = ("/etc/x", "/etc/", "/", "x", "a/x", "~/x", "/srv/a.k", ".k", "/x", "file:/etc/x", "%41")
_SEGMENTS = (
    "etc",
    "x",
    "a.k",
    ".env",
    "..",
    ".",
    "",
    "~",
    "%41.k",
    "\u200b",
    "x\u200b",
    "X",
    "K",
    "\u212a.k",
)
_STARTS = ("", "/", "~/", "./", "//", "file:/", "file:///", "\u200b/", "FILE:/", "/etc/", "/srv/")
_UNIVERSE = tuple(
    dict.fromkeys(
        start + "/".join(segments)
        for start in _STARTS
        for length in (1, 2)
        for segments in product(_SEGMENTS, repeat=length)
    )
)
# No item of a rule spells one of these.
_LINKS = {"/srv/x": "/etc/x", "/w/.env": "/etc/x", "/etc/etc": "/srv", "/home/u/.env": "/srv/a.k"}


def _leads(path: str) -> str | None:
    return _LINKS.get(path, path)


def _upper(path: str) -> bool:
    return path.startswith("/etc")


_FACTS = (
    Facts(cwd="/w", workspace="/w", home="/home/u", history=()),
    Facts(cwd="/srv/etc", workspace="/srv", home="/etc", history=()),
    Facts(history=()),
    Facts(
        cwd="/w",
        workspace="/w",
        home="/home/u",
        history=(),
        resolvers=Resolvers(path=_leads, folds=_upper),
    ),
)


@st.composite
def _conditions(draw: st.DrawFn, *, of_text: bool, only: bool = False) -> str:
    if of_text:
        relation = draw(
            st.sampled_from(("==", "starts with", "ends with", "contains", "like", "matches"))
        )
        text = draw(st.sampled_from(_TEXTS))
        if relation == "like":
            text = draw(st.sampled_from(("/etc/*", "*.k", "*/x", "/srv/?.k", "?*")))
        if relation == "matches":
            return f"input.p matches /{draw(st.sampled_from(_EXPRESSIONS))}/"
        return f'input.p {relation} "{text}"'
    items = draw(st.lists(st.sampled_from(_ITEMS), min_size=1, max_size=2, unique=True))
    words = "only " if only else draw(st.sampled_from(("", "", "outside ")))
    listed = ", ".join(f'"{item}"' for item in items)
    return f"reads {words}[{listed}]"


_EXPRESSIONS = ("\\/etc\\/[a-z]+", "\\/srv\\/.*", "[a-z\\/.]+", ".*\\.k", "[^%]*")


@st.composite
def _policies(draw: st.DrawFn) -> tuple[ToolSpec, tuple[str, ...]]:
    of_text = draw(st.booleans())
    if draw(st.booleans()):
        rules = [
            "allow t when reads anything",
            f"deny t when {draw(_conditions(of_text=not of_text))}",
        ]
    else:
        allowed = draw(_conditions(of_text=False, only=True))
        extra = f" and {draw(_conditions(of_text=True))}" if draw(st.booleans()) else ""
        rules, of_text = [f"allow t when {allowed}{extra}"], draw(st.booleans())
    claim = f"prove never allow t when {draw(_conditions(of_text=of_text))}"
    if draw(st.integers(0, 3)) == 0:
        claim += f" and {draw(_conditions(of_text=not of_text))}"
    spec = draw(st.sampled_from(_SPECS))
    return spec, ("policy for every agent", "default deny", *rules, claim)


def test_no_text_breaks_a_claim_that_holds() -> None:
    tally = Tally()

    @settings(max_examples=examples(150))
    @given(_policies(), st.sampled_from(_FACTS), st.sampled_from(("/etc/x", "x", "\u200b/x")))
    def law(policy: tuple[ToolSpec, tuple[str, ...]], facts: Facts, other: str) -> None:
        try_texts(policy, facts, _UNIVERSE, other=other, tally=tally)

    law()
    tally.shows("holds", share=0.05)
    tally.shows("broken", share=0.2)
