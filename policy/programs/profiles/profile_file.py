"""Reads one profile file, or reports all its mistakes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

from policy.programs.profiles.examples import Example, read_examples
from policy.programs.profiles.faults import Faults, ProfileFault
from policy.programs.profiles.section import Section, read_section
from policy.programs.profiles.variables import Variables, read_variables
from policy.values import quote

SUFFIX = ".toml"
# The only file that describes environment variables in place of a program.
ENVIRONMENT = "environment"

LARGEST = 500_000  # characters
_AT_END = "(at end of document)"
_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFile:
    """The contents of a profile file: its program is the file's name without `.toml`.

    `replaces`: earlier files about the program are disregarded.
    """

    file: str
    program: str
    section: Section
    replaces: bool = False
    examples: tuple[Example, ...] = ()
    variables: Variables | None = None


def program_of(file: str) -> str:
    """Return the program that a profile file describes, from the file's name."""
    return file.rpartition("/")[2].removesuffix(SUFFIX)


def read_profile_file(file: str, text: str) -> ProfileFile | tuple[ProfileFault, ...]:
    """Return the contents of a profile file, or its mistakes; never raises."""
    faults = Faults(file=file, text=text)
    table = _toml(faults)
    if table is None:
        return tuple(faults.found)
    program = program_of(file)
    replaces = table.pop("replace", False)
    if not isinstance(replaces, bool):
        faults.add(("replace",), "`replace` must be true or false")
    examples = read_examples(table.pop("examples", []), faults)
    variables = read_variables(table, faults) if program == ENVIRONMENT else None
    section = Section() if variables is not None else read_section(table, faults)
    if faults.found:
        return tuple(faults.found)
    return ProfileFile(
        file=file,
        program=program,
        section=section,
        replaces=replaces is True,
        examples=examples,
        variables=variables,
    )


def _toml(faults: Faults) -> dict[str, object] | None:
    if len(faults.text) > LARGEST:
        faults.add((), f"the file is larger than {LARGEST} characters")
        return None
    try:
        return tomllib.loads(faults.text)
    except RecursionError:
        faults.add((), "the file is nested too deeply")
    except ValueError as error:
        said = str(error)
        line = _LINE.search(said)
        # An unterminated value is reported at the end of the file.
        last = faults.text.rstrip().count("\n") + 1 if _AT_END in said else 0
        faults.found.append(
            ProfileFault(
                file=faults.file,
                message=f"the file is not valid TOML: {quote(_LINE.sub('', said).strip())}",
                help="correct the line; toml.io describes the syntax",
                line=int(line[1]) if line else last,
            )
        )
    return None
