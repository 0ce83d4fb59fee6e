"""Common mistakes, each with an example: `MISTAKES` lists all; the first that matches counts.

The tests parse every example.
"""

from policy.syntax.mistakes.cases import CALLS, OUTCOMES, OUTSIDE, TITLES
from policy.syntax.mistakes.conditions import OPERATORS, QUANTIFIERS, TESTS
from policy.syntax.mistakes.definitions import DEFINITIONS
from policy.syntax.mistakes.headers import DEFAULTS, DELEGATIONS, HEADERS
from policy.syntax.mistakes.mistake import Mistake, filled, meant
from policy.syntax.mistakes.resources import RESOURCES
from policy.syntax.mistakes.rules import CLAUSES, REWRITES, TOOLS
from policy.syntax.mistakes.statements import AT_START
from policy.syntax.mistakes.values import ENDS, NAMES, NUMBERS, REGEXES, STRINGS

# From the special to the general.
MISTAKES: tuple[Mistake, ...] = (
    *HEADERS,
    *ENDS,
    *DEFAULTS,
    *AT_START,
    *TITLES,
    *CALLS,
    *OUTCOMES,
    *DEFINITIONS,
    *REWRITES,
    *DELEGATIONS,
    *RESOURCES,
    *STRINGS,
    *QUANTIFIERS,
    *OPERATORS,
    *TESTS,
    *REGEXES,
    *NUMBERS,
    *OUTSIDE,
    *TOOLS,
    *CLAUSES,
    *NAMES,
)

__all__ = ["MISTAKES", "Mistake", "filled", "meant"]
