"""Searches assignments of Boolean variables, within a number of steps."""

from policy.solving.clauses import Clauses
from policy.solving.search import Model, Search, Spent, Unsatisfiable

__all__ = ["Clauses", "Model", "Search", "Spent", "Unsatisfiable"]
