"""`placet decide`: one decision for each line of JSON."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click

from policy.cli.decision_lines import decide_lines
from policy.cli.options import (
    cache_option,
    call_option,
    catalog_option,
    lexical_option,
    path_argument,
)


@click.command("decide")
@path_argument
@catalog_option
@call_option
@lexical_option
@cache_option
def command(
    path: Path,
    *,
    catalog_file: Path | None,
    call_file: BinaryIO | None,
    lexical: bool,
) -> None:
    """Decide calls by the policy at PATH: JSON lines in, one decision a line out.

    A line that is not a call is answered with an error, never with a verdict; the exit status is
    then 2. Workspace and home come from the configuration unless the line contains them. If the
    policy is invalid, no call is decided and the exit status is 1.

    \b
    Examples:
      echo '{"tool": "file_read", "input": {"path": "/etc/passwd"}}' | placet decide rules/
    """
    decide_lines(path, catalog_file=catalog_file, call_file=call_file, lexical=lexical)
