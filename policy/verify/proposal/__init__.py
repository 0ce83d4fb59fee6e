"""A call that asks in; the narrowest rule text that would allow it, or why there is none, out."""

from policy.verify.proposal.exact import ExactCall
from policy.verify.proposal.proposer import Edit, Judge, NoProposal, Proposal, Situation, propose

__all__ = ["Edit", "ExactCall", "Judge", "NoProposal", "Proposal", "Situation", "propose"]
