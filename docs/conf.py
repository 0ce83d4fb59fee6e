"""Settings of the site that `make docs` builds from the pages of this folder, with Sphinx."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from policy_lexer import PolicyLexer
from sphinx.application import Sphinx

from policy.version import VERSION

project = "Placet"
author = "The maintainers of Placet"
release = VERSION
extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["decisions/0000-template.md", "_build"]
myst_heading_anchors = 4
# Links to other files of the repository become text. `tests/test_page_links.py` checks every link.
suppress_warnings = ["myst.xref_missing"]
html_theme = "furo"
html_title = "Placet"
html_show_copyright = False
copybutton_prompt_text = "$ "


def setup(app: Sphinx) -> None:
    """Add the highlighting of rule files."""
    app.add_lexer("policy", PolicyLexer)
