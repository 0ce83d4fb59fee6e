"""Counts which options of the manuals the profiles know, and stores the result.

    make manuals PROGRAMS="cp 'git log' rsync"

reads the manual page and the `--help` of each program, which has to be installed here, and writes
its line of `options.jsonl` anew. Look at what is unknown: give options that do no harm to the
profile as flags or values, and others with the role that tells what they do; what stays unknown
stays guarded. Then count again and commit the file with the profile. To add a program, name it; a
subcommand is a program of its own. Without PROGRAMS, all that are kept and installed are counted.
"""

from __future__ import annotations

import shutil
import sys

from policy.generation import shipped_profile_texts
from policy.programs import Profiles
from tests.manuals.counted import Counted, knows, profile_of, read_counted, write_counted
from tests.manuals.manual import options_of, version_of


def main(programs: list[str]) -> int:
    """Count the programs, say what is unknown, and keep it."""
    profiles = Profiles.of(shipped_profile_texts())
    kept = {one.program: one for one in read_counted()}
    for program in programs or list(kept):
        profile = profile_of(program, profiles)
        if profile is None or shutil.which(program.split()[0]) is None:
            print(f"{program}: not installed, or without a profile", file=sys.stderr)
            continue
        options = options_of(program)
        unknown = tuple(option for option in options if not knows(profile, option))
        known = tuple(option for option in options if option not in unknown)
        counted = Counted(
            program=program, version=version_of(program), known=known, unknown=unknown
        )
        if options:
            kept[program] = counted
        print(f"{program}: {len(known)} of {len(options)} known; unknown: {' '.join(unknown)}")
    write_counted(list(kept.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
