"""Requirements of Python packages, as `python_exec` takes them: a name, and versions of it.

Everything else that an installer reads is refused: URLs, paths, options, extras, markers, and files
of requirements. What is accepted is written in one way, so that rules, records and the installer
read the same string.
"""

from __future__ import annotations

import re

_LONGEST = 200
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
# https://packaging.python.org/specifications/version-specifiers/, in its usual form
_VERSION = (
    r"(?:\d+!)?\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?"
    r"(?:\+[a-z0-9]+(?:\.[a-z0-9]+)*)?"
)
_BOUND = re.compile(rf"(==|!=|<=|>=|<|>|~=)[ ]*({_VERSION})(\.\*)?", re.ASCII)
_REQUIREMENT = re.compile(rf"({_NAME})[ ]*(?:([=!<>~].*))?", re.ASCII)
_BY_NAME = (
    "packages are installed by name, such as `numpy>=2.1,<3`, and not from a URL, a path or a "
    "repository"
)
_PARTS = (
    ("@", _BY_NAME),
    ("/", _BY_NAME),
    ("\\", _BY_NAME),
    (";", "markers are not read"),
    ("[", "extras are not read: name the packages that they stand for"),
    ("===", "`===` is not read: write `==`"),
)


def read_requirement(text: str) -> str:
    """Return a requirement in its one spelling, `numpy>=2.1,<3`; raise ValueError for all else."""
    if len(text) > _LONGEST:
        raise ValueError(f"a requirement has at most {_LONGEST} characters")
    if not text.isascii() or not text.isprintable():
        raise ValueError("a requirement is one line of printable ASCII characters")
    stripped = text.strip(" ")
    if stripped.startswith("-"):
        raise ValueError(f"options of an installer are not read: `{stripped}`")
    for part, why in _PARTS:
        if part in stripped:
            raise ValueError(f"{why}: `{stripped}`")
    if stripped.lower().endswith(".whl"):
        raise ValueError(f"{_BY_NAME}: `{stripped}`")
    whole = _REQUIREMENT.fullmatch(stripped)
    if whole is None:
        raise ValueError(
            f"a requirement is a package's name, and versions if they matter, such as "
            f"`numpy>=2.1,<3`: `{stripped}`"
        )
    name, bounds = whole.groups(default="")
    return package_name(name) + ",".join(_bound(each, stripped) for each in _split(bounds))


def package_name(name: str) -> str:
    """Return the name of a package in its one spelling: `zope-interface` for `Zope.Interface`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_in(requirement: str) -> str:
    """Return the package that a requirement in its one spelling names."""
    return re.split(r"[=!<>~]", requirement, maxsplit=1)[0]


def _split(bounds: str) -> list[str]:
    return [each.strip(" ") for each in bounds.split(",")] if bounds else []


def _bound(text: str, requirement: str) -> str:
    found = _BOUND.fullmatch(text)
    if found is None or (found[3] and found[1] not in ("==", "!=")):
        raise ValueError(
            f"`{text}` is no bound of versions, such as `>=2.1`, `<3` or `==2.*`: `{requirement}`"
        )
    return found[1] + found[2] + (found[3] or "")
