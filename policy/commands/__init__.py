"""Commands: the text of a script in, what it runs, reads, writes and connects to out."""

from __future__ import annotations

from policy.commands.bash import read_script
from policy.commands.command_sets import CommandSets, is_alone
from policy.commands.cover import covers, runs_any
from policy.commands.fit import fits, is_harmless_redirection, spells_redirects
from policy.commands.invocation import (
    Effect,
    GivenOperand,
    GivenOption,
    Invocation,
    Understanding,
)
from policy.commands.pattern import CommandPattern, read_command_pattern
from policy.commands.pattern_set import PatternSet
from policy.commands.printing import NotPrintable, printed, runs_as, script_for
from policy.commands.profile import Profile
from policy.commands.profile_check import check_examples
from policy.commands.profile_fault import ProfileFault
from policy.commands.profile_file import SUFFIX as PROFILE_SUFFIX
from policy.commands.profiles import NO_PROFILES, Profiles
from policy.commands.script import Script, SimpleCommand
from policy.commands.understander import understand, understand_command
from policy.commands.word import Assignment, Redirection, Word

__all__ = [
    "NO_PROFILES",
    "PROFILE_SUFFIX",
    "Assignment",
    "CommandPattern",
    "CommandSets",
    "Effect",
    "GivenOperand",
    "GivenOption",
    "Invocation",
    "NotPrintable",
    "PatternSet",
    "Profile",
    "ProfileFault",
    "Profiles",
    "Redirection",
    "Script",
    "SimpleCommand",
    "Understanding",
    "Word",
    "check_examples",
    "covers",
    "fits",
    "is_alone",
    "is_harmless_redirection",
    "printed",
    "read_command_pattern",
    "read_script",
    "runs_any",
    "runs_as",
    "script_for",
    "spells_redirects",
    "understand",
    "understand_command",
]
