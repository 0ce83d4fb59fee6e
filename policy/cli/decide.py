"""`placet decide`: calls as JSON lines in, one decision a line out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import click

from policy.call import thaw
from policy.cli.calls import AskedCall, NoCall, read_call
from policy.cli.links import follow_links
from policy.cli.loading import (
    WRONG_USAGE,
    as_json,
    catalog_option,
    generation_at,
    path_argument,
)
from policy.decision import Decision, Reason
from policy.reload import Generation

call_option = click.option(
    "--call",
    "call_file",
    type=click.File("rb"),
    help="Read calls from this file instead of standard input.",
)
lexical_option = click.option(
    "--lexical", is_flag=True, help="Judge paths as spelled; follow no symbolic links of this disk."
)


@click.command("decide")
@path_argument
@catalog_option
@call_option
@lexical_option
def command(
    path: Path, *, catalog_file: Path | None, call_file: BinaryIO | None, lexical: bool
) -> None:
    """Decide calls by the policy at PATH: JSON lines in, one decision a line out.

    A line that is no call is answered with an error and never with a verdict; the exit status is
    then 2. Workspace and home come from the configuration where the line has none.

    \b
    Example:
      echo '{"tool": "file_read", "input": {"path": "/etc/passwd"}}' | placet decide rules/
    """
    generation = generation_at(path, catalog_file)
    wrong = 0
    for line in lines_of(call_file):
        asked = ask(line, generation, lexical=lexical)
        if isinstance(asked, NoCall):
            wrong += 1
            click.echo(as_json(asked.as_json()))
            continue
        answer = generation.answer(asked.tool, asked.input, caller=asked.caller, facts=asked.facts)
        click.echo(as_json(decision_record(asked.id, answer.decision)))
    if wrong:
        raise SystemExit(WRONG_USAGE)


def lines_of(call_file: BinaryIO | None) -> Iterator[bytes]:
    """Yield the lines that are not blank."""
    stream = call_file or sys.stdin.buffer
    for line in stream:
        if line.strip():
            yield line


def ask(line: bytes, generation: Generation, *, lexical: bool) -> AskedCall | NoCall:
    """Read one line as a call by the generation's configuration."""
    return read_call(
        line,
        settings=generation.settings,
        links=None if lexical else follow_links,
    )


def decision_record(id: object, decision: Decision) -> dict[str, Any]:
    """Return a decision as the line that programs read."""
    generation = decision.generation
    record: dict[str, Any] = {
        "id": id,
        "verdict": str(decision.verdict),
        "input": thaw(decision.call.input),
        "rewritten": decision.rewritten,
        "reasons": [reason_record(reason) for reason in decision.reasons],
        "generation": None if generation is None else asdict(generation),
    }
    if decision.repairs:
        record["repairs"] = list(decision.repairs)
    if decision.shadowed:
        record["shadowed"] = [reason_record(reason) for reason in decision.shadowed]
    return record


def reason_record(reason: Reason) -> dict[str, Any]:
    """Return a reason as programs read it; `undecided` stands only where it says something."""
    record: dict[str, Any] = {
        "rule": reason.rule,
        "verdict": str(reason.verdict),
        "layer": reason.layer,
        "file": reason.file,
        "line": reason.line,
        "clause": reason.clause,
        "message": reason.message,
    }
    if reason.undecided is not None:
        record["undecided"] = reason.undecided
    return record
