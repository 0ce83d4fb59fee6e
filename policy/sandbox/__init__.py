"""What programs that Placet starts may touch: plans, and the drivers that enforce them."""

from policy.sandbox.bubblewrap import Bubblewrap
from policy.sandbox.choosing import driver_named, name_in_use
from policy.sandbox.confined_program import ConfinedProgram, refused_connections
from policy.sandbox.containment import is_within
from policy.sandbox.control_groups import counts_processes, weak_limit
from policy.sandbox.denials import Denied, SandboxDenial, denial_of
from policy.sandbox.docker import docker_command, single_files
from policy.sandbox.driver import ConfinedStart, SandboxDriver
from policy.sandbox.escapes import NOT_TRIED, NotTried, escapes
from policy.sandbox.fixes import WAYS, WAYS_ON, fix_for
from policy.sandbox.kept_names import said_of_made
from policy.sandbox.launcher import (
    ConfinedLauncher,
    SandboxDenied,
    SandboxMissing,
    SandboxTooWide,
)
from policy.sandbox.network.connecting import (
    Connect,
    NotPermitted,
    NotReached,
    Peer,
    RefusedConnection,
)
from policy.sandbox.network.environment import note_of_own_address, proxy_environment
from policy.sandbox.network.http_request import HttpAnswer, HttpRequest, NoAnswer, answer_to
from policy.sandbox.network.listed_hosts import HostList, ListedHosts
from policy.sandbox.network.opening import Dial, dial, is_public, open_one
from policy.sandbox.network.target import Target, read_target
from policy.sandbox.path_resolver import led_elsewhere, writable_folders
from policy.sandbox.plan import CannotConfine, SandboxPlan, plan_of
from policy.sandbox.plan_bounds import exceeded_verb
from policy.sandbox.private_folders import problem_of_workspace
from policy.sandbox.protected_paths import ProtectedPaths, protected_paths
from policy.sandbox.seatbelt import seatbelt_command
from policy.sandbox.system_files import SYSTEM
from policy.sandbox.tier import tier_of, unenforced

__all__ = [
    "NOT_TRIED",
    "SYSTEM",
    "WAYS",
    "WAYS_ON",
    "Bubblewrap",
    "CannotConfine",
    "ConfinedLauncher",
    "ConfinedProgram",
    "ConfinedStart",
    "Connect",
    "Denied",
    "Dial",
    "HostList",
    "HttpAnswer",
    "HttpRequest",
    "ListedHosts",
    "NoAnswer",
    "NotPermitted",
    "NotReached",
    "NotTried",
    "Peer",
    "ProtectedPaths",
    "RefusedConnection",
    "SandboxDenial",
    "SandboxDenied",
    "SandboxDriver",
    "SandboxMissing",
    "SandboxPlan",
    "SandboxTooWide",
    "Target",
    "answer_to",
    "counts_processes",
    "denial_of",
    "dial",
    "docker_command",
    "driver_named",
    "escapes",
    "exceeded_verb",
    "fix_for",
    "is_public",
    "is_within",
    "led_elsewhere",
    "name_in_use",
    "note_of_own_address",
    "open_one",
    "plan_of",
    "problem_of_workspace",
    "protected_paths",
    "proxy_environment",
    "read_target",
    "refused_connections",
    "said_of_made",
    "seatbelt_command",
    "single_files",
    "tier_of",
    "unenforced",
    "weak_limit",
    "writable_folders",
]
