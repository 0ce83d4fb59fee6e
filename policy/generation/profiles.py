"""Profiles of programs: the shipped ones, and those in the policy's `programs/*.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from policy.diagnostics import Diagnostic, diagnose, visible
from policy.generation.decoding import decode
from policy.generation.folder import Snapshot
from policy.generation.shipped import shipped_profile_texts, shipped_profiles
from policy.model import Source
from policy.programs import ProfileFault, Profiles, check_examples

# The folder of a policy folder whose files are profiles of programs.
PROGRAMS_FOLDER = "programs/"
_SUFFIX = ".toml"
# Profiles of the same files are cached, with what was computed from commands.
_KEPT = 8


def profiles_of(snapshot: Snapshot) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return the profiles of programs, and what is wrong with the folder's own ones.

    The folder's own are read in full, and their examples run, so that a mistake is an error.
    """
    sources, problems = program_sources(snapshot)
    if not sources:
        return shipped_profiles(), problems
    profiles = _with_shipped(tuple((name, source.text) for name, source in sources.items()))
    faults = [(fault, "bad-profile") for fault in profiles.faults(sources)]
    if not faults:
        faults = [
            (fault, "profile-example-failed")
            for file in profiles.files(sources)
            for fault in check_examples(file, profiles)
        ]
    reported = (_diagnostic(fault, code, sources[fault.file]) for fault, code in faults)
    return profiles, (*problems, *reported)


def program_sources(
    snapshot: Snapshot,
) -> tuple[Mapping[str, Source], tuple[Diagnostic, ...]]:
    """Return the texts of the folder's own profiles by name, and why others cannot be read."""
    found: dict[str, Source] = {}
    problems = [
        problem for name, problem in snapshot.unread.items() if name.startswith(PROGRAMS_FOLDER)
    ]
    for name in sorted(snapshot.files):
        if name.startswith(PROGRAMS_FOLDER) and name.endswith(_SUFFIX):
            source, wrong = decode(name, snapshot.files[name].content, drop_mark=True)
            problems += wrong
            if source is not None:
                found[name] = source
    return MappingProxyType(found), tuple(problems)


@lru_cache(maxsize=_KEPT)
def _with_shipped(texts: tuple[tuple[str, str], ...]) -> Profiles:
    return Profiles.of(shipped_profile_texts(), dict(texts))


def _diagnostic(fault: ProfileFault, code: str, source: Source) -> Diagnostic:
    span = None
    if fault.line:
        line = source.line(fault.line)
        before = source.text.split("\n")[: fault.line - 1]
        start = sum(len(one) + 1 for one in before) + len(line) - len(line.lstrip())
        span = source.span(start, start + len(line.strip()))
    return diagnose(
        code,
        visible(fault.message, 300),
        span=span,
        file=visible(source.name),
        help=visible(fault.help, 600),
    )
