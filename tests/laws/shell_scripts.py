"""Generates shell scripts of nested constructs, and lists the commands `shfmt` finds in them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SHFMT = Path(sys.executable).parent / "shfmt"
_PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+-=")

# `S` stands for a script, `W` for a word, `B` for a script that may stand between back-ticks.
_SCRIPTS = [
    "P", "P", "P R", "P W R", "A=W P", "a=W", "[[ W == W ]]", "[ W = W ]", "export A=W", "P W; S",
    "P && S", "P || S", "P | S", "P & S", "P |& P", "P\nS", "P # c\nS", "a[W]=1", "a=(W W)",
    "P W W", "i=W", "i=a; S", "for i in a b\ndo S\ndone", "for i in {1..3}\ndo S\ndone", "read i",
    "cat <<E\nx $(S)\nE\nS", "cat <<'E'\nx $(S)\nE\n", "cat <<-E R\n\tx `B`\n\tE\n", "P > W",
    "cat <<E; P <<'F'\nW\nE\n$(S\nF\nP", "{ S\n}", "(S)", "{ S; } R", "! P", "time P", "coproc P",
    "if S\nthen S\nelse S\nfi", "if P; then P; elif P; then S\nfi R", "while S\ndo S\ndone R",
    "for i in W W\ndo S\ndone", "for ((i=0;i<2;i++)); do S\ndone", "until P; do P; done",
    "case W in a|'b') S\n;; (*) P;; esac", "case W in a) P;& esac", "g() { S\n}", "g() (S)",
    "function h { S\n}", "select i in W; do P; done", "P <(S) W", "P > >(S)", "P <<< W", "((x++))",
    "((x=$(S)))", "[[ -f W && ! W =~ ^(a|b)+$ ]]", "unset a", "P \\\n W", "W W",
]  # fmt: skip
_WORDS = [
    "a", "-rf", "x/y", "'b c'", '"d e"', "r''m", r"\rm", "$'t\\x41'", '$"u"', "--o=v", "é", "''",
    "$x", "${x}", '"$x"', "${x:-a}", "${#x}", '"${x%%.*}"', "$((1+2))", "~/a", "*.py", "a{b,c}d",
    "$1", '"$@"', "${a[0]}", "[ab]?", "${x/a/b}", "$?", "$(S)", '"a$(S)b"', "${x:-$(S)}", "`B`",
    '"${x:-$(S)}"', "$((1 + $(S)))", '"`B`"', '"${x:-`B`}"', "${x#`B`}", "W'q'", '${x:+"W"}', "a#b",
    '"$(P "W")"', "${a[$(S)]}", '"${x#<(S)}"', "${x:$(S):2}", "<(S)", "$(< W)", "$( (S) )", "{}",
    "!", "%", "a=b", "$i", '"$i"', "x/$i", '"${i}.c"',
]  # fmt: skip
_PROGRAMS = ["ls", "rm", "cat", "git", "touch", "cd", "g", "x.sh", "alias", "["]
_REDIRECTIONS = ["> out", "2>&1", "&> out", "< in", ">> 'a b'", "2> /dev/null", "3<&-", ">| W"]
_KINDS = {"S": _SCRIPTS, "W": _WORDS, "P": _PROGRAMS, "R": _REDIRECTIONS}
_BACKTICKED = ["ls a", "rm 'b c'", "cat x | git y", "touch $x; rm"]


@st.composite
def scripts(draw: st.DrawFn, kind: str = "S", depth: int = 4) -> str:
    """Draw a script, or another part of one, by filling in templates."""
    templates = _KINDS[kind]
    if depth <= 0:
        templates = [each for each in templates if not set(each) & set("SW")][:12]
    pieces: list[str] = []
    for char in draw(st.sampled_from(templates)):
        if char == "B":
            pieces.append(draw(st.sampled_from(_BACKTICKED)))
        elif char in _KINDS:
            pieces.append(draw(scripts(char, depth - 1)))
        else:
            pieces.append(char)
    return "".join(pieces)


def found_by_shfmt(script: str) -> list[list[str | None]] | None:
    """Return the words of each simple command, None for those not literal; None if refused."""
    run = subprocess.run(
        [SHFMT, "--to-json", "-ln", "bash"], input=script.encode(), capture_output=True, check=False
    )
    if run.returncode:
        return None
    return list(_commands(json.loads(run.stdout)))


def _commands(node: Any) -> Iterator[list[str | None]]:
    if isinstance(node, list):
        for each in node:
            yield from _commands(each)
    elif isinstance(node, dict):
        kind = node.get("Type")
        if kind == "CallExpr" and node.get("Args"):
            yield [_literal(word) for word in node["Args"]]
        elif kind == "DeclClause":
            yield [node["Variant"]["Value"]]
        elif kind == "TestClause":
            yield ["[["]
        for key, each in node.items():
            if not key.endswith("Pos") and key not in ("Pos", "End"):
                yield from _commands(each)


def _literal(word: dict[str, Any]) -> str | None:
    texts = [_literal_part(part, quoted=False) for part in word["Parts"]]
    return None if None in texts else "".join(text for text in texts if text is not None)


def _literal_part(part: dict[str, Any], *, quoted: bool) -> str | None:
    value = part.get("Value", "")
    kind = part["Type"]
    if kind == "Lit":
        return value if (quoted and "\\" not in value) or set(value) <= _PLAIN else None
    if kind == "SglQuoted":
        return None if part.get("Dollar") else value
    if kind == "DblQuoted":
        texts = [_literal_part(each, quoted=True) for each in part.get("Parts") or []]
        return None if None in texts else "".join(text for text in texts if text is not None)
    return None
