"""The work of looking for values in labelled texts is bounded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import policy
from policy.decision import value_places as places
from policy.evaluation.found_in_labelled import LabelledTexts
from policy.evaluation.truth import Indeterminate
from policy.model import Caller, Facts, PastCall, ToolCall
from policy.values import search_readings
from tests.unit.program.compiling import tools

_NOW = datetime(2026, 11, 25, tzinfo=UTC)
_VALUES = [f"value <{number}>" for number in range(101)]


def _texts(text: str) -> LabelledTexts:
    texts = LabelledTexts([])
    texts._sure.add(0, text)
    return texts


def test_many_values_in_long_texts_are_indeterminate() -> None:
    found = _texts("x" * 110_000).has(_VALUES, 1)
    assert isinstance(found, Indeterminate)
    assert "too many values" in found.why


def test_many_values_in_short_texts_and_one_in_a_long_text_are_looked_for() -> None:
    short, long = _texts("x" * 10_000 + _VALUES[100]), _texts("x" * 10_000_000 + _VALUES[0])
    assert short.has(_VALUES, 1) is True
    assert short.has(_VALUES[:100], 1) is False
    assert long.has(_VALUES[:1], 1) is True
    assert long.has(_VALUES[1:2], 1) is False


_RULES = """\
policy for every agent

default allow
label untrusted on results of web_fetch
copied: deny file_write when input.content from untrusted
"""


@pytest.mark.parametrize(("length", "looks", "place"), [(10, 1, "c2"), (2_000_000, 0, "c1")])
def test_long_texts_are_not_looked_at_call_by_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, looks: int, place: str
) -> None:
    (tmp_path / "global.policy").write_text(_RULES)
    judge = policy.load(tmp_path)
    added: list[int] = []

    add = LabelledTexts.add

    def counted(texts: LabelledTexts, position: int, call: PastCall) -> None:
        added.append(position)
        add(texts, position, call)

    monkeypatch.setattr(LabelledTexts, "add", counted)
    result = "x" * length + _VALUES[0]
    history = tuple(
        PastCall(tool="web_fetch", input={}, result=result, outcome="succeeded", at=_NOW, id=id)
        for id in ("c1", "c2")
    )
    call = ToolCall(tool="file_write", input={"path": "a", "content": _VALUES[0]})
    facts = Facts(now=_NOW, history=history)
    (found,) = places(judge.program, call, caller=Caller(), facts=facts)
    assert f"({place})" in found.place
    # Once for both, and then each by itself, from the last.
    assert len(added) == 2 + looks


def test_no_more_is_folded_than_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "global.policy").write_text(
        _RULES.replace("file_write when input.content", "bulk when input.urls")
    )
    judge = policy.load(tmp_path, catalog=tools())
    folded: list[str] = []

    def noting(text: str) -> tuple[str, ...]:
        folded.append(text)
        return search_readings(text)

    monkeypatch.setattr("policy.evaluation.found_in_labelled.search_readings", noting)
    marked = PastCall(tool="web_fetch", input={}, result=_VALUES[0], outcome="ok", at=_NOW, id="c1")
    facts = Facts(now=_NOW, history=(marked,))
    few, many = ([f"row {number}" for number in range(count)] for count in (10_000, 10_001))
    marks = ["a" + "\u0323\u0301" * 15_000, "\ufdfa" * 30_000, "漢" * 600_000]
    for rows, most in ((few, 10_001), (many, 0), (many * 3, 0), *(([mark], 1) for mark in marks)):
        folded.clear()
        call = ToolCall(tool="bulk", input={"urls": rows})
        decision = judge.decide(call, caller=Caller(), facts=facts)
        assert len(folded) <= most
        assert decision.verdict == ("allow" if rows is few else "deny")


def test_a_result_that_takes_long_to_fold_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text(_RULES)
    judge = policy.load(tmp_path)
    call = ToolCall(tool="file_write", input={"path": "a", "content": "of another kind"})
    found = [
        judge.decide(
            call,
            caller=Caller(),
            facts=Facts(
                now=_NOW,
                history=(
                    PastCall(
                        tool="web_fetch", input={}, result=text, outcome="ok", at=_NOW, id="c1"
                    ),
                ),
            ),
        ).verdict
        for text in ("a" + "\u0323\u0301" * 15_000, "漢字" * 100_000, "short")
    ]
    assert found[0] == "deny"
    assert found[1] == found[2] != "deny"
