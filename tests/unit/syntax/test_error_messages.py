"""Common mistakes are described in the terms of the language, at the wrong token."""

from __future__ import annotations

import pytest

from policy.model import Source
from policy.syntax import parse
from policy.syntax.mistakes import MISTAKES, Mistake, filled


def _marked(example: str) -> tuple[str, str]:
    """Return the example without its marks, and the marked token."""
    first, _, rest = example.partition("«")
    token, _, last = rest.rpartition("»")
    return first + token + last, token


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: str(mistake.example))
def test_an_example_is_told_at_its_token(mistake: Mistake) -> None:
    text, token = _marked(mistake.example)
    header = "" if text.startswith("policy") else "policy for every agent\n"
    source = Source(name="a.policy", text=f"{header}{text}\n")
    found = [d for d in parse(source).diagnostics if d.code != "missing-header"]
    assert [d.code for d in found] == [mistake.code]
    assert found[0].message == filled(mistake.message, token)
    assert found[0].help == mistake.said(token)[1]
    span = found[0].span
    assert span is not None
    assert source.text[span.start : span.end] == token


@pytest.mark.parametrize(
    ("written", "meant"),
    [("strng", "string"), ("a strng", "string"), ("abset", "absent"), ("an objct", "object")],
)
def test_a_slip_in_a_type_or_state_gets_the_nearest_one(written: str, meant: str) -> None:
    text = f"policy for every agent\ndeny bash_exec when input.a is {written}\n"
    (found,) = parse(Source(name="a.policy", text=text)).diagnostics
    assert found.help == f"did you mean `{meant}`?"
