"""What comes with Placet: packs, by the names that `use` gives them, and profiles of programs."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from policy.commands import PROFILE_SUFFIX, Profiles
from policy.reload.folder import POLICY_SUFFIX
from policy.source import Source


@cache
def shipped_packs() -> Mapping[str, Source]:
    """Return the text of every pack in the installed package."""
    folder = importlib.resources.files("policy") / "packs"
    if not folder.is_dir():
        return MappingProxyType({})
    found: dict[str, Source] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(POLICY_SUFFIX) and entry.is_file():
            name = "placet:" + entry.name.removesuffix(POLICY_SUFFIX)
            found[name] = Source(name=name, text=entry.read_text("utf-8"))
    return MappingProxyType(found)


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
