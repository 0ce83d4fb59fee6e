"""What `--approve` and `--approve-script` say in, the approver that answers questions out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, TypeAlias

import click

from policy.cli.loading import stop
from policy.service import (
    ApprovalOutcome,
    Approved,
    Approver,
    Denied,
    ScriptedApprover,
    TerminalApprover,
)

Asked: TypeAlias = Literal["deny", "terminal"]


def approver_for(asked: Asked, script: Path | None) -> Approver | None:
    """Return the approver; None where every ask is denied."""
    if script is not None:
        return ScriptedApprover(*scripted_answers(script))
    if asked == "terminal":
        return TerminalApprover(
            read=sys.stdin.readline, write=lambda text: click.echo(text, err=True, nl=False)
        )
    return None


def scripted_answers(script: Path) -> tuple[ApprovalOutcome, ...]:
    """Return the answers of a script: `yes`, `no` or `no: a reason` a line, `#` comments."""
    try:
        lines = script.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        stop(f"{script} cannot be read: {error}")
    found: list[ApprovalOutcome] = []
    for number, line in enumerate(lines, 1):
        word, _, reason = line.partition("#")[0].strip().partition(":")
        match word.strip().lower():
            case "":
                continue
            case "yes" if not reason:
                found.append(Approved(by="script"))
            case "no":
                found.append(Denied(by="script", reason=reason.strip() or None))
            case _:
                stop(f"{script}:{number}: an answer is `yes`, `no` or `no: a reason`")
    return tuple(found)
