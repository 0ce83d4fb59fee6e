"""Whether a command failed because of its sandbox: read from how it ended and what it printed.

A program gets an error number, as on a machine without the file or the right, and few say more. So
what is found is *likely*, unless the kernel itself has ended the program. Nothing outside of the
sandbox is looked at: whether a hidden file exists must not show.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from policy.diagnostics import visible
from policy.model import Code
from policy.sandbox.containment import is_within
from policy.sandbox.plan import SandboxPlan
from policy.sandbox.system_files import ETC, SYSTEM

# What a program could not do: `call` is a system call, `use` is a limit.
Verb: TypeAlias = Literal["read", "write", "connect", "call", "use", "start"]
_MOST_LINES, _LONGEST_LINE, _LONGEST, _MOST = 200, 1_000, 300, 5
_READ_ONLY = ("read-only file system",)
_REFUSED = ("permission denied", "operation not permitted")
_MISSING = ("no such file or directory",)
_NO_NETWORK = (
    "address family not supported",
    "could not resolve",
    "eai_again",
    "name or service not known",
    "network is unreachable",
    "temporary failure in name resolution",
)
_HOST = re.compile(r"(?:resolve (?:host(?:name)?)?:? ?|EAI_AGAIN )['\"]?([A-Za-z0-9.-]+)")
# How the proxy tells a program that it was refused a host.
_BY_PROXY = re.compile(r"the sandbox does not connect to (\S{1,300}): ")
_NAMED = re.compile(
    r"'([^']+)'|\"([^\"]+)\"|‘([^‘’]+)’|(?<![^\s'\"‘’])([^\s'\"‘’/]*+/[^\s'\"‘’]*+)"
)
_LIMITS = {signal.SIGXCPU: "cpu", signal.SIGXFSZ: "file_size"}
_KILLING = ("total_memory", "cpu")
_CANNOT_START = re.compile(r"\A(?:bwrap|sandbox): ([^\n]*)\n?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """What a sandbox did not let a program do; `target` is None where that shows nowhere."""

    verb: Verb
    target: str | None
    likely: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxDenial:
    """Why a program that failed is thought to have failed by its sandbox, which is `tier`.

    `subject` is what the program is called in the sentence. It was ended for the name that was
    `lost`: somebody replaced, renamed or removed a file or folder that its sandbox protects.
    """

    tier: str
    denied: tuple[Denied, ...] = ()
    lost: str | None = None
    subject: str = "this command"

    @property
    def code(self) -> Code:
        """The code of a call that failed so."""
        return "denied-by-sandbox" if self.lost is None else "ended-by-sandbox"

    def with_targets(self, change: Callable[[str], str]) -> SandboxDenial:
        """Return it with each name of a target changed."""
        denied = (
            each if each.target is None else replace(each, target=change(each.target))
            for each in self.denied
        )
        lost = None if self.lost is None else change(self.lost)
        return replace(self, denied=tuple(denied), lost=lost)

    def sentence(self) -> str:
        """Return what a model is told: what is certain, or else what is likely."""
        if self.lost is not None:
            return (
                f"The sandbox has ended {self.subject}: somebody else has replaced, renamed or "
                f"removed {visible(self.lost, _LONGEST)}, which it protects; what was done before "
                "stays done, and it can be tried again."
            )
        certain = [each for each in self.denied if not each.likely]
        what = " and ".join(map(_phrase, certain or self.denied))
        how = "The" if certain else "Likely, the"
        return (
            f"{how} sandbox does not let {self.subject} {what}; it fails again unless people "
            "change that, and what it did before stays done."
        )

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "code": self.code,
            "message": self.sentence(),
            "tier": self.tier,
            "denied": [
                {"verb": each.verb, "target": each.target, "likely": each.likely}
                for each in self.denied
            ],
            **({} if self.lost is None else {"lost": self.lost}),
        }


def said_of_lost(name: str) -> str:
    """Return what people are told of a program that was ended for a name."""
    shown = visible(name, _LONGEST)
    return (
        f"a program in a sandbox was ended: {shown} was replaced, renamed or removed outside while "
        "it ran. Until its end, a moment later, it could read and write what has this name now"
    )


def denial_of(
    plan: SandboxPlan,
    *,
    tier: str,
    closed: Collection[str],
    status: int,
    errors: str,
    refused: tuple[str, ...] = (),
    subject: str = "this command",
) -> SandboxDenial | None:
    """Return why a program failed by its sandbox; None if nothing points there.

    `closed` are folders in which nothing can be made in spite of the plan. `status` is its exit
    status, `errors` what it has printed to standard error, and `refused` the connections that a
    proxy has refused.
    """
    if status == 0:
        return None
    found = dict.fromkeys(
        (
            *(Denied(verb="connect", target=target, likely=False) for target in refused),
            *_by_status(plan, status),
            *_by_text(plan, tier, closed, errors),
        )
    )
    certain = {(each.verb, each.target) for each in found if not each.likely}
    # What is certain need not be likely, too.
    denied = tuple(
        each for each in found if not each.likely or (each.verb, each.target) not in certain
    )
    return SandboxDenial(tier=tier, denied=denied[:_MOST], subject=subject) if denied else None


def _phrase(denied: Denied) -> str:
    target = None if denied.target is None else visible(denied.target, _LONGEST)
    match denied.verb:
        case "connect":
            return f"connect to {target}" if target else "use the network"
        case "call":
            return "make a system call by the numbers of another architecture"
        case "use":
            return f"use more than the limit `{target}`"
        case "start":
            return f"start ({target})"
        case verb:
            return f"{verb} {target}"


def _by_status(plan: SandboxPlan, status: int) -> Iterator[Denied]:
    # A shell reports a signal by a number above 128, and so can any program.
    by_signal, likely = (-status, False) if status < 0 else (status - 128, True)
    if by_signal == signal.SIGSYS:
        yield Denied(verb="call", target=None, likely=likely)
    limit = _LIMITS.get(signal.Signals(by_signal)) if by_signal in _LIMITS else None
    if limit is not None and getattr(plan.limits, limit) is not None:
        yield Denied(verb="use", target=limit, likely=likely)
    # A program may ignore the signal of `cpu`, and is killed then; most do not.
    kills = next((name for name in _KILLING if getattr(plan.limits, name) is not None), None)
    if by_signal == signal.SIGKILL and kills is not None:
        yield Denied(verb="use", target=kills)


def _by_text(
    plan: SandboxPlan, tier: str, closed: Collection[str], errors: str
) -> Iterator[Denied]:
    started = _CANNOT_START.match(errors)
    if started is not None:
        yield Denied(verb="start", target=started[1][:_LONGEST_LINE])
        return
    for line in errors.splitlines()[-_MOST_LINES:]:
        yield from _by_line(plan, tier, closed, line[:_LONGEST_LINE])


def _by_line(plan: SandboxPlan, tier: str, closed: Collection[str], line: str) -> Iterator[Denied]:
    text = line.lower()
    by_proxy = _BY_PROXY.search(line)
    if by_proxy is not None:
        yield Denied(verb="connect", target=by_proxy[1])
        return
    if plan.network != "all" and any(each in text for each in _NO_NETWORK):
        host = _HOST.search(line)
        yield Denied(verb="connect", target=host[1] if host else None)
        return
    error = next((each for each in (*_READ_ONLY, *_REFUSED, *_MISSING) if each in text), None)
    if error is None:
        return
    readable = _readable(plan, tier)
    for path in _paths(line, text.index(error), plan.folder):
        if not is_within(path, readable) or plan.hides(path):
            yield Denied(verb="read", target=path)
            return
        writable = is_within(path, _writable(plan, tier)) and not is_within(path, plan.kept)
        if error not in _MISSING and (not writable or os.path.dirname(path) in closed):
            yield Denied(verb="write", target=path)
            return


def _paths(line: str, end: int, folder: str) -> Iterator[str]:
    """Yield what a line may name as a file: before the error, in quotes, or with a slash."""
    before = line[:end].rstrip(" :(")
    last = before.rpartition(": ")[2].strip("'\"")
    named = (next(filter(None, groups)).rstrip(":,;.)") for groups in _NAMED.findall(line))
    for name in (*((last,) if " " not in last else ()), *named):
        if name and "://" not in name:
            yield os.path.normpath(os.path.join(folder, name))


def _readable(plan: SandboxPlan, tier: str) -> tuple[str, ...]:
    system = (*SYSTEM, *(f"/etc/{name}" for name in ETC))
    more = ("/proc", "/dev") if tier == "bubblewrap" else ()
    return (*plan.reads, *_writable(plan, tier), *system, *more)


def _writable(plan: SandboxPlan, tier: str) -> tuple[str, ...]:
    return (*plan.writes, *(plan.in_memory if tier == "bubblewrap" else ()))
