"""Programs that Placet starts: none outlives it, and those that fail are not started in a loop."""

from policy.processes.child_process import ChildProcess, named_environment
from policy.processes.demand_pool import DemandPool
from policy.processes.isolation import interpreter_of, isolated
from policy.processes.kept_output import KeptOutput
from policy.processes.launcher import (
    Beside,
    LaunchedProgram,
    Launcher,
    ProgramToStart,
    SupervisedLauncher,
    require_program,
)
from policy.processes.on_demand import Lost, OnDemand, Open, RestartLimits, Unavailable
from policy.processes.output_lines import LineTooLong, lines

__all__ = [
    "Beside",
    "ChildProcess",
    "DemandPool",
    "KeptOutput",
    "LaunchedProgram",
    "Launcher",
    "LineTooLong",
    "Lost",
    "OnDemand",
    "Open",
    "ProgramToStart",
    "RestartLimits",
    "SupervisedLauncher",
    "Unavailable",
    "interpreter_of",
    "isolated",
    "lines",
    "named_environment",
    "require_program",
]
