"""What comes with Placet: packs, by the names that `use` gives them, and profiles of programs."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from types import MappingProxyType

from policy.commands import PROFILE_SUFFIX, Profiles
from policy.reload.folder import POLICY_SUFFIX
from policy.source import Source
from policy.syntax import parse, tree

# What the names of these packs begin with, where a policy uses them.
SHIPPED = "placet:"


@cache
def shipped_packs() -> Mapping[str, Source]:
    """Return the text of every pack that comes with Placet."""
    found: dict[str, Source] = {}
    for entry in sorted(_packs().iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(POLICY_SUFFIX):
            name = SHIPPED + entry.name.removesuffix(POLICY_SUFFIX)
            found[name] = Source(name=name, text=entry.read_text("utf-8"))
    return MappingProxyType(found)


def _packs() -> Traversable:
    package = importlib.resources.files("policy")
    beside = package.joinpath("rules", "packs")
    # A checkout has the rules where the repository keeps them.
    return beside if beside.is_dir() else package.joinpath("..", "rules", "packs")


def used_packs(files: Iterable[tree.PolicyFile]) -> Mapping[str, tree.PolicyFile]:
    """Return those of the shipped packs that `files` use, parsed, and those that they use.

    All of them if one is not there, so that a mistake in a name can be told.
    """
    names = shipped_packs()
    found: dict[str, tree.PolicyFile] = {}
    wanted = [name for file in files for name in _uses(file)]
    while wanted:
        name = wanted.pop()
        if name not in names:
            return MappingProxyType({name: _parsed(name) for name in names})
        if name not in found:
            found[name] = _parsed(name)
            wanted += _uses(found[name])
    return MappingProxyType(found)


def _uses(file: tree.PolicyFile) -> list[str]:
    uses = (one.path for one in file.statements if isinstance(one, tree.Use))
    return [path for path in uses if path.startswith(SHIPPED)]


@cache
def _parsed(name: str) -> tree.PolicyFile:
    return parse(shipped_packs()[name]).tree


@cache
def shipped_profiles() -> Profiles:
    """Return what the installed package knows of programs."""
    return Profiles.of(shipped_profile_texts())


@cache
def shipped_profile_texts() -> Mapping[str, str]:
    """Return the text of every profile file in the installed package, by file name."""
    folder = importlib.resources.files("policy") / "commands" / "profiles"
    return MappingProxyType(
        {
            entry.name: entry.read_text("utf-8")
            for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
            if entry.name.endswith(PROFILE_SUFFIX)
        }
    )
