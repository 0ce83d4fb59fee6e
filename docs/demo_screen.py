"""Draws what `placet demo` prints on a terminal, as an SVG file for the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parent / "pictures" / "demo.svg"

_WIDTH_OF_LETTER, _HEIGHT_OF_LINE, _MARGIN = 7.6, 18, 18
_PLAIN = "#d0d7de"
_COLOURS = {"1": "#ffffff", "2": "#8b949e", "31": "#ff7b72", "32": "#56d364", "33": "#e3b341"}
_COLOURS["36"] = "#79c0ff"
_STYLED = re.compile(r"\x1b\[([\d;]*)m")
_VARYING = (
    (re.compile(r"placet-demo-\w+"), "placet-demo"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:43210"),
)


def screen() -> str:
    """Return what the demo prints on a terminal, with its colours."""
    terminal, end = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "policy", "demo"], stdin=end, stdout=end, env=environment
    ):
        os.close(end)
        printed = b"".join(_pieces(terminal))
    return without_what_varies(printed.decode("utf-8").replace("\r\n", "\n"))


def without_what_varies(printed: str) -> str:
    """Return the text with one name for the temporary folder and one for the port."""
    for pattern, instead in _VARYING:
        printed = pattern.sub(instead, printed)
    return printed


def _pieces(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            return
        if not piece:
            return
        yield piece


def drawn(printed: str) -> str:
    """Return an SVG picture of a screen."""
    lines = printed.strip("\n").split("\n")
    longest = max(len(_STYLED.sub("", line)) for line in lines)
    width = round(longest * _WIDTH_OF_LETTER + 2 * _MARGIN)
    height = len(lines) * _HEIGHT_OF_LINE + 2 * _MARGIN
    rows = "\n".join(
        # Browsers set `white-space` of each `text`, so that it is not inherited.
        f'<text x="{_MARGIN}" y="{_MARGIN + 13 + number * _HEIGHT_OF_LINE}" '
        f'style="white-space: pre">{_row(line)}</text>'
        for number, line in enumerate(lines)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="The output of placet demo" font-size="12.6" '
        "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n'
        f'<g fill="{_PLAIN}" xml:space="preserve">\n{rows}\n</g>\n</svg>\n'
    )


def _row(line: str) -> str:
    """Return a line with a `tspan` for each piece of one style."""
    pieces = _STYLED.split(line)
    row = escape(pieces[0], quote=False)
    style: list[str] = []
    for codes, text in zip(pieces[1::2], pieces[2::2], strict=True):
        # Styles add up until they are reset.
        style = [] if codes in ("", "0") else [*style, *codes.split(";")]
        shown = escape(text, quote=False)
        colour = _colour(style)
        row += f'<tspan fill="{colour}">{shown}</tspan>' if colour and text else shown
    return row


def _colour(style: list[str]) -> str | None:
    """Return the colour of a style; what is bold is white, unless it has a colour as well."""
    colours = [_COLOURS[code] for code in style if code in _COLOURS]
    return max(colours, key=lambda colour: colour != _COLOURS["1"], default=None)


if __name__ == "__main__":
    PICTURE.write_text(drawn(screen()), "utf-8")
