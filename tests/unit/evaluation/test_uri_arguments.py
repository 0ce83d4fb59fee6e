"""What an argument that is a URI names, whatever its text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policy.catalog import READ_RESOURCE, Verb
from policy.evaluation.uri_arguments import uri_accesses
from policy.generation import Generation, load
from policy.model import Caller, Facts, Verdict

VERBS: tuple[Verb, ...] = ("reads", "connects")
SCHEMES = st.sampled_from([*"file: FILE:// https:// ssh:// demo:// git+file: c:".split(), ""])
RESTS = st.text(max_size=20) | st.sampled_from(["/srv/a", "/srv/../b", "//h/x", "a.example/x"])
TEXTS = st.builds("{}{}".format, SCHEMES, RESTS)


@given(TEXTS)
@example("http:a")
@example("file:")
def test_no_text_is_taken_for_nothing(text: str) -> None:
    found = {verb: list(uri_accesses(verb, text, steps=("uri",))) for verb in VERBS}
    assert any(found.values())
    certain = [verb for verb in VERBS if any(one.text is not None for one in found[verb])]
    hidden = [verb for verb in VERBS if any(one.text is None for one in found[verb])]
    # Either it is certain what it is, or both are possible.
    assert hidden in ([], list(VERBS))
    assert len(certain) == 1 or hidden


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("file:///a", {"reads": "file:///a"}),
        ("File:/a", {"reads": "File:/a"}),
        ("https://a.example", {"connects": "https://a.example"}),
        ("POSTGRES://a.example/x", {"connects": "POSTGRES://a.example/x"}),
        ("demo://a", {}),
        ("data:,x", {}),
        ("a/b", {"reads": "a/b"}),
        ("c:/a", {"reads": "c:/a"}),
    ],
)
def test_a_scheme_decides(text: str, names: dict[str, str]) -> None:
    found = [one for verb in VERBS for one in uri_accesses(verb, text, steps=("uri",))]
    assert {one.verb: one.text for one in found if one.text is not None} == names


POLICY = """\
policy for every agent

default deny
a: allow mcp_read_resource when reads only "/srv/**"
b: allow mcp_read_resource when connects only to "a.example"
"""


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> Generation:
    file = tmp_path_factory.mktemp("rules") / "global.policy"
    file.write_text(POLICY, "utf-8")
    return load(file)


@given(text=TEXTS)
def test_what_only_permits_is_a_path_or_host_that_it_names(
    generation: Generation, text: str
) -> None:
    input = {"server": "s", "uri": text}
    answer = generation.answer(READ_RESOURCE, input, caller=Caller(), facts=Facts())
    if answer.decision.verdict is Verdict.ALLOW:
        scheme = text.partition(":")[0].lower()
        assert scheme == "file" or "a.example" in text
