"""`placet explain --hook AGENT`: what a hook answers to a call of a coding agent, and why.

The call is judged as the hook judges it: with the agent's tools mapped to ours, its folders, and
the floor around its settings. Nothing is recorded, and no resident process is asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from policy.cli.decision_lines import decision_record
from policy.cli.explanation_text import explanation_text
from policy.cli.loading import as_json, exit_with, prefix
from policy.daemon import (
    PROJECT_VARIABLES,
    SETTINGS_VARIABLES,
    judged_unrecorded,
    leads_elsewhere,
)
from policy.decision import Explanation, explain
from policy.diagnostics import visible
from policy.generation import Generation
from policy.model import Caller
from policy.service import Judgement
from policy.values import Unreadable, read_json, read_plain_json

_SHELLS = {"gemini-cli": "run_shell_command"}
_EVENTS = {"gemini-cli": "BeforeTool"}
_LONGEST = 1000


def hook_input(agent: str, *, script: str | None, tool: str | None, input: str | None) -> str:
    """Return what the agent writes to its hook for a command, or for a call of its own tool."""
    if script is not None:
        tool, input = _SHELLS.get(agent, "Bash"), json.dumps({"command": script})
    given = "{}" if input is None else input
    read = read_json(given)
    if isinstance(read, Unreadable):
        exit_with(f"--input cannot be read: {read.reason}")
    event = _EVENTS.get(agent, "PreToolUse")
    rest = {"hook_event_name": event, "tool_name": tool, "cwd": os.getcwd()}
    # The input is inserted as it was written: its numbers must not change.
    return f'{{"tool_input": {given}, {json.dumps(rest)[1:]}'


def explain_hook(
    agent: str, text: str, path: Path, *, workspace: str | None, every: bool, format: str
) -> bool:
    """Print what the hook of an agent answers to its input, and the explanation of each call.

    Returns whether the policy is without errors; otherwise there is nothing to print.
    """
    project = os.environ.get(PROJECT_VARIABLES.get(agent, "")) or _folder_of(text)
    settings = os.environ.get(SETTINGS_VARIABLES.get(agent, "")) or None
    found = judged_unrecorded(
        {
            "agent": agent,
            "policy": os.path.abspath(path),
            "cwd": project,
            "home": os.path.expanduser("~"),
            "input": text,
            "workspace": None if workspace is None else os.path.abspath(workspace),
            "project": os.path.abspath(project),
            "settings_folder": None if settings is None else os.path.abspath(settings),
            "caller": None,
            "audit": None,
            "denies_asks": False,
            "git_elsewhere": leads_elsewhere(os.environ),
        }
    )
    if found is None:
        return False
    arrived, outcome = found
    told = [(each, _explanation(each, arrived.caller)) for each in outcome.judged]
    if format == "json":
        record = {
            "agent": agent,
            "tool": arrived.tool,
            "project": project,
            "verdict": outcome.verdict.value,
            "message": outcome.why,
            "calls": [_record(*each) for each in told],
        }
        click.echo(as_json(record))
        return True
    click.echo(f"{agent} calls {visible(arrived.tool, _LONGEST) or 'a tool'} in {project}")
    click.echo(f"its hook answers {outcome.verdict.value}", nl=False)
    click.echo(f": {visible(outcome.why, _LONGEST)}" if outcome.why else "")
    for judgement, explanation in told:
        click.echo()
        for line in _lines(judgement, explanation, root=prefix(path), every=every):
            click.echo(line)
    return True


def _folder_of(text: str) -> str:
    """Return the working directory in a hook's input, the folder of this process if there is none.

    The agent is taken to have been started there.
    """
    read = read_plain_json(text)
    folder = read.get("cwd") if isinstance(read, dict) else None
    return folder if isinstance(folder, str) and os.path.isabs(folder) else os.getcwd()


def _explanation(judgement: Judgement, caller: Caller) -> Explanation | None:
    """Return the explanation of a judgement by the policy; None where something else judged."""
    judge = judgement.judge
    if not isinstance(judge, Generation):
        return None
    return explain(judge.program, judgement.decision, caller=caller, facts=judgement.facts)


def _lines(
    judgement: Judgement, explanation: Explanation | None, *, root: str, every: bool
) -> Iterator[str]:
    asked = judgement.decision.asked
    if explanation is None:
        yield f"{judgement.decision.verdict.value}  {asked.tool}"
        if judgement.error is not None:
            yield f"  {visible(judgement.error.message, _LONGEST)}"
        return
    yield explanation_text(explanation, tool=asked.tool, input=asked.input, root=root, every=every)


def _record(judgement: Judgement, explanation: Explanation | None) -> dict[str, Any]:
    decision = judgement.decision
    needed = [] if explanation is None else list(explanation.needed)
    return {**decision_record(None, decision), "needed": needed}
