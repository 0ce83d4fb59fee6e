"""What was measured in; the generated part of `docs/performance.md`, and its plots, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.goals import goals_table
from bench.report import about_machine, agreement, table_text
from bench.rows import Chart, Part

_DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = _DOCS / "performance.md"
PLOTS = _DOCS / "performance"
# What stands around the generated parts of the page: what is measured beside other engines, in
# another harness, of single readings, and how those grow.
MARKS = ("<!-- measured -->", "<!-- end of measured -->")
PEERS_MARKS = ("<!-- peers -->", "<!-- end of peers -->")
READING_MARKS = ("<!-- reading -->", "<!-- end of reading -->")
GROWTH_MARKS = ("<!-- growth -->", "<!-- end of growth -->")
GATEWAY_MARKS = ("<!-- gateway -->", "<!-- end of gateway -->")
# The plots that stand right before a table, by the table's title.
_BEFORE = {
    "One decision": ("decisions-full", "decisions-p99", "decisions-basic", "decisions-skew"),
    "Loading a set of rules": ("loading",),
    "Memory": ("memory",),
}


def joined(parts: Sequence[Part]) -> Part:
    """Return all parts as one; charts of one key become one, whose first part names it."""
    charts: dict[str, Chart] = {}
    for chart in (chart for part in parts for chart in part.charts):
        before = charts.get(chart.key)
        charts[chart.key] = (
            chart
            if before is None
            else Chart(
                key=chart.key,
                title=before.title or chart.title,
                unit=before.unit,
                lines={**before.lines, **chart.lines},
            )
        )
    return Part(
        tables=tuple(table for part in parts for table in part.tables),
        charts=tuple(charts.values()),
        checks=tuple(check for part in parts for check in part.checks),
        figures={name: value for part in parts for name, value in part.figures.items()},
    )


def text_of(part: Part, *, about: Mapping[str, Any], plots: str = PLOTS.name) -> str:
    """Return the measurements as Markdown; pictures are looked for in the folder `plots`."""
    drawn = {chart.key: chart for chart in part.charts}
    blocks = [about_machine(dict(about)), "### Goals", goals_table(part.figures)]
    for table in part.tables:
        keys = [key for key in _BEFORE.get(table.title, ()) if key in drawn]
        pictures = [f"![{drawn[key].title}]({plots}/{key}.svg)" for key in keys]
        head, _, rest = table_text(table).partition("\n\n")
        blocks += [head, *pictures, rest]
    blocks += ["### Agreement", agreement(part.checks)]
    return "\n\n".join(blocks) + "\n"


def keep(part: Part, text: str) -> None:
    """Write the plots, and the text between the marks of the page."""
    # Only who keeps plots needs what draws them.
    from bench.plots import svg

    PLOTS.mkdir(exist_ok=True)
    for chart in part.charts:
        (PLOTS / f"{chart.key}.svg").write_text(svg(chart), encoding="utf-8")
    write(text, MARKS)


def write(text: str, marks: tuple[str, str]) -> None:
    """Write one generated part of the page."""
    page = between_marks(PAGE.read_text(encoding="utf-8"), text, marks=marks)
    PAGE.write_text(page, encoding="utf-8")


def between_marks(page: str, text: str, *, marks: tuple[str, str]) -> str:
    """Return the page with `text` as its generated part."""
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not (begin and end):
        raise ValueError(f"the page has lost its {marks[0]} or {marks[1]}")
    return f"{before}{begin}\n\n{text}\n{end}{after}"
