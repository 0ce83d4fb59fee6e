"""A raw call -> one judgement: policy, filter, context rules and identity, joined."""
