"""Claims about sets of paths: inclusion, exceptions, `**/`, folders and trees."""

from __future__ import annotations

import pytest

from policy.catalog import Resource
from tests.unit.verify.file_tools import COPY, READ, TEXT
from tests.unit.verify.proving import proof, tool

TREE = tool("grep", {"path": TEXT}, Resource(verb="reads", steps=("path",), tree=True))
SCRIPT = tool("sh", {"command": TEXT}, Resource(verb="runs", steps=("command",)))


@pytest.mark.parametrize(
    ("rules", "claim", "status"),
    [
        # An item that begins with `**/` includes what says more.
        (('deny read when reads "**/.env"',), 'reads "/srv/**/.env"', "holds"),
        (('deny read when reads "**/.ssh/**"',), 'reads "~/.ssh/id_rsa"', "holds"),
        (('deny read when reads "**/.env*"',), 'reads ["/srv/.env", "/srv/.env.local"]', "holds"),
        (('deny read when reads "**/.env"',), 'reads "**/.env*"', "broken"),
        (('deny read when reads "~/**/*.pem"',), 'reads "**/*.pem"', "broken"),
        # Several sets together.
        (
            ('deny read when reads "/srv/a*/**"', 'deny read when reads "/srv/b*/**"'),
            'reads ["/srv/a1/**", "/srv/b1/**"]',
            "holds",
        ),
        (
            ('deny read when reads "/a/**"', 'deny read when reads outside "/a/**"'),
            'reads "**"',
            "holds",
        ),
        (
            ('paths keys = "**/*.pem" except "**/test/**"', "deny read when reads keys"),
            'reads "/srv/**/*.pem"',
            "broken",
        ),
        (
            ('paths keys = "**/*.pem" except "**/test/**"', "deny read when reads keys"),
            'reads "/srv/x.pem"',
            "holds",
        ),
        (
            ('paths keys = "**/*.pem" except "**/test/**"', "deny read when reads keys"),
            'reads "/srv/test/x.pem"',
            "broken",
        ),
        # The folders of the caller and of the workspace.
        (('deny read when reads "./**"',), "reads workspace", "holds"),
        (('deny read when reads "./secret/**"',), 'reads "**/secret/**"', "broken"),
        (('deny read when reads "**/secret/**"',), 'reads "./a/secret/b"', "holds"),
    ],
)
def test_a_claim_about_a_file_is_decided(rules: tuple[str, ...], claim: str, status: str) -> None:
    allowed = ("allow read when reads anything", *rules)
    assert proof(f"prove never allow read when {claim}", *allowed, specs=(READ,)).status == status


@pytest.mark.parametrize(
    ("allowed", "claim", "status"),
    [
        ('reads only ["/srv/**", "**/*.md"]', 'reads "/etc/**"', "broken"),
        ('reads only ["/srv/**", "/opt/*.md"]', 'reads "/etc/**"', "holds"),
        ('reads only "/srv/**"', 'reads outside ["/srv/**", "/opt/**"]', "holds"),
        ('reads only "/srv/**"', 'reads outside "/srv/jobs/**"', "broken"),
    ],
)
def test_what_an_allow_leaves_out_is_not_allowed(allowed: str, claim: str, status: str) -> None:
    rule = f"allow read when {allowed}"
    assert proof(f"prove never allow read when {claim}", rule, specs=(READ,)).status == status


def test_a_path_that_breaks_a_claim_is_short() -> None:
    found = proof(
        'prove never allow read when reads "**/*.pem"',
        'allow read when reads only "/srv/**"',
        'deny read when reads ["/srv/*/*.pem", "/srv/*.pem"]',
        specs=(READ,),
    )
    assert found.counterexample is not None
    assert found.counterexample.situation.input == {"path": "/srv/a/a/.pem"}


def test_each_verb_has_paths_of_its_own() -> None:
    rules = (
        'allow copy when reads only "/srv/**" and writes only "/tmp/**"',
        'deny copy when reads "**/.env"',
    )
    for claim, status in (
        ('reads "/srv/a/.env"', "holds"),
        ('writes "**/.env"', "broken"),
        ('writes "/srv/**"', "holds"),
        ('reads "**/.env" and writes "/tmp/**"', "holds"),
    ):
        assert proof(f"prove never allow copy when {claim}", *rules, specs=(COPY,)).status == status


@pytest.mark.parametrize("spec", [TREE, SCRIPT], ids=["tree", "script"])
def test_a_tree_is_not_taken_for_the_files_below_it(spec: object) -> None:
    """The rule matches a tree only as it is spelled, or by what the disk holds."""
    name = spec.name  # type: ignore[attr-defined]
    allow = f"allow {name} when reads anything" + (" and runs anything" if spec is SCRIPT else "")
    found = proof(
        f'prove never allow {name} when reads "/srv/.env"',
        allow,
        f'deny {name} when reads "**/.env"',
        specs=(spec,),  # type: ignore[arg-type]
    )
    assert found.status != "holds"


def test_rooted_sets_of_trees_are_decided() -> None:
    rules = (
        'paths common = "/srv/**", "/opt/**" except "/srv/private/**"',
        "allow grep when reads only common",
        'deny grep when reads "/opt/a*/**"',
    )
    for claim, status in (
        ('reads "/srv/private/x"', "holds"),
        ('reads "/opt/ab/c"', "holds"),
        ('reads "/home/**"', "holds"),
        ('reads "/opt/b/**"', "broken"),
    ):
        assert proof(f"prove never allow grep when {claim}", *rules, specs=(TREE,)).status == status
