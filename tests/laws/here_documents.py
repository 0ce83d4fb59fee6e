"""Generates scripts with here-documents whose end is hard to find, wherever they may occur."""

from __future__ import annotations

from hypothesis import strategies as st

_DELIMITERS = [
    "E", "'E'", '"E"', "\\E", "''", "E'F'", "\\\nE", "E\\\nF",
    "'E F'", "E)", "'E)'", "-E", "'E\tF'",
    "'\tE'", "E#", "E}", "E`", "$E", "'E`'",
]  # fmt: skip
# Lines that end one, or nearly; `pwn` runs where a shell takes a line for a command.
_LINES = [
    "E", "E pwn", "E)", "E pwn)", "E ) pwn", "\tE", "\t\tE pwn )", " E", "E ", "EF", "E\\", "\\E",
    "E F", "E)\\", "pwn", "$(pwn)", "`pwn`", "x", "\\", "", "E\\\\", ")", "E;pwn", "E}", "`", "E`",
    "\tE)", "E;;", "esac", "'", '"', "${x:-$(pwn)}", "E #", "F", "EF )", "\\`pwn\\`", "\t", "\tEF",
    "-E",
]  # fmt: skip
# Where they begin is a `B`; their text follows with the next line.
_SCRIPTS = [
    "x=$(cat B\n)", "cat B\n", "cat <(cat B\n)", "`cat B\n`", '"$(cat B\n)"',
    "$(case a in a) cat B\n;; esac)", "$(case a in (a) cat B\n;; esac)", "{ cat B\n}",
    "$( (cat B\n) )", "f() { cat B\n}; f", "echo `cat B\n`", 'echo "`cat B\n`"',
    "$((1+$(cat B\n)))", "${x:-$(cat B\n)}", "${x:-`cat B\n`}", "x=$(cat B\n); y B\n",
    "if cat B\nthen y B\nfi", "[[ $(cat B\n) ]]", "a=(B\n)", "a=($(cat B\n))",
    "cat B | y B\n", "cat B && y B\n", "x=$(y `cat B\n`\n)", "x=`y $(cat B\n)`",
    "for i in 1; do cat B\ndone", "$(cat B\n) B\n", "cat B 'q\nq'\n", "cat B \\\n z\n",
    "x=$(cat B # c )\n)", "cat B # E\n", "((1)) B\n", "cat B\n \n", "$(< B\n)",
    "x=$(y; cat B B\n)", "x=$(cat B\ny; y)", "x=$(if cat B\nthen y; y; fi)",
]  # fmt: skip
_OPERATORS = ["<<", "<<", "<<-", "<< ", "3<<"]
_QUOTES = str.maketrans("", "", "'\"\\\n")


@st.composite
def here_documents(draw: st.DrawFn) -> str:
    """Draw a script with at least one here-document."""
    script: list[str] = []
    begun: list[str] = []
    for char in draw(st.sampled_from(_SCRIPTS)):
        if char == "B":
            delimiter = draw(st.sampled_from(_DELIMITERS))
            script += (draw(st.sampled_from(_OPERATORS)), delimiter)
            begun.append(delimiter.translate(_QUOTES))
        else:
            script.append(char)
        if char == "\n":
            for end in begun:
                script += (f"{line}\n" for line in draw(st.lists(_LINE, max_size=4)))
                script.append(draw(st.sampled_from([end, end, end, f"\t{end}"]) | _LINE))
                script.append(draw(st.sampled_from(["\n", "\n", "\n", "", " pwn\n", ")\n"])))
            begun = []
    return "".join((*script, draw(st.sampled_from(["", "\n", "\npwn2\n", "E\npwn2"]))))


_LINE = st.sampled_from(_LINES)
