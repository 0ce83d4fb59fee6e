"""Commands: the text of a script in, what it runs, reads, writes and connects to out."""

from policy.commands.profile_file import SUFFIX as PROFILE_SUFFIX
from policy.commands.profiles import NO_PROFILES, Profiles

__all__ = ["NO_PROFILES", "PROFILE_SUFFIX", "Profiles"]
