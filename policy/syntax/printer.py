"""Print a tree as canonical text, which parses to an equal tree."""

from __future__ import annotations

from itertools import pairwise

from policy.syntax.layout import lay_out
from policy.syntax.tree import Header, PolicyFile, Statement, Test


def print_tree(tree: PolicyFile) -> str:
    """Return a file's canonical text, without comments; statements of one kind stand together."""
    nodes: list[Header | Statement] = [*tree.statements]
    if tree.header is not None:
        nodes.insert(0, tree.header)
    blocks = [lay_out(node).lines() for node in nodes]
    lines: list[str] = [*blocks[0]] if blocks else []
    for (before, node), (block, next_block) in zip(pairwise(nodes), pairwise(blocks), strict=True):
        apart = type(before) is not type(node) or len(block) > 1 or len(next_block) > 1
        lines += [""] * (apart or isinstance(node, Test))
        lines += next_block
    return "".join(f"{line}\n" for line in lines)
