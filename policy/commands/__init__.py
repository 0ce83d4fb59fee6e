"""Commands: the text of a script in, what it runs, reads, writes and connects to out."""

from policy.commands.profile_check import check_examples
from policy.commands.profile_fault import ProfileFault
from policy.commands.profile_file import SUFFIX as PROFILE_SUFFIX
from policy.commands.profiles import NO_PROFILES, Profiles
from policy.commands.understand import understand, understand_command

__all__ = [
    "NO_PROFILES",
    "PROFILE_SUFFIX",
    "ProfileFault",
    "Profiles",
    "check_examples",
    "understand",
    "understand_command",
]
