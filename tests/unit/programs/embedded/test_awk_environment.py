"""Which environment variables an awk program reads: one by name, or all of them."""

from __future__ import annotations

import pytest

from policy.programs.embedded.awk import read_awk

_ALL = "/proc/self/environ"


@pytest.mark.parametrize(
    "program",
    [
        "BEGIN { for (k in ENVIRON) print ENVIRON[k] }",
        "{ print ENVIRON[$1] }",
        'BEGIN { print ENVIRON["A" x] }',
        "function f(a) { for (k in a) print a[k] } BEGIN { f(ENVIRON) }",
        "ENVIRON",
        "ENVIRON[",
    ],
)
def test_a_program_that_may_take_any_variable_reads_the_environment(program: str) -> None:
    assert _ALL in {one.name for one in read_awk(program).accesses}


@pytest.mark.parametrize("program", ['BEGIN { print ENVIRON["HOME"] }', "{ print $1 }", "1"])
def test_a_variable_by_its_name_is_one_that_the_shell_could_name_too(program: str) -> None:
    assert read_awk(program).accesses == ()


@pytest.mark.parametrize(
    "program",
    [
        'BEGIN { ARGV[1] = "x" } 1',
        'BEGIN { SYMTAB["ARGV"][1] = "x" } 1',
        'BEGIN { name = "ARGV"; SYMTAB[name][1] = "x" } 1',
        'BEGIN { awk::ARGV[1] = "x" } 1',
        'BEGIN { print SYMTAB["ENVIRON"]["A"] }',
    ],
)
def test_a_program_that_may_change_its_operands_reads_files_that_are_not_known(
    program: str,
) -> None:
    assert None in {one.name for one in read_awk(program).accesses if one.verb == "reads"}
