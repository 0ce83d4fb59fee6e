"""Searches assignments of Boolean variables, strings and numbers, within a number of steps."""

from policy.solving.arithmetic.inequalities import Inequalities, LeftOpen
from policy.solving.arithmetic.polynomials import Polynomial
from policy.solving.automata.characters import (
    ALL,
    DIGITS,
    PRINTABLE,
    SPACE,
    WORD,
    Characters,
    characters,
    these,
    without,
)
from policy.solving.automata.expressions import (
    ANY_TEXT,
    Edge,
    Either,
    Expression,
    OneOf,
    Place,
    Row,
    Times,
    in_either_case,
    literal,
)
from policy.solving.automata.language import (
    Language,
    TooLarge,
    language,
    union,
    union_of_differences,
)
from policy.solving.automata.meeting import Meeting, OutOfSteps, Steps, contains, meeting
from policy.solving.clauses import Clauses, Theory
from policy.solving.search import Model, Search, Spent, Unsatisfiable

__all__ = [
    "ALL",
    "ANY_TEXT",
    "DIGITS",
    "PRINTABLE",
    "SPACE",
    "WORD",
    "Characters",
    "Clauses",
    "Edge",
    "Either",
    "Expression",
    "Inequalities",
    "Language",
    "LeftOpen",
    "Meeting",
    "Model",
    "OneOf",
    "OutOfSteps",
    "Place",
    "Polynomial",
    "Row",
    "Search",
    "Spent",
    "Steps",
    "Theory",
    "Times",
    "TooLarge",
    "Unsatisfiable",
    "characters",
    "contains",
    "in_either_case",
    "language",
    "literal",
    "meeting",
    "these",
    "union",
    "union_of_differences",
    "without",
]
