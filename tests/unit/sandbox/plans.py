"""A plan that was made by nobody: its paths need not exist."""

from __future__ import annotations

from policy.generation import ProcessLimits
from policy.sandbox import SandboxPlan

PLAN = SandboxPlan(
    reads=("/srv/data",),
    writes=("/work",),
    kept=("/work/.git/hooks",),
    immovable=("/work/.git",),
    unkept=(),
    folder="/work",
    home="/home/ann",
    network="none",
    limits=ProcessLimits(),
)
