"""Compare printing a script with deciding it: `python -m bench.printing`, a few seconds.

Both are of scripts that were never seen before. A script is printed once, after it was allowed; the
exit status is 1 where that takes more than 1.3 times as long as the decision of a command.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import policy
from bench.resources_commands import RULES
from bench.timing import median, timed
from policy.model import Facts, Resolvers
from policy.shell import printed

_SCRIPTS = (
    "git status -u {}",
    "cat a{}.txt | head -5 > 'out {}.txt'",
    "cd src{} && grep -rn TODO . | sort | uniq -c",
    'for f in *.py; do echo "$f: $(wc -l < "$f") {}"; done',
    "git commit -m \"$(cat <<'EOF'\nfix: thing {}\n\nIt's done (really).\nEOF\n)\"",
    "if [ -f a{} ]; then cat a{}; else echo `date` >> log; fi",
)
_ROUNDS = 200
_MOST = 1.3


def main() -> int:
    """Print the median ratio over all scripts, and tell whether it is small enough."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "a.policy"
        rules.write_text(RULES)
        generation = policy.load(rules)
    facts = Facts(
        cwd="/w", workspace="/w", home="/home/u", resolvers=Resolvers(path=lambda path: path)
    )
    ratios: list[float] = []
    for number in range(_ROUNDS):
        for form in _SCRIPTS:
            script = form.replace("{}", str(number))
            call = policy.ToolCall(tool="bash_exec", input={"command": script})
            deciding = timed(partial(generation.decide, call, facts=facts))
            ratios.append(timed(partial(printed, script)) / deciding)
    found = median(ratios)
    print(f"printing ÷ deciding: {found:.2f} (at most {_MOST})")
    return int(found > _MOST)


if __name__ == "__main__":
    sys.exit(main())
