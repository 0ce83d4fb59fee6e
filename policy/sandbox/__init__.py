"""What programs that Placet starts may touch: plans, and the drivers that enforce them."""

from policy.sandbox.bubblewrap import Bubblewrap
from policy.sandbox.choosing import driver_named
from policy.sandbox.control_groups import counts_processes, weak_limit
from policy.sandbox.driver import ConfinedStart, SandboxDriver
from policy.sandbox.escapes import NotTried, escapes
from policy.sandbox.launcher import ConfinedLauncher, SandboxMissing
from policy.sandbox.plan import CannotConfine, SandboxPlan, plan_of, protected_paths

__all__ = [
    "Bubblewrap",
    "CannotConfine",
    "ConfinedLauncher",
    "ConfinedStart",
    "NotTried",
    "SandboxDriver",
    "SandboxMissing",
    "SandboxPlan",
    "counts_processes",
    "driver_named",
    "escapes",
    "plan_of",
    "protected_paths",
    "weak_limit",
]
