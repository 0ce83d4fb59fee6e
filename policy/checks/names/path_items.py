"""Items of sets of paths: reports patterns that probably match less than their author means."""

from __future__ import annotations

from policy.checks.context import CheckContext
from policy.model import Span
from policy.values import quote


def check_reach(text: str, span: Span, check: CheckContext) -> None:
    """Report a pattern of names without a folder, and a folder without its contents."""
    if text.startswith(("*", "?")) and "/" not in text and not text.startswith("**"):
        check.report.add(
            "shallow-pattern",
            f"{quote(text)} matches only names directly in the workspace, not in folders below it",
            span=span,
            help=f"write {quote(f'**/{text}')} for every folder, {quote(f'./{text}')} for the "
            "workspace itself",
        )
    elif text == "workspace":
        check.report.add(
            "shallow-pattern",
            "`workspace` in quotes is a file of this name in the workspace",
            span=span,
            help="write `workspace` without quotes for the workspace and everything in it",
        )
    elif text.endswith("/") and text != "/":
        check.report.add(
            "shallow-pattern",
            f"{quote(text)} matches the folder itself, not the files in it",
            span=span,
            help=f"write {quote(f'{text}**')} for everything in it",
        )
