"""`Profiles`: the profiles of programs, by every name that each has.

Parsing hundreds of files at startup would take too long, so a file is parsed when its program is
first needed, and all are scanned for a name that is not a file's. The cache changes no answer.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

# Imported in functions: every policy has profiles, and few have rules about commands.
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType

from policy.programs.profiles import profile_file
from policy.programs.profiles.faults import ProfileFault
from policy.programs.profiles.lazy_file import read_profile_lazily
from policy.programs.profiles.merger import profile_of
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.profile_file import ProfileFile
from policy.programs.profiles.section import Section
from policy.programs.profiles.variables import VariableRole, Variables, is_plain_setting
from policy.shell import Assignment
from policy.values import quote

# The other names of a program are before the first table of its file.
_NAMES = re.compile(r"^(names|siblings)\s*=\s*\[([^\]]*)\]", re.MULTILINE)
_FIRST_TABLE = re.compile(r"^\[", re.MULTILINE)
_NAME = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class _LazyFile:
    """One file in a mapping that may load texts lazily."""

    name: str
    layer: Mapping[str, str] = field(repr=False)

    @property
    def text(self) -> str:
        return self.layer[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class _OtherNames:
    """Programs by their other names, and by globs of names."""

    names: Mapping[str, str]
    globs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profiles:
    """The profiles of programs. Build with `of`."""

    _layers: tuple[Mapping[str, str], ...]
    _cached: list[Mapping[str, tuple[_LazyFile, ...]]] = field(default_factory=list, repr=False)
    _read: dict[str, Profile | None] = field(default_factory=dict, repr=False)
    _roles: dict[str, VariableRole | None] = field(default_factory=dict, repr=False)
    _others: list[_OtherNames] = field(default_factory=list, repr=False)

    @staticmethod
    def of(*layers: Mapping[str, str]) -> Profiles:
        """Return profiles from texts by file name; a later layer extends an earlier one."""
        return Profiles(_layers=layers)

    @property
    def _files(self) -> Mapping[str, tuple[_LazyFile, ...]]:
        """The files by the program they describe; listed on first use."""
        if not self._cached:
            self._cached.append(_files_of(self._layers))
        return self._cached[0]

    @property
    def programs(self) -> tuple[str, ...]:
        """The canonical names of all programs that have a profile, sorted."""
        return tuple(sorted(set(self._files) - {profile_file.ENVIRONMENT}))

    def profile(self, name: str) -> Profile | None:
        """Return the profile of a program by any of its names (case-sensitive: `G` is not `g`)."""
        if name in self._read:
            return self._read[name]
        program = self._program(name)
        found = None if program is None else _read(self._files[program])
        if found is not None and name in found.siblings:
            found = replace(found, name=name)
        if len(self._read) < _MOST_NAMES:
            self._read[name] = found
        return found

    def variable(self, name: str) -> VariableRole | None:
        """Return the role of an environment variable, None if it is not known."""
        if name in self._roles:
            return self._roles[name]
        found = self._environment().role(name)
        if len(self._roles) < _MOST_NAMES:
            self._roles[name] = found
        return found

    def variable_set(self, given: Assignment, *, unseen: bool = False) -> VariableRole | None:
        """Return the role of a variable with the value that it is set to.

        With `unseen`, only unseen code sees it: one that no profile knows may be a plain setting.
        """
        role = self.variable(given.name)
        if role is None:
            return "harmless" if unseen and is_plain_setting(given) else None
        if role == "harmless":
            return role
        return "harmless" if self._environment().is_harmless_value(given) else role

    def _environment(self) -> Variables:
        files = self._files.get(profile_file.ENVIRONMENT, ())
        return _variables(tuple((file.name, file.text) for file in files))

    def faults(self, names: Container[str] | None = None) -> tuple[ProfileFault, ...]:
        """Return every mistake in the files of these names, or in all."""
        found: list[ProfileFault] = []
        for file in self._in_order():
            if names is not None and file.name not in names:
                continue
            read = _read_file(file.name, file.text)
            if isinstance(read, tuple):
                found += read
            else:
                found += self._taken_names(read)
                found += self._unknown_options(read, file.text)
        return tuple(found)

    def files(self, names: Container[str] | None = None) -> tuple[ProfileFile, ...]:
        """Return the valid files of these names, or all, with their examples."""
        return tuple(
            read
            for file in self._in_order()
            if names is None or file.name in names
            if isinstance(read := _read_file(file.name, file.text), profile_file.ProfileFile)
        )

    def changed_since(self, before: Profiles) -> tuple[str, ...]:
        """Return the programs of which earlier profiles say something else, sorted.

        Comments and examples say nothing of what a command does.
        """
        ours, theirs = (
            _files_of(
                [layer for layer in one._layers if not any(layer is x for x in other._layers)]
            )
            for one, other in ((self, before), (before, self))
        )
        return tuple(
            program
            for program in sorted({*ours, *theirs})
            if _meaning(ours.get(program, ())) != _meaning(theirs.get(program, ()))
        )

    def _taken_names(self, file: ProfileFile) -> Iterator[ProfileFault]:
        siblings = (name for sibling in file.section.siblings for name in sibling)
        for name in (*file.section.names, *siblings):
            owner = name if name in self._files else self._other().names.get(name, file.program)
            if owner != file.program:
                yield ProfileFault(
                    file=file.file,
                    message=f"the name {quote(name)} is that of the program {quote(owner)}",
                    help=f"describe it in `{owner}.toml`",
                    line=1,
                )

    def _unknown_options(self, file: ProfileFile, text: str) -> Iterator[ProfileFault]:
        files = self._files[file.program]
        if any(isinstance(_read_file(one.name, one.text), tuple) for one in files):
            return  # what the others declare is not known
        for name in dict.fromkeys(_undeclared(file.section, _read(files))):
            lines = enumerate(text.splitlines(), 1)  # what is declared stands first
            yield ProfileFault(
                file=file.file,
                message=f"the program has no option {quote(name)}",
                help="declare it in `flags` or `values`, or correct its name",
                line=max((number for number, line in lines if name in line), default=1),
            )

    def _in_order(self) -> Iterator[_LazyFile]:
        for program in sorted(self._files):
            yield from self._files[program]

    def _program(self, name: str) -> str | None:
        if name == profile_file.ENVIRONMENT:
            return None
        if name in self._files:
            return name
        other = self._other()
        if name in other.names:
            return other.names[name]
        return next((program for glob, program in other.globs if fnmatchcase(name, glob)), None)

    def _other(self) -> _OtherNames:
        """Return the other names of all programs; this scans every file."""
        if not self._others:
            self._others.append(_other_names_of(self._layers))
        return self._others[0]


_MOST_NAMES = 4_096


def _files_of(layers: Sequence[Mapping[str, str]]) -> Mapping[str, tuple[_LazyFile, ...]]:
    files: dict[str, tuple[_LazyFile, ...]] = {}
    for layer in layers:
        for name in layer:
            program = profile_file.program_of(name)
            files[program] = (*files.get(program, ()), _LazyFile(name=name, layer=layer))
    return MappingProxyType(files)


def _other_names_of(layers: Sequence[Mapping[str, str]]) -> _OtherNames:
    names: dict[str, str] = {}
    globs: list[tuple[str, str]] = []
    for file, text in (item for layer in layers for item in layer.items()):
        for name in _other_names(text):
            if _WILD.isdisjoint(name):
                names[name] = profile_file.program_of(file)
            else:
                globs.append((name, profile_file.program_of(file)))
    return _OtherNames(names=MappingProxyType(names), globs=tuple(globs))


def _other_names(text: str) -> tuple[str, ...]:
    """Return the other names of a program without parsing the whole file."""
    table = _FIRST_TABLE.search(text)
    top = text if table is None else text[: table.start()]
    return tuple(
        double or single
        for listed in _NAMES.finditer(top)
        for double, single in _NAME.findall(listed[2])
    )


@lru_cache(maxsize=1024)
def _read_file(name: str, text: str) -> ProfileFile | tuple[ProfileFault, ...]:
    return profile_file.read_profile_file(name, text)


@lru_cache(maxsize=1024)
def _read_parts(name: str, text: str) -> ProfileFile | tuple[ProfileFault, ...]:
    return read_profile_lazily(name, text)


def _read(files: Sequence[_LazyFile]) -> Profile:
    """Return the profile from the files of one program; with an invalid file it may do anything."""
    sections: list[Section] = []
    for file in files:
        read = _read_parts(file.name, file.text)
        if isinstance(read, tuple):
            name = profile_file.program_of(file.name)
            return Profile(name=name, hides=True, operands=("unknown...",))
        if read.replaces:
            sections.clear()
        sections.append(read.section)
    return profile_of(profile_file.program_of(files[0].name), sections)


def _undeclared(section: Section, profile: Profile) -> Iterator[str]:
    """Yield the options that a section says something of, and that the program does not have."""
    mentioned = [
        mention.name
        for one in (*section.implies, *section.overrides)
        for mention in (*one.given, *one.implied)
    ]
    alone = [one.partition("=")[0] for one in (section.alone, *section.alone_unless)]
    yield from (name for name in (*mentioned, *alone) if name and name not in profile.options)
    for name, sub in section.subcommands.items():
        if name in profile.subcommands:
            yield from _undeclared(sub, profile.subcommands[name])


def _meaning(files: Sequence[_LazyFile]) -> list[object]:
    read = (_read_file(file.name, file.text) for file in files)
    return [one if isinstance(one, tuple) else replace(one, file="", examples=()) for one in read]


@lru_cache(maxsize=64)
def _variables(files: tuple[tuple[str, str], ...]) -> Variables:
    found = Variables(MappingProxyType({}))
    for name, text in files:
        read = _read_file(name, text)
        if isinstance(read, profile_file.ProfileFile) and read.variables is not None:
            found = read.variables.extending(found)
    return found


NO_PROFILES: Profiles = Profiles.of()
