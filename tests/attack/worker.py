"""A worker process of the attack: reads requests and writes answers as lines of JSON.

It is started inside a sandbox of its own (`crew.py`), where it has an empty network and file
systems at `/srv` and `/mnt` that end with it.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import Any

from tests.attack.judging import AllowsEverything, Judge
from tests.attack.line import attack
from tests.attack.rule_sets import BY_NAME, RuleSet
from tests.attack.sandbox import SECONDS, Sandbox
from tests.attack.scene import Scene

_MACHINERY = "/mnt"


class Arena:
    """A scene with the judges and sandboxes of all rule sets, each made when it is first used."""

    def __init__(self) -> None:
        self._scene = Scene(root=f"{_MACHINERY}/root", template=f"{_MACHINERY}/template")
        self._scene.lay_out()
        self._sandboxes: dict[str, Sandbox] = {}
        self._judges: dict[str, Judge] = {}

    def sandbox(self, rules: RuleSet) -> Sandbox:
        """Return the sandbox with the programs of a rule set."""
        if rules.name not in self._sandboxes:
            folder = f"{_MACHINERY}/programs-{len(self._sandboxes)}"
            self._sandboxes[rules.name] = Sandbox(self._scene, rules, folder)
        return self._sandboxes[rules.name]

    def judge(self, rules: RuleSet) -> Judge:
        """Return what decides under a rule set."""
        if rules.name not in self._judges:
            self._judges[rules.name] = Judge(rules)
        return self._judges[rules.name]


def main() -> int:
    """Answer requests until there are no more."""
    arena = Arena()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        rules = BY_NAME[request["rules"]]
        answers.write(json.dumps(_answer(arena, rules, request)) + "\n")
        answers.flush()
    return 0


def _answer(arena: Arena, rules: RuleSet, request: dict[str, Any]) -> dict[str, Any]:
    if "script" in request:
        return _tried(arena, rules, request)
    done = attack(
        AllowsEverything() if request.get("judge") == "everything" else arena.judge(rules),
        arena.sandbox(rules),
        rules,
        seed=request["seed"],
        number=request["number"],
        length=request["length"],
    )
    return {"rules": rules.name, **asdict(done)}


def _tried(arena: Arena, rules: RuleSet, request: dict[str, Any]) -> dict[str, Any]:
    """Run one script, whatever the policy says of it or only if allowed, and tell what it says."""
    script = request["script"]
    allowed = arena.judge(rules).judged(script).allowed
    runs = allowed or not request.get("if_allowed")
    happened = arena.sandbox(rules).run(script, request.get("seconds", SECONDS)) if runs else []
    return {
        "allowed": allowed,
        "happened": [str(one) for one in happened],
        "forbidden": [str(one) for one in rules.bounds.forbidden(script, happened)],
    }


if __name__ == "__main__":
    sys.exit(main())
