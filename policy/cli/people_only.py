"""Keeps what only people may do out of the hands of agents' commands."""

from __future__ import annotations

import os

from policy.cli.loading import stop
from policy.service import CALL_VARIABLE


def refuse_agents(what: str) -> None:
    """End the command where it was started by a tool call, and so by no person.

    This is the second of two locks. The first are the rules: no pattern with a `*` covers these
    commands, and what a call runs out of sight is for a sandbox to confine.
    """
    if CALL_VARIABLE in os.environ:
        stop(f"{what} is for people, and this command was started by a tool call")
