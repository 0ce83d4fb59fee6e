"""Bash: parses the text of a script into its simple commands, or returns why it cannot."""

from policy.shell.double_evaluation import COMPUTED_TEXT, may_run_texts
from policy.shell.printed_script import NotPrintable, printed, rewritten_script, script_for
from policy.shell.reader import read_script, read_script_uncached
from policy.shell.script import Script, SimpleCommand
from policy.shell.stated_words import without_places
from policy.shell.traps import sets_trap
from policy.shell.word import Assignment, Redirection, Word

__all__ = [
    "COMPUTED_TEXT",
    "Assignment",
    "NotPrintable",
    "Redirection",
    "Script",
    "SimpleCommand",
    "Word",
    "may_run_texts",
    "printed",
    "read_script",
    "read_script_uncached",
    "rewritten_script",
    "script_for",
    "sets_trap",
    "without_places",
]
