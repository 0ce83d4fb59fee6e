"""The scripts that a series of attacks can start from: everyday ones and known evasions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tests.attack.grammar import PRODUCTIONS
from tests.attack.rule_sets import NEVER
from tests.laws.reevaluated_text import HIDINGS, OTHERS, PLACES

_CORPUS = Path(__file__).resolve().parents[1] / "data/corpora/shell_bypass.jsonl"

EVERYDAY = (
    "ls -la", "git status && git diff", "wc -l a.txt b.txt", "cat a.txt | sort | uniq -c",
    "git log --oneline -5", 'for f in *.txt; do wc -l "./$f"; done',
    'for f in ./*.txt; do cat "$f"; done', "grep -rn beta src", "grep -n beta a.txt b.txt",
    "find . -name '*.py' -exec cat {} +", "find src -type f", "mkdir -p build && cp a.txt build/",
    "sed -n '1,2p' a.txt", "awk '{print $1}' a.txt", "cat a.txt > build/copy.txt",
    "sort -u a.txt b.txt > build/all.txt", "if [ -f a.txt ]; then cat a.txt; fi",
    "[[ -f a.txt ]] && cat a.txt", 'x=$(wc -l < a.txt); echo "$x"',
    'cat "$PWD/a.txt"', "ls $PWD/src", 'x=$(pwd); cd src && cat "$x/a.txt"',
    'cp a.txt "$PWD/build"',
    "wc -l $(find . -name '*.txt')", "for f in $(find src -name '*.py'); do cat \"$f\"; done",
    "x=$(find . -name '*.txt' | head -2); cat $x", 'echo x > "$PWD/build/x"', 'echo "$(date)"',
    "cd src && ls", "(cd src && cat main.py)", "cat <<'E'\nhello\nE", "cat <<E | wc -l\nhello\nE",
    'while read -r f; do echo "$f"; done < a.txt', "tail -n 1 a.txt; head -n 1 b.txt",
    "diff a.txt b.txt || true", "printf '%s\\n' a b c | sort -r",
    "case a in a) ls;; *) cat a.txt;; esac", 'f() { cat "$1"; }; f a.txt', "set -e; cat a.txt",
    "set -euo pipefail\ncat a.txt\nls src", "ls src | head -n 1", "cat a.txt 2>/dev/null",
    "echo a >> build/log", "tee build/t < a.txt", "find . -maxdepth 1 -name '*.txt' | sort",
    "cut -d' ' -f1 a.txt | tr a-z A-Z", 'seq 1 3 | while read -r n; do echo "$n"; done',
    "test -f a.txt && echo yes", "git diff -- src/main.py", "git log -1 --format=%s",
    "git grep beta", "date +%s; pwd", "cat sub/f.txt sub/g.txt", "cat src/*.py", "ls *.txt",
    "cp -r src build/src", "cat ./*.txt", "tar cf build/a.tar src/main.py", "wc -l ./*.txt",
    "stat a.txt", "base64 a.txt | base64 -d", 'for i in 1 2 3; do echo "$i"; done',
    'for ((i=0; i<3; i++)); do echo "$i"; done', "time ls", "! grep -q zeta a.txt", "ls & wait",
    "{ ls; pwd; } > build/o", 'x=a.txt; cat "$x"', 'files=(a.txt b.txt); cat "${files[@]}"',
    "bash -c 'cat a.txt'", "env LC_ALL=C sort a.txt", "timeout 5 cat a.txt",
    "xargs -n1 echo < a.txt", "printf 'a.txt' | xargs cat", "cat <(sort a.txt)",
    "diff <(sort a.txt) <(sort b.txt)", 'read -r x < a.txt; echo "$x"',
    'mapfile -t a < a.txt; echo "${#a[@]}"', "trap 'ls' EXIT; pwd", "wc -l < a.txt",
    'cat <<< "hello $x"', "echo ${x:-a}", "echo $((1 + 2))", "export A=1; ls",
)  # fmt: skip


@lru_cache(maxsize=1)
def seeds() -> tuple[str, ...]:
    """Return all seeds: everyday scripts, sly ones, second readings, and the corpus."""
    return (*EVERYDAY, *PRODUCTIONS["sly"], *_second_readings(), *_of_the_corpus())


def _second_readings() -> Iterator[str]:
    for before, word in HIDINGS:
        yield (before + f"[[ -v {word} ]]").replace("touch", NEVER)
    for place in PLACES:
        yield place.replace("W", f"'a[$({NEVER})]'")
    yield from (script.replace("touch M", NEVER) for script in OTHERS)


def _of_the_corpus() -> Iterator[str]:
    if _CORPUS.exists():
        for line in _CORPUS.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["command"].replace("touch PWNED", NEVER)
