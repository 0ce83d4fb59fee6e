"""Decides scripts under a deny of `touch`, for laws about text in which one is hidden."""

from __future__ import annotations

from policy.decision import Decision
from policy.model import Facts, Resolvers
from tests.corpora.judging import generation

_DENIES = """\
policy for every agent

default allow
no-touch: deny * when runs "touch *"
"""
_FACTS = Facts(
    cwd="/workspace",
    workspace="/workspace",
    home="/home/user",
    resolvers=Resolvers(path=lambda path: path),
)


def decided(script: str) -> Decision:
    """Return what is decided of a script that may run anything but `touch`."""
    return generation(_DENIES).answer("bash_exec", {"command": script}, facts=_FACTS).decision
