"""What a reason says of the names that `xargs` adds to a command."""

from __future__ import annotations

from policy.evaluation.accesses import accesses_of
from policy.generation import shipped_profile_texts
from policy.programs import Profiles, ScriptAnalysis, analyse_script


def _reasons(script: str) -> list[str]:
    read = analyse_script(script, Profiles.of(shipped_profile_texts()))
    assert isinstance(read, ScriptAnalysis)
    return [one.why for each in read.walk() for one in accesses_of(each, "reads") if one.why]


def test_a_list_of_unknown_names_is_told_the_way_out() -> None:
    assert any("find … -print0 | xargs -0" in why for why in _reasons("git ls-files | xargs cat"))
    assert not any("xargs" in why for why in _reasons("cat $X"))
    assert _reasons("find . -name '*.py' -print0 | xargs -0 cat") == []
