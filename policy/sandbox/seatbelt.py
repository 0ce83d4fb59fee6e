"""A plan as a profile of Seatbelt, the sandbox of macOS; it is printed, and not run by Placet.

A profile is a list of rules of which the last one that matches decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.unexpressed import require_expressible

_PROGRAM = "/usr/bin/sandbox-exec"
# Programs, libraries, and what they look up to run at all.
_SYSTEM = (
    "/bin",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/opt",
    "/private/etc/hosts",
    "/private/etc/resolv.conf",
    "/private/etc/ssl",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/sbin",
    "/System",
    "/usr",
)
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom", "/dev/zero")
_BASICS = (
    "(version 1)",
    "(deny default)",
    "(allow process-fork)",
    "(allow process-exec)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    # Paths are looked up from the root; nothing in it is read by that.
    '(allow file-read* (literal "/"))',
    "(allow file-read-metadata)",
)


def seatbelt_command(plan: SandboxPlan, program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments that start `program` by this plan on macOS; raise CannotConfine."""
    if program[0].startswith("-"):
        raise CannotConfine(f"{program[0]} would be read as an option")
    return (_PROGRAM, "-p", seatbelt_profile(plan), *program)


def seatbelt_profile(plan: SandboxPlan) -> str:
    """Return the profile of a plan; raise CannotConfine for what a profile cannot express."""
    require_expressible(plan, "Seatbelt", without=("cpu", "memory", "total_memory", "processes"))
    return "\n".join((*_BASICS, *_rules(plan))) + "\n"


def _rules(plan: SandboxPlan) -> Iterator[str]:
    yield _rule("allow file-read*", "subpath", _SYSTEM)
    # Their metadata can be read, as everywhere: paths are looked up by it.
    yield _rule("deny file-read-data file-read-xattr", "subpath", plan.private)
    yield _rule("allow file-read*", "subpath", plan.reads)
    yield _rule("allow file-read* file-write-data file-ioctl", "literal", _DEVICES)
    yield _rule("allow file-read* file-write*", "subpath", plan.writes)
    # A folder that keeps its name may hold new files: they have paths of their own.
    yield _rule("deny file-write*", "literal", plan.immovable)
    yield _rule("deny file-write*", "subpath", plan.kept)
    if plan.network == "all":
        yield "(allow network*)"
        yield "(allow system-socket)"


def _rule(action: str, kind: str, paths: Iterable[str]) -> str:
    filters = " ".join(f"({kind} {_quoted(path)})" for path in paths)
    return f"({action} {filters})" if filters else ""


def _quoted(path: str) -> str:
    if not path.isprintable():
        raise CannotConfine(f"{path!r} has characters that no profile can hold")
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
