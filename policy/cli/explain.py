"""`placet explain`: one decision for people, clause by clause."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

import click

from policy.cli.calls import CallToDecide, NotACall
from policy.cli.decision_lines import ask, decision_record, lines_of, workspace_record
from policy.cli.explanation_text import explanation_text, workspace_text
from policy.cli.loading import as_json, exit_with, generation_at, prefix
from policy.cli.options import (
    call_option,
    catalog_option,
    format_option,
    lexical_option,
    path_argument,
)
from policy.cli.workspace import Workspace, with_workspace
from policy.decision import Explanation, ResourceUse, explain
from policy.generation import Generation
from policy.values import Unreadable, read_json


@click.command("explain")
@path_argument
@catalog_option
@call_option
@lexical_option
@click.option("--tool", help="The tool to call, instead of a call as JSON.")
@click.option(
    "--input",
    "input_text",
    default="{}",
    show_default=True,
    help="Its input, as JSON.",
)
@click.option("--agent", help="The agent that calls; with --tool.  [default: default]")
@click.option("--role", help="Its session's role; with --tool.  [default: owner]")
@click.option(
    "--workspace",
    type=click.Path(file_okay=False),
    help="The workspace of the call; with --tool.  "
    "[default: as configured, else the current folder]",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="In text, list the rules of shipped packs that do not match too, and all parts.",
)
@format_option
def command(
    path: Path,
    *,
    catalog_file: Path | None,
    call_file: BinaryIO | None,
    lexical: bool,
    tool: str | None,
    input_text: str,
    agent: str | None,
    role: str | None,
    workspace: str | None,
    every: bool,
    format: str,
) -> None:
    """Explain the decision of the policy at PATH on one call, rule by rule and clause by clause.

    The call is given by --tool and --input, or as JSON in the format of `placet decide`, from a
    file or standard input.

    \b
    Examples:
      placet explain rules/ --tool bash_exec --input '{"command": "git status"}'
      placet explain rules/ --call call.json --format json
    """
    if tool is None:
        line = _given(call_file)
    else:
        line = _line(tool, input_text, agent=agent, role=role, workspace=workspace)
    asked = ask(line, lexical=lexical)
    if isinstance(asked, NotACall):
        exit_with(f"not a call: {asked.message}")
    generation = generation_at(path, catalog_file)
    facts, where = with_workspace(asked.facts, generation)
    explanation = _explained(generation, replace(asked, facts=facts))
    if format == "json":
        click.echo(as_json(_record(asked, explanation, where)))
        return
    shown = explanation_text(
        explanation, tool=asked.tool, input=asked.input, root=prefix(path), every=every
    )
    click.echo(shown)
    click.echo(workspace_text(where))


def _given(call_file: BinaryIO | None) -> bytes:
    waits = call_file is None and sys.stdin is not None and sys.stdin.isatty()
    line = None if waits else next(lines_of(call_file), None)
    if line is None:
        exit_with("there is no call to explain: give --tool, --call or a line on standard input")
    return line


def _line(
    tool: str, input_text: str, *, agent: str | None, role: str | None, workspace: str | None
) -> bytes:
    input = read_json(input_text)
    if isinstance(input, Unreadable):
        exit_with(f"--input cannot be read: {input.reason}")
    caller = {"agent": agent, "role": role}
    rest = {
        "tool": tool,
        "workspace": None if workspace is None else os.path.abspath(workspace),
        "caller": {name: value for name, value in caller.items() if value is not None},
    }
    # The input is inserted as it was written: its numbers must not change.
    return f'{{"input": {input_text}, {json.dumps(rest)[1:]}'.encode()


def _explained(generation: Generation, asked: CallToDecide) -> Explanation:
    facts = generation.complete(asked.facts)
    answer = generation.answer(asked.tool, asked.input, caller=asked.caller, facts=facts)
    return explain(generation.program, answer.decision, caller=asked.caller, facts=facts)


def _record(
    asked: CallToDecide, explanation: Explanation, where: Workspace | None
) -> dict[str, Any]:
    return {
        **decision_record(asked.id, explanation.decision),
        **workspace_record(where),
        "resources": [_resource(use) for use in explanation.resources],
        "layers": [asdict(layer) for layer in explanation.layers],
        "needed": list(explanation.needed),
    }


def _resource(use: ResourceUse) -> dict[str, Any]:
    """Return one resource as JSON, without empty fields."""
    return {name: said for name, said in asdict(use).items() if said}
