"""`placet test`: runs the tests in the rule files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from policy.cli.loading import (
    WRONG_POLICY,
    as_json,
    build_at,
    counted,
    exit_code,
    exit_with,
    prefix,
    show,
)
from policy.cli.notes import NO_TESTS
from policy.cli.options import catalog_option, path_argument
from policy.cli.watch import run_at_changes, watch_option
from policy.diagnostics import Diagnostic, Severity, display_name, visible
from policy.generation import Built, shipped_packs
from policy.verify import ExampleResult, unreached_rules


@click.command("test")
@path_argument
@catalog_option
@click.option("--coverage", is_flag=True, help="Also list the rules that no test case reaches.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option(
    "--format",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="text for people, json for programs, junit for build servers.",
)
@watch_option
def command(
    path: Path,
    *,
    catalog_file: Path | None,
    coverage: bool,
    junit: Path | None,
    format: str,
    watch: bool,
) -> None:
    """Run the tests written in the rule files at PATH.

    The tests run only if the policy has no other errors; `placet check` shows those.

    \b
    Examples:
      placet test rules/
      placet test rules/ --coverage --junit report.xml
      placet test rules/ --watch
    """
    run = partial(_test, path, catalog_file, coverage=coverage, junit=junit, format=format)
    if not watch:
        run()
        return
    if format != "text":
        raise click.UsageError("--watch shows text only.")
    run_at_changes(path, run)


def _test(
    path: Path, catalog_file: Path | None, *, coverage: bool, junit: Path | None, format: str
) -> None:
    built = build_at(path, catalog_file)
    results = built.examples
    untested = built.generation is None and all(result.passed for result in results)
    report = _junit(results, _errors(built.diagnostics) if untested else ())
    if junit is not None:
        _write(junit, report)
    if format == "junit":
        click.echo(report)
    if untested:
        click.echo(show(built, path), err=True)
        raise SystemExit(exit_code(built.diagnostics))
    unreached = _unreached(built) if coverage else None
    if format == "json":
        record: dict[str, Any] = {"cases": [_record(result) for result in results]}
        if coverage:
            record["unreached"] = unreached
        click.echo(as_json(record))
    elif format == "text":
        _print(built, results, path=path)
        if coverage:
            _print_coverage(unreached, before=prefix(path))
    if not all(result.passed for result in results):
        raise SystemExit(WRONG_POLICY)


def _errors(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(found for found in diagnostics if found.severity is Severity.ERROR)


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        exit_with(f"{file} cannot be written: {error.strerror or error}")


def _print(built: Built, results: tuple[ExampleResult, ...], *, path: Path) -> None:
    failed = [problem for result in results for problem in result.diagnostics]
    if failed:
        click.echo(show(built, path, diagnostics=tuple(failed)))
    failing = sum(not result.passed for result in results)
    untested = sum(result.passed and not result.tested for result in results)
    more = f", {untested} not tested" if untested else ""
    click.echo(f"{len(results) - failing - untested} passed, {failing} failed{more}")
    if not results:
        click.echo(NO_TESTS, err=True)


def _unreached(built: Built) -> list[dict[str, str]] | None:
    """Return the rules that no case reached; None if failing tests leave no program.

    Packs that ship with Placet are tested where they are made.
    """
    if built.generation is None:
        return None
    program, shipped = built.generation.program, shipped_packs()
    found = unreached_rules(program, built.examples, without=shipped)
    return [{"rule": rule, "place": place} for rule, place in found]


def _print_coverage(unreached: list[dict[str, str]] | None, *, before: str) -> None:
    if unreached is None:
        click.echo("coverage is available once all tests pass")
        return
    for rule in unreached:
        place = display_name(rule["place"], root=before)
        click.echo(f"no case reaches {rule['rule']} ({visible(place)})")
    if not unreached:
        click.echo("every rule is reached by a case")
    else:
        click.echo(f"{counted(len(unreached), 'rule')} not reached")


def _record(result: ExampleResult) -> dict[str, Any]:
    decision = result.decision
    return {
        "file": result.file,
        "line": result.line,
        "title": result.title,
        "tool": result.tool,
        "passed": result.passed and result.tested,
        "tested": result.tested,
        "expected": str(result.expected),
        "verdict": None if decision is None else str(decision.verdict),
        "problems": [problem.message for problem in _errors(result.diagnostics)],
    }


def _junit(results: tuple[ExampleResult, ...], wrong: tuple[Diagnostic, ...]) -> bytes:
    """Return a report of the cases, or of the errors that kept them from running."""
    suite = ElementTree.Element(
        "testsuite",
        name="placet",
        tests=str(len(results) + len(wrong)),
        failures=str(sum(not result.passed for result in results)),
        errors=str(len(wrong)),
    )
    for result in results:
        case = _case(suite, result.file, f"{result.title} (line {result.line}, {result.tool})")
        for problem in _errors(result.diagnostics):
            _problem(case, "failure", problem, file=result.file)
        if result.passed and not result.tested:
            ElementTree.SubElement(case, "skipped")
    for problem in wrong:
        _problem(_case(suite, problem.file or "policy", problem.code), "error", problem, file="")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite) + b"\n"


def _case(suite: ElementTree.Element, file: str, name: str) -> ElementTree.Element:
    # XML cannot represent most control characters, so they are shown escaped.
    return ElementTree.SubElement(
        suite, "testcase", classname=visible(file), name=visible(name, 500)
    )


def _problem(case: ElementTree.Element, kind: str, problem: Diagnostic, *, file: str) -> None:
    found = ElementTree.SubElement(
        case, kind, message=visible(problem.message, 1000), type=problem.code
    )
    said = (str(problem.span or file), problem.label, problem.help)
    found.text = "\n".join(visible(text, 1000) for text in said if text)
