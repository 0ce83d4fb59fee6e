"""A chart in; an SVG that reads well on light and dark pages, the same each time, out."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bench.rows import Chart

# Of middling lightness, so that they stand out from white and from black; ours is the warm one.
_COLOURS = {
    "placet": "#e8590c",
    "placet, raw call": "#f59f00",
    "placet, one rule edited": "#d6336c",
    "floor": "#868e96",
    "cedarpy": "#1c7ed6",
    "cedarpy per tool": "#4dabf7",
    "cel-expr-python": "#2f9e44",
}
_OTHER = "#7048e8"
_DASHED = frozenset({"floor", "cedarpy per tool", "placet, raw call"})
# Stands for the colour of the text around the picture, whatever that is.
_INK = "#010203"
_STYLE = (
    "svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}"
    "text{font-family:system-ui,sans-serif}"
)
# Nothing of when and by what it was drawn.
_UNSAID = {"Date": None, "Creator": None, "Format": None, "Type": None}
_SETTINGS: Any = {
    "svg.hashsalt": "placet",
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def svg(chart: Chart) -> str:
    """Return the chart as an SVG with both axes logarithmic."""
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.subplots()
        for name, points in chart.lines.items():
            drawn = [(x, y) for x, y in points if y > 0]
            if not drawn:
                continue
            axes.plot(
                *zip(*drawn, strict=True),
                label=name,
                color=_COLOURS.get(name, _OTHER),
                linestyle="--" if name in _DASHED else "-",
                linewidth=2.4 if name == "placet" else 1.6,
                marker="o",
                markersize=4,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("rules")
        axes.set_ylabel(chart.unit)
        axes.set_title(chart.title, loc="left")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(_plain))
        axes.minorticks_off()
        axes.grid(visible=True, which="major", color=_INK, alpha=0.15, linewidth=0.6)
        axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
        written = StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata=_UNSAID)
    return _themed(written.getvalue())


def _plain(value: float, _position: int) -> str:
    """Return 10,000 or 0.1, never a power of ten."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _themed(text: str) -> str:
    """Let what is drawn in ink follow the reader's page."""
    text = text.replace(_INK, "currentColor")
    text = re.sub(r"(<style type=\"text/css\">)", rf"\g<1>{_STYLE}", text, count=1)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
