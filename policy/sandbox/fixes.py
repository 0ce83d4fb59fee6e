"""What people can do where a driver does not work, from what the system says of itself."""

from __future__ import annotations

from pathlib import Path

# Settings of the kernel that keep ordinary users from making user namespaces; the tests have files
# of their own.
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
MOST = Path("/proc/sys/user/max_user_namespaces")
MODULES = Path("/sys/kernel/security/lsm")
# What they can do wherever no sandbox works.
WAYS = (
    "install the package `bubblewrap`, or write `required = false` under `[sandbox]` in "
    "placet.toml to run commands without a sandbox"
)
WAYS_ON = f"{WAYS} (`placet doctor` says more)"
_NAMESPACES = ("uid map", "new namespace", "user namespace")


def fix_for(driver: str, problem: str) -> str | None:
    """Return what would make a driver work that has a problem; None if that is not known."""
    if driver == "landlock":
        modules = _content(MODULES)
        if modules is not None and "landlock" not in modules.split(","):
            return "switch Landlock on by the kernel's parameter `lsm=`, which lists other modules"
        return None
    if not any(each in problem.lower() for each in _NAMESPACES):
        return None
    if _content(APPARMOR) == "1":
        return (
            "AppArmor keeps programs of ordinary users from making user namespaces: give `bwrap` a "
            "profile that permits `userns`, or use the driver `landlock`"
        )
    if _content(CLONE) == "0":
        return "permit user namespaces: `sysctl kernel.unprivileged_userns_clone=1`"
    if _content(MOST) == "0":
        return "permit user namespaces: `sysctl user.max_user_namespaces=10000`"
    return "user namespaces are not permitted here, perhaps by a container: use `landlock`"


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
