"""Whether `sql(…)` can be evaluated: its dialect is known, its parser installed."""

from __future__ import annotations

from policy.checks.checked import Constant
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.typed_value import TypedValue
from policy.diagnostics import did_you_mean
from policy.syntax import tree
from policy.values import SQL_DIALECTS, can_read_sql


def check_sql(expr: tree.Function, args: list[TypedValue], context: StatementContext) -> bool:
    """Return whether such a call can be evaluated; report why not."""
    if not can_read_sql():
        context.report.add(
            "missing-extra",
            "no SQL parser is installed, so `sql(…)` would always be indeterminate",
            span=expr.span,
            help="install it with `pip install 'placet[sql]'`",
        )
        return False
    if len(args) == 1:
        return True
    written = args[1].value
    dialect = written.value if isinstance(written, Constant) else None
    if dialect in SQL_DIALECTS:
        return True
    context.report.add(
        "unknown-dialect",
        f"`{dialect}` is not a supported SQL dialect"
        if isinstance(dialect, str)
        else "the dialect of `sql(…)` must be a constant",
        span=expr.args[1].span,
        help=(did_you_mean(dialect, SQL_DIALECTS) if isinstance(dialect, str) else "")
        or f"there are {', '.join(f'`{name}`' for name in SQL_DIALECTS)}",
    )
    return False
