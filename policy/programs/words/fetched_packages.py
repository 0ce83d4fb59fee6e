"""The program that a package runner fetches in a certain version: `npx prisma@5 generate`."""

from __future__ import annotations

import re

# Programs that take the name of a package, with a version, in place of a program's.
_RUNNERS = frozenset({"npx", "pnpx", "bunx", "pnpm", "yarn", "bun", "npm", "uvx", "uv", "pipx"})
# A version, a range or a tag of the registry; no alias, address or folder (`a@npm:b`, `a@../b`).
_VERSION = re.compile(r"@[\^~]?[\w][\w.+-]*|==[\w][\w.+*-]*")


def split_version(name: str, *, by: str) -> tuple[str, str]:
    """Return the name of a program, and the version in which `by` fetches it; empty if none."""
    found = re.search(r"[@=]", name[1:]) if by.partition(" ")[0] in _RUNNERS else None
    if found is None:
        return name, ""
    end = found.start() + 1
    return (name[:end], name[end:]) if _VERSION.fullmatch(name[end:]) else (name, "")
