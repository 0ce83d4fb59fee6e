"""What commands do by the profiles of their programs: read, write, run, connect."""

from policy.programs.found_paths import FoundPaths, Search
from policy.programs.invocation import (
    CommandEffect,
    GivenOperand,
    GivenOption,
    Invocation,
    NewNames,
    ScriptAnalysis,
)
from policy.programs.path_globs import matches_path_glob
from policy.programs.patterns.bare_command import matches_bare
from policy.programs.patterns.coverage import covers, runs_any
from policy.programs.patterns.indexed_sets import CommandSets, runs_nothing_else
from policy.programs.patterns.match import (
    is_harmless_redirection,
    matches_command,
    spells_redirects,
)
from policy.programs.patterns.named_script import named_script
from policy.programs.patterns.pattern import CommandPattern, read_command_pattern
from policy.programs.patterns.pattern_set import PatternSet
from policy.programs.patterns.profile_check import check_examples
from policy.programs.patterns.relations import (
    exclude_each_other,
    matches_more,
    may_cover,
    misses_less,
)
from policy.programs.patterns.uncovered import uncovered_commands
from policy.programs.patterns.wildcard_options import wildcard_options
from policy.programs.profiles.faults import ProfileFault
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.profile_file import SUFFIX as PROFILE_SUFFIX
from policy.programs.profiles.registry import NO_PROFILES, Profiles
from policy.programs.profiles.variables import listed_folders
from policy.programs.program_file import ProgramFile
from policy.programs.script_analysis import analyse_command, analyse_script
from policy.programs.words.rewriting import orders_to_write

__all__ = [
    "NO_PROFILES",
    "PROFILE_SUFFIX",
    "CommandEffect",
    "CommandPattern",
    "CommandSets",
    "FoundPaths",
    "GivenOperand",
    "GivenOption",
    "Invocation",
    "NewNames",
    "PatternSet",
    "Profile",
    "ProfileFault",
    "Profiles",
    "ProgramFile",
    "ScriptAnalysis",
    "Search",
    "analyse_command",
    "analyse_script",
    "check_examples",
    "covers",
    "exclude_each_other",
    "is_harmless_redirection",
    "listed_folders",
    "matches_bare",
    "matches_command",
    "matches_more",
    "matches_path_glob",
    "may_cover",
    "misses_less",
    "named_script",
    "orders_to_write",
    "read_command_pattern",
    "runs_any",
    "runs_nothing_else",
    "spells_redirects",
    "uncovered_commands",
    "wildcard_options",
]
