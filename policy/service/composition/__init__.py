"""A list of steps, each a call of another tool, in; one tool that makes these calls, out."""

from policy.service.composition.chain import ChainHandler, chain
from policy.service.composition.references import Argument, Progress, Result, Step

__all__ = ["Argument", "ChainHandler", "Progress", "Result", "Step", "chain"]
