"""`placet explain`: one decision for people, clause by clause."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import click

from policy.cli.calls import AskedCall, NoCall
from policy.cli.decide import (
    ask,
    call_option,
    decision_record,
    lexical_option,
    lines_of,
)
from policy.cli.loading import as_json, catalog_option, generation_at, path_argument, stop
from policy.decision import (
    ClauseOutcome,
    Explanation,
    LayerOutcome,
    Reason,
    RuleOutcome,
    explain,
)
from policy.reload import Generation
from policy.values import escape_for_people
from policy.verdict import Verdict

_COLORS = {Verdict.ALLOW: "green", Verdict.ASK: "yellow", Verdict.DENY: "red"}
_MARKS = {"holds": "✓", "fails": "✗", "undecided": "?"}
_LONGEST_INPUT = 2000


@click.command("explain")
@path_argument
@catalog_option
@call_option
@lexical_option
@click.option("--tool", help="The tool to ask about, instead of a call as JSON.")
@click.option("--input", "input_text", default="{}", help="Its input, as JSON.  [default: {}]")
@click.option("--agent", default="default", help="The agent that calls.  [default: default]")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    path: Path,
    *,
    catalog_file: Path | None,
    call_file: BinaryIO | None,
    lexical: bool,
    tool: str | None,
    input_text: str,
    agent: str,
    format: str,
) -> None:
    """Explain what the policy at PATH says of one call: which rules, which clauses, why not others.

    \b
    Examples:
      placet explain rules/ --tool bash_exec --input '{"command": "git status"}'
      placet explain rules/ --call call.json --format json
    """
    generation = generation_at(path, catalog_file)
    line = _line(tool, input_text, agent) if tool else next(lines_of(call_file), None)
    if line is None:
        stop("there is no call to explain: give --tool, --call or a line on standard input")
    asked = ask(line, generation, lexical=lexical)
    if isinstance(asked, NoCall):
        stop(f"this is no call: {asked.message}")
    told = _explained(generation, asked)
    if format == "json":
        click.echo(as_json(_record(asked, told)))
    else:
        click.echo("\n".join(_lines(told, generation)))


def _line(tool: str, input_text: str, agent: str) -> bytes:
    caller = json.dumps({"agent": agent})
    return f'{{"tool": {json.dumps(tool)}, "input": {input_text}, "caller": {caller}}}'.encode()


def _explained(generation: Generation, asked: AskedCall) -> Explanation:
    answer = generation.answer(asked.tool, asked.input, caller=asked.caller, facts=asked.facts)
    return explain(generation.program, answer.decision, caller=asked.caller, facts=asked.facts)


def _record(asked: AskedCall, told: Explanation) -> dict[str, Any]:
    return {
        **decision_record(asked.id, told.decision),
        "resources": [{"verb": verb, "resource": shown} for verb, shown in told.resources],
        "layers": [asdict(layer) for layer in told.layers],
        "needed": list(told.needed),
    }


# ------------------------------------------------------------------ text


def _lines(told: Explanation, generation: Generation) -> list[str]:
    decision = told.decision
    verdict = click.style(str(decision.verdict), fg=_COLORS[decision.verdict], bold=True)
    lines = [f"{verdict}  {decision.call.tool} {_shown(decision.call.input)}"]
    if decision.rewritten:
        lines.append(f"  rewritten from {_shown(decision.asked.input)}")
    lines += [f"  repaired: {repair}" for repair in decision.repairs]
    lines += ["", "because"]
    lines += [f"  {_reason(reason)}" for reason in decision.deciding]
    lines += _resources(told)
    for layer in told.layers:
        lines += ["", f"the layer for {layer.layer}, asked for agent {layer.agent}"]
        lines += _layer(layer)
    if told.needed:
        lines += ["", "what would change it"]
        lines += [f"  {needed}" for needed in told.needed]
    lines += ["", f"decided by generation {generation.id.number}, {generation.id.digest}"]
    return lines


def _shown(input: Any) -> str:
    from policy.call import thaw

    text = json.dumps(thaw(input), ensure_ascii=False, default=str)
    return escape_for_people(text, _LONGEST_INPUT)


def _reason(reason: Reason) -> str:
    place = f" ({reason.file}:{reason.line})" if reason.file else ""
    text = f"{reason.verdict} by {reason.rule}{place}"
    if reason.clause:
        text += f": {reason.clause}"
    if reason.undecided:
        text += f": could not be decided, {reason.undecided}"
    return f"{text}: {reason.message}" if reason.message else text


def _resources(told: Explanation) -> list[str]:
    if not told.resources:
        return []
    seen = [f"  {verb} {escape_for_people(shown, 200)}" for verb, shown in told.resources]
    return ["", "the call", *seen]


def _layer(layer: LayerOutcome) -> list[str]:
    lines: list[str] = []
    for rule in layer.rules:
        lines += _rule(rule)
    if layer.default is not None:
        counts = "counts" if layer.default_counts else "gives way to a matching allow"
        lines.append(f"  {layer.default.clause}: {counts}")
    return lines or ["  has nothing to say about this tool"]


def _rule(rule: RuleOutcome) -> list[str]:
    reason = rule.reason
    counts = "matches" if rule.counts else "does not match"
    head = f"  {rule.kind} {reason.rule} ({reason.file}:{reason.line}): {counts}"
    if rule.outcome == "undecided" and rule.why:
        head += f", undecided: {rule.why}"
    return [head, *(_clause(clause) for clause in rule.clauses)]


def _clause(clause: ClauseOutcome) -> str:
    why = f"  ({clause.why})" if clause.why else ""
    return f"    {_MARKS[clause.outcome]} {clause.keyword} {clause.text}{why}"
