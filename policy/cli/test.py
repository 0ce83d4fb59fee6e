"""`placet test`: the tests that stand in the rule files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from policy.cli.loading import (
    WRONG_POLICY,
    as_json,
    build_at,
    catalog_option,
    path_argument,
    show,
)
from policy.diagnostics import Severity
from policy.reload import Built
from policy.verify import ExampleResult, unreached_rules


@click.command("test")
@path_argument
@catalog_option
@click.option("--coverage", is_flag=True, help="Also list the rules that no test case reached.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    path: Path, *, catalog_file: Path | None, coverage: bool, junit: Path | None, format: str
) -> None:
    """Run the tests written in the rule files at PATH.

    \b
    Examples:
      placet test rules/
      placet test rules/ --coverage --junit report.xml
    """
    built = build_at(path, catalog_file)
    results = built.examples
    if built.generation is None and all(result.passed for result in results):
        click.echo(show(built, path), err=True)
        raise SystemExit(WRONG_POLICY)
    if junit is not None:
        junit.write_bytes(_junit(results))
    if format == "json":
        click.echo(as_json({"cases": [_record(result) for result in results]}))
    else:
        _print(built, results, path=path)
    if coverage and built.generation is not None:
        _print_coverage(unreached_rules(built.generation.program, results))
    if not all(result.passed for result in results):
        raise SystemExit(WRONG_POLICY)


def _print(built: Built, results: tuple[ExampleResult, ...], *, path: Path) -> None:
    failed = [problem for result in results for problem in result.diagnostics]
    if failed:
        click.echo(show(built, path, diagnostics=tuple(failed)))
    passed = sum(result.passed for result in results)
    click.echo(f"{passed} passed, {len(results) - passed} failed")


def _print_coverage(unreached: Iterable[tuple[str, str]]) -> None:
    missing = list(unreached)
    for rule, place in missing:
        click.echo(f"no case reaches {rule} ({place})")
    if not missing:
        click.echo("every rule is reached by some case")


def _record(result: ExampleResult) -> dict[str, Any]:
    decision = result.decision
    return {
        "file": result.file,
        "line": result.line,
        "title": result.title,
        "tool": result.tool,
        "passed": result.passed,
        "expected": str(result.expected),
        "verdict": None if decision is None else str(decision.verdict),
        "problems": [d.message for d in result.diagnostics if d.severity is Severity.ERROR],
    }


def _junit(results: tuple[ExampleResult, ...]) -> bytes:
    failures = sum(not result.passed for result in results)
    suite = ElementTree.Element(
        "testsuite", name="placet", tests=str(len(results)), failures=str(failures)
    )
    for result in results:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=result.file,
            name=f"{result.title} (line {result.line}, {result.tool})",
        )
        for problem in result.diagnostics:
            failure = ElementTree.SubElement(case, "failure", message=problem.message)
            failure.text = str(problem.span or result.file)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite)
