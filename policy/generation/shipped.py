"""The packs and profiles of programs that come with Placet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib.resources.abc import Traversable
from types import MappingProxyType

from policy.generation.walk import POLICY_SUFFIX
from policy.model import Source
from policy.programs import PROFILE_SUFFIX, Profiles
from policy.syntax import Engine, parse, tree

# The prefix of the names of these packs in a policy.
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
    package = _package()
    beside = package.joinpath("rules", "packs")
    # A checkout has the rules where the repository keeps them.
    return beside if beside.is_dir() else package.joinpath("..", "rules", "packs")


def _package() -> Traversable:
    """Return the folder of the installed package."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.isdir(folder):
        from pathlib import Path  # most policies use nothing of the package

        return Path(folder)
    # In an archive. These functions import more than reading a whole policy does.
    from importlib.resources import files

    return files("policy")


def used_packs(
    files: Iterable[tree.PolicyFile], *, engine: Engine = "tables"
) -> Mapping[str, tree.PolicyFile]:
    """Return the shipped packs that `files` use, parsed, and those that these use.

    All of them if one does not exist, so that similar names can be suggested.
    """
    found: dict[str, tree.PolicyFile] = {}
    wanted = [name for file in files for name in _uses(file)]
    names = shipped_packs() if wanted else {}
    while wanted:
        name = wanted.pop()
        if name not in names:
            return MappingProxyType({name: _parsed(name, engine) for name in names})
        if name not in found:
            found[name] = _parsed(name, engine)
            wanted += _uses(found[name])
    return MappingProxyType(found)


def _uses(file: tree.PolicyFile) -> list[str]:
    uses = (one.path for one in file.statements if isinstance(one, tree.Use))
    return [path for path in uses if path.startswith(SHIPPED)]


@cache
def _parsed(name: str, engine: Engine) -> tree.PolicyFile:
    return parse(shipped_packs()[name], engine=engine).tree


@cache
def shipped_profiles() -> Profiles:
    """Return the profiles of programs in the installed package."""
    return Profiles.of(shipped_profile_texts())


@cache
def shipped_profile_texts() -> Mapping[str, str]:
    """Return the text of every profile file in the installed package, by file name.

    The folder is listed and the texts are read on first use: many policies name no command, and
    one command needs few of hundreds of texts.
    """
    return _Texts()


class _Texts(Mapping[str, str]):
    """The texts of files, by name, each read once."""

    @cached_property
    def _folder(self) -> Traversable:
        return _package() / "programs" / "profiles" / "shipped"

    @cached_property
    def _texts(self) -> dict[str, str | None]:
        try:
            names = sorted(entry.name for entry in self._folder.iterdir())
        except OSError:  # without profiles, no program is known to be harmless
            return {}
        return dict.fromkeys(name for name in names if name.endswith(PROFILE_SUFFIX))

    def __getitem__(self, name: str) -> str:
        text = self._texts[name]
        if text is None:
            text = self._texts[name] = self._read(name)
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def _read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text("utf-8")
        except (OSError, ValueError):
            # Removed since the folder was listed: a text that is not a profile allows nothing.
            return "?"
