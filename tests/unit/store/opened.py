"""Stores over a folder of rules, as the tests of this folder open and ask them."""

from __future__ import annotations

from pathlib import Path

import policy
from policy.model import Verdict
from policy.store import PolicyStore

CALL = policy.ToolCall(tool="file_read", input={"path": "/srv/a"})
BROKEN = "policy for every agent\ndefault deny\nallow file_raed file_list\n"


def rules(verdict: str) -> str:
    return f"policy for every agent\ndefault {verdict}\n"


def folder_of_rules(tmp_path: Path) -> Path:
    root = tmp_path / "above" / "rules"
    root.mkdir(parents=True)
    (root / "global.policy").write_text(rules("deny"))
    return root


def open_store(path: Path, **options: object) -> PolicyStore:
    return PolicyStore(path, settle=0.0, **options)  # type: ignore[arg-type]


def verdict(store: PolicyStore) -> Verdict:
    return store.decide(CALL).verdict


def number(store: PolicyStore) -> int | None:
    return None if store.current is None else store.current.id.number
