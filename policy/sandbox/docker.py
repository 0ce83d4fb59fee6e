"""A plan as arguments of `docker run`; they are printed, and not run by Placet.

The programs are those of an image, and what is mounted is the plan alone. There are the options
below and no others: a container has no capabilities, no devices, and no volumes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from policy.generation import ProcessLimits
from policy.sandbox.driver import CPU_GRACE
from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.unexpressed import require_expressible

_ISOLATED = (
    "--rm",
    "--interactive",
    "--init",
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--ipc=private",
    "--ulimit=core=0:0",
)
_NETWORKS = {"none": "none", "all": "bridge"}


def docker_command(
    plan: SandboxPlan, program: tuple[str, ...], *, image: str, user: int, group: int
) -> tuple[str, ...]:
    """Return the arguments that start `program` in a container; raise CannotConfine.

    It runs as `user` and `group`, by number.
    """
    if not image or image.startswith("-"):
        raise CannotConfine(f"`{image}` is no name of an image")
    # Docker knows no limit of address space.
    require_expressible(plan, "Docker", without=("memory",))
    return (
        "docker",
        "run",
        *_ISOLATED,
        f"--user={user}:{group}",
        f"--network={_NETWORKS[plan.network]}",
        *_limits(plan.limits),
        *(f"--mount={each}" for each in _mounts(plan)),
        f"--workdir={plan.folder}",
        f"--env=HOME={plan.home}",
        image,
        *program,
    )


def single_files(plan: SandboxPlan) -> tuple[str, ...]:
    """Return the read-only files of a plan that are not in a folder which is read-only as well."""
    return tuple(path for path in (*plan.reads, *plan.kept) if not os.path.isdir(path))


def _limits(limits: ProcessLimits) -> Iterator[str]:
    if limits.processes is not None:
        yield f"--pids-limit={limits.processes}"
    if limits.total_memory is not None:
        # With the same number for both, there is no swap.
        yield f"--memory={limits.total_memory}b"
        yield f"--memory-swap={limits.total_memory}b"
    for name, value in (
        ("cpu", None if limits.cpu is None else f"{limits.cpu}:{limits.cpu + CPU_GRACE}"),
        ("fsize", limits.file_size),
        ("nofile", limits.open_files),
    ):
        if value is not None:
            yield f"--ulimit={name}={value}"


def _mounts(plan: SandboxPlan) -> Iterator[str]:
    for folder in plan.in_memory:
        yield _fields("type=tmpfs", f"target={folder}", f"tmpfs-size={plan.limits.scratch}")
    writable = {*plan.writes, *plan.immovable} - set(plan.kept)
    for path in sorted({*plan.reads, *writable, *plan.kept}):
        mode = () if path in writable else ("readonly",)
        yield _fields("type=bind", f"source={path}", f"target={path}", *mode)


def _fields(*fields: str) -> str:
    """Return a mount as Docker reads it: comma-separated values, quoted where they need to be."""
    return ",".join(map(_field, fields))


def _field(text: str) -> str:
    if not text.isprintable():
        raise CannotConfine(f"{text!r} has characters that no mount can hold")
    if any(letter in text for letter in ',"'):
        escaped = text.replace('"', '""')
        return f'"{escaped}"'
    return text
