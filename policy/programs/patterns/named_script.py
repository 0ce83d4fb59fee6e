"""The script that a command pattern names, by whichever program it is run."""

from __future__ import annotations

from policy.programs.patterns.pattern import CommandPattern, profile_of
from policy.programs.profiles.roles import bare_role


def named_script(pattern: CommandPattern) -> tuple[str, bool] | None:
    """Return the script of `bash deploy.sh *` or `./deploy.sh *`; None where there is none.

    With it, whether the pattern restricts every use of it: `python manage.py migrate *` does not.
    """
    program, steps = pattern.program, pattern.steps
    if program is None or pattern.inner:
        return None
    if pattern.files is not None and pattern.place:
        return f"{pattern.place.rstrip('/')}/{program[0]}", steps in ((), (None,))
    profile = profile_of(program, pattern.profiles)
    if profile is None or bare_role("".join(profile.operands[:1])) != "script":
        return None
    first = steps[0] if steps else None
    if first is None or not first.known or not ("/" in first.text or "." in first.text):
        return None
    return first.text, steps[1:] in ((), (None,))
