"""The claims of the policy that ships as an example, and which claims about scripts are decided."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from policy.catalog import builtin_catalog
from policy.generation import Builder, Snapshot, read_folder, with_file
from policy.verify import Proof, prove

RULES = Path(__file__).resolve().parents[3] / "rules"
GLOBAL = "global.policy"
# What a person may want to know of the scripts that agents run, by whether it is decided.
DECIDED = (
    'never allow bash_exec when writes "**/.git/**"',
    'always deny bash_exec when reads "~/.aws/credentials"',
    'always deny bash_exec when reads "**/.env"',
    "always deny bash_exec when connects to [metadata, loopback] unless connects only to internal",
    "never allow bash_exec when reads outside workspace",
    'never allow bash_exec when session.role == "clerk" and reads "/etc/**"',
    'never allow bash_exec when runs "rm *"',
    'never allow bash_exec when runs "curl *"',
    'never allow bash_exec when runs "git push *"',
    'always deny bash_exec when runs "sudo *"',
    "never allow bash_exec when runs build",
    "always deny bash_exec when runs outside [look, build]",
)
UNDECIDED = (
    'never allow bash_exec when writes "/etc/**"',
    "never allow bash_exec when writes outside workspace",
    'never allow bash_exec when connects to "169.254.169.254"',
    "never allow bash_exec when connects to anything",
)


def _proofs(snapshot: Snapshot) -> tuple[Proof, ...]:
    settings = snapshot.files["placet.toml"].content + b'\n[reload]\nproofs = "off"\n'
    built = Builder().build(
        with_file(snapshot, "placet.toml", settings),
        catalog=builtin_catalog(),
        number=1,
        now=datetime(2026, 6, 1, tzinfo=UTC),
    )
    generation = built.generation or built.failing
    assert generation is not None, built.diagnostics
    return tuple(prove(generation))


@pytest.mark.long
def test_the_claims_of_the_example_hold() -> None:
    proofs = _proofs(read_folder(RULES))
    assert len(proofs) >= 15
    assert {proof.status for proof in proofs} == {"holds"}


@pytest.mark.long
def test_which_claims_about_scripts_are_decided() -> None:
    """What is decided stays so; what becomes decided moves up, and the page is changed."""
    found = read_folder(RULES)
    text = found.files[GLOBAL].content.decode()
    claims = "".join(f"prove {claim}\n" for claim in (*DECIDED, *UNDECIDED))
    proofs = _proofs(with_file(found, GLOBAL, f"{text}\n{claims}".encode()))
    status = {proof.invariant.text.removeprefix("prove "): proof.status for proof in proofs}
    assert [claim for claim in DECIDED if status[claim] == "undecided"] == []
    assert [claim for claim in UNDECIDED if status[claim] != "undecided"] == []
    page = RULES.parent / "docs" / "proofs.md"
    count = f"{len(DECIDED)} of {len(DECIDED) + len(UNDECIDED)} claims about scripts"
    assert count in page.read_text(encoding="utf-8")


def test_a_call_is_shown_beside_the_large_sets_of_a_pack(tmp_path: Path) -> None:
    """A folder called `.env.sample` holds no secrets, so that a file `.env` in it is read."""
    lines = (
        "policy for every agent",
        "default deny",
        'use "placet:coding" granting',
        'prove never allow file_read when reads "**/.env"',
    )
    (tmp_path / GLOBAL).write_text("\n".join(lines))
    (tmp_path / "placet.toml").write_text("")
    (found,) = _proofs(read_folder(tmp_path))
    assert found.counterexample is not None
    assert found.counterexample.situation.input["path"].endswith("/.env")
