"""The packaged tables are those of the grammar, and parse what Lark parses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from policy.model import Source
from policy.syntax import lark_engine, statement, table_engine, tables
from policy.syntax.builder import NodeBuilder
from tests.unit.syntax.table_writer import tables_text

FILE = Path(tables.__file__).with_suffix(".json")

LOADS = """
import sys
from policy.model import Source
from policy.syntax import parse
text = 'policy for every agent\\nx: allow a, b* except b.c when input.n <= 3 and y like "/"\\n'
parsed = parse(Source(name="a.policy", text=text))
assert not parsed.diagnostics, parsed.diagnostics
print([name for name in sys.modules if name.partition(".")[0] == "lark"])
"""


def test_the_shipped_tables_are_those_of_the_grammar(update_cases: bool) -> None:
    text = tables_text(lark_engine.build(None))
    if update_cases:
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text, (
        "the grammar, the builder's methods or Lark have changed; write policy/syntax/tables.json "
        "anew with `pytest --update-cases tests/unit/syntax/test_tables.py`"
    )


def test_a_policy_that_is_right_needs_no_lark() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "allow",
        "allow a,",
        "allow a b",
        "allow a when",
        "allow a # why",
        "x: y: allow a",
        'allow a because "open',
        "allow a when (x",
        "allow a when x) and y",
        "allow a when a and b or c",
        "policy for every agent",
    ],
)
def test_the_driver_leaves_to_lark_what_does_not_parse(text: str) -> None:
    builder = NodeBuilder(Source(name="a.policy", text=text), 0, len(text))
    assert table_engine.run(tables.tables(), builder, text, start_rule="statement") is None


def test_words_of_one_saying_stand_apart_by_any_blanks() -> None:
    text = 'allow a\n  when x starts \t with "b" and y named by  user\n  two   people'
    source = Source(name="a.policy", text=text)
    builder = NodeBuilder(source, 0, len(text))
    node = table_engine.run(tables.tables(), builder, text, start_rule="statement")
    assert node is not None
    assert (
        node == statement.parse_statement(source, text, 0, start_rule="statement", engine="lark")[0]
    )
