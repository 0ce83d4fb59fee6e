"""Programs that Placet starts: none outlives it, and those that fail are not started in a loop."""

from policy.processes.child_process import ChildProcess, named_environment
from policy.processes.kept_output import KeptOutput
from policy.processes.launcher import LaunchedProgram, Launcher, ProgramToStart, SupervisedLauncher
from policy.processes.on_demand import Lost, OnDemand, Open, RestartLimits, Unavailable

__all__ = [
    "ChildProcess",
    "KeptOutput",
    "LaunchedProgram",
    "Launcher",
    "Lost",
    "OnDemand",
    "Open",
    "ProgramToStart",
    "RestartLimits",
    "SupervisedLauncher",
    "Unavailable",
    "named_environment",
]
