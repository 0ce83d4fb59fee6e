"""`placet explain`: one decision for people, clause by clause."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

import click

from policy.catalog import NAMES_ELSEWHERE, builtin_catalog
from policy.cli.calls import CallToDecide, NotACall
from policy.cli.decision_lines import ask, decision_record, lines_of, workspace_record
from policy.cli.explanation_text import explanation_text, workspace_text
from policy.cli.loading import (
    as_json,
    build_at,
    counted,
    exit_with,
    prefix,
    show_errors_in_short,
)
from policy.cli.options import (
    call_option,
    catalog_option,
    format_option,
    lexical_option,
    path_argument,
)
from policy.cli.sandbox_in_force import with_sandbox
from policy.cli.workspace import Workspace, with_workspace
from policy.daemon import AGENT_NAMES
from policy.decision import Explanation, ResourceUse, explain
from policy.generation import Built, Generation
from policy.values import Unreadable, read_json

_NO_RULES = "the policy has errors, so that no call can be decided by it"


@click.command("explain")
@path_argument
@click.argument("rest", nargs=-1, metavar="")
@catalog_option
@call_option
@lexical_option
@click.option(
    "--command", "script", metavar="TEXT", help="A shell command, as the input of bash_exec."
)
@click.option("--tool", help="The tool to call, instead of a call as JSON.")
@click.option("--input", "input_text", help="Its input, as JSON.  [default: {}]")
@click.option(
    "--hook",
    type=click.Choice(AGENT_NAMES),
    help="Explain what the hook of this coding agent answers; the call is one of the agent's own.",
)
@click.option("--agent", help="The agent that calls; with --tool or --command.  [default: default]")
@click.option("--role", help="Its session's role; with --tool or --command.  [default: owner]")
@click.option(
    "--workspace",
    type=click.Path(file_okay=False),
    help="The workspace of the call; with --tool or --command.  "
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
    rest: tuple[str, ...],
    catalog_file: Path | None,
    call_file: BinaryIO | None,
    lexical: bool,
    script: str | None,
    tool: str | None,
    input_text: str | None,
    hook: str | None,
    agent: str | None,
    role: str | None,
    workspace: str | None,
    every: bool,
    format: str,
) -> None:
    """Explain the decision of the policy at PATH on one call, rule by rule and clause by clause.

    The call is given by --command, by --tool and --input, or as JSON in the format of `placet
    decide`, from a file or standard input. A policy whose tests fail is explained too, on standard
    error and with exit status 1: it is not in force.

    With --hook the call is one of that agent's own tools, or the very input of its hook, and is
    judged as the hook judges it.

    \b
    Examples:
      placet explain rules/ --command 'git push --force'
      placet explain rules/ --tool bash_exec --input '{"command": "git status"}'
      placet explain rules/ --call call.json --format json
      placet explain rules/ --hook claude-code --command 'git checkout main'
      placet explain rules/ --hook claude-code < input.json
    """
    if rest:
        raise click.UsageError(_as_option(path, rest))
    _refuse_two_calls(script=script, tool=tool, input=input_text, call=call_file)
    if hook is not None:
        # It imports the whole service, a quarter of all that this command imports.
        from policy.cli.explain_hook import explain_hook, hook_input

        _refuse_beside_a_hook(agent=agent, role=role, catalog=catalog_file, lexical=lexical or None)
        if script is None and tool is None:
            text = _given(call_file, whole=True).decode("utf-8", "surrogateescape")
        else:
            text = hook_input(hook, script=script, tool=tool, input=input_text)
        if not explain_hook(hook, text, path, workspace=workspace, every=every, format=format):
            show_errors_in_short(build_at(path, None), path, note=_NO_RULES)
        return
    if script is not None:
        tool, input_text = "bash_exec", json.dumps({"command": script})
    if tool is None:
        _refuse_unused(agent=agent, role=role, workspace=workspace)
        line = _given(call_file)
    else:
        line = _line(
            tool,
            "{}" if input_text is None else input_text,
            agent=agent,
            role=role,
            workspace=workspace,
        )
    asked = ask(line, lexical=lexical)
    if isinstance(asked, NotACall):
        exit_with(f"not a call: {asked.message}")
    built = build_at(path, catalog_file)
    generation = built.generation or built.failing
    if generation is None:
        show_errors_in_short(built, path, note=_NO_RULES)
    facts, where = with_workspace(asked.facts, generation)
    facts = with_sandbox(facts, generation, asked.tool)
    explanation = _explained(generation, replace(asked, facts=facts))
    is_in_force = built.generation is not None
    if format == "json" and is_in_force:
        click.echo(as_json(_record(asked, explanation, where)))
        return
    shown = explanation_text(
        explanation, tool=asked.tool, input=asked.input, root=prefix(path), every=every
    )
    # What is not in force is no result: a program that reads the output must find nothing there.
    click.echo(shown, err=not is_in_force)
    click.echo(workspace_text(where), err=not is_in_force)
    if generation.catalog.get(explanation.decision.call.tool) is None:
        click.echo(f"placet: {_about_unknown(asked.tool)}", err=True)
    if not is_in_force:
        click.echo(err=True)
        show_errors_in_short(built, path, note=_not_in_force(built))


def _about_unknown(tool: str) -> str:
    """Return how a tool gets known, whose calls are denied because it is not."""
    here = NAMES_ELSEWHERE.get(tool)
    if here is not None:
        return f"here that tool is `{here}`; --hook explains calls of an agent's own tools"
    return (
        "calls of tools that are not in the catalogue are denied: list the tool with `--catalog` "
        "or `[catalogue]`; `placet catalog export MODULE:OBJECT` writes a list of your own tools"
    )


def _as_option(path: Path, rest: tuple[str, ...]) -> str:
    """Return how a call is given, to somebody who gave a command or a tool as an operand."""
    call = (
        f"--tool {rest[0]} --input '{{…}}'"
        if builtin_catalog().get(rest[0]) is not None
        else f"--command {shlex.quote(' '.join(rest))}"
    )
    return f"the call is an option: placet explain {shlex.quote(str(path))} {call}"


def _refuse_two_calls(
    *, script: str | None, tool: str | None, input: str | None, call: BinaryIO | None
) -> None:
    if script is not None and (tool is not None or input is not None):
        raise click.UsageError("--command is the whole call: leave out --tool and --input.")
    if call is not None and (script is not None or tool is not None):
        raise click.UsageError("give one call: --call, --command, or --tool with --input.")
    if input is not None and tool is None:
        raise click.UsageError("--input needs --tool.")


def _refuse_beside_a_hook(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"--{name} is not for --hook: the hook decides it.")


def _refuse_unused(**options: str | None) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(
                f"--{name} needs --tool or --command: a call as JSON has its own."
            )


def _not_in_force(built: Built) -> str:
    failed = sum(not result.passed for result in built.examples)
    fail = "fails" if failed == 1 else "fail"
    return f"this policy is not in force, because {counted(failed, 'test case')} {fail}"


def _given(call_file: BinaryIO | None, *, whole: bool = False) -> bytes:
    """Return the first line of a call's file or of standard input, or the `whole` of it."""
    waits = call_file is None and sys.stdin is not None and sys.stdin.isatty()
    lines = iter(()) if waits else lines_of(call_file)
    line = (b"".join(lines) or None) if whole else next(lines, None)
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
