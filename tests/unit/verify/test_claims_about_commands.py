"""Which claims about commands are decided that people may make of scripts."""

from __future__ import annotations

import pytest

from policy.catalog import builtin_catalog
from policy.generation import shipped_profiles
from policy.verify import Proof, prove
from tests.laws.engine import build_over
from tests.laws.policies import GLOBAL, PolicyText

_SETS = (
    'commands look = "ls *", "cat *", "rg *", "git status *", "git log *", "git diff *", "wc *"',
    'commands build = "pytest *", "npm test", "npm run build", "make check", "cargo test *"',
    'commands publish = "git push *", "npm publish *", "docker push *"',
)
# Only what is listed may run.
_LISTED = (
    *_SETS,
    "look: allow bash_exec when runs only look",
    "build: allow bash_exec when runs only build",
    'redirected: allow bash_exec when runs only look and writes only "/tmp/**"',
    'push: allow bash_exec when runs only ["git add *", "git commit -m *", "git push origin main"]'
    " with approval",
)
_CLAIMS_OF_LISTED = (
    ('never allow bash_exec when runs "rm *"', "holds"),
    ('never allow bash_exec when runs ["sudo *", "su *", "doas *"]', "holds"),
    ('never allow bash_exec when runs ["curl *", "wget *", "nc *"]', "holds"),
    ('never allow bash_exec when runs "ssh *"', "holds"),
    ('never allow bash_exec when runs "chmod *"', "holds"),
    ('never allow bash_exec when runs ["bash *", "sh *"]', "holds"),
    ('never allow bash_exec when runs "python *"', "holds"),
    ('never allow bash_exec when runs "docker *"', "holds"),
    ('never allow bash_exec when runs ["kubectl *", "terraform *", "aws *"]', "holds"),
    ('never allow bash_exec when runs "find * -delete"', "holds"),
    ("never allow bash_exec when runs publish", "holds"),
    ('never allow bash_exec when runs "git push *"', "holds"),
    ('always deny bash_exec when runs "git push --force *"', "holds"),
    ('always deny bash_exec when runs "git push *"', "broken"),
    ('never allow bash_exec when runs "git config *"', "holds"),
    ('never allow bash_exec when runs "git reset --hard *"', "holds"),
    ('always deny bash_exec when runs "npm publish *"', "holds"),
    ('never allow bash_exec when runs "npm install *"', "holds"),
    ('never allow bash_exec when runs "npm run deploy *"', "holds"),
    ('never allow bash_exec when runs "make deploy"', "holds"),
    ('never allow bash_exec when runs "cargo run *"', "holds"),
    # What has a redirection is outside, unless a pattern spells it.
    ("never allow bash_exec when runs outside [look, build]", "broken"),
    ('never allow bash_exec when runs "git status"', "broken"),
    ('never allow bash_exec when runs "pytest *"', "broken"),
    ('never allow bash_exec when runs "git log --output=*"', "holds"),
    # Which settings do harm depends on their text.
    ('never allow bash_exec when runs "git -c * log"', "undecided"),
)
# Everything may run but for what rules name.
_DENIED = (
    *_SETS,
    "any: allow bash_exec when runs anything and reads anything and writes anything"
    " and connects to anything and sends to anything",
    'root: deny bash_exec when runs ["sudo *", "su *"]',
    'remove: deny bash_exec when runs "rm *"',
    "publish: deny bash_exec when runs publish",
    'cluster: deny bash_exec when runs ["kubectl delete *", "aws s3 rm *"]',
    'web: deny bash_exec when runs "curl *"',
    "others: ask bash_exec when runs outside [look, build]",
)
_CLAIMS_OF_DENIED = (
    ('always deny bash_exec when runs "rm -rf *"', "holds"),
    ('always deny bash_exec when runs ["rm -rf /", "rm -rf ~"]', "holds"),
    ('always deny bash_exec when runs "sudo *"', "holds"),
    ('always deny bash_exec when runs "git push --force *"', "holds"),
    ('always deny bash_exec when runs "git push origin main"', "holds"),
    ('always deny bash_exec when runs ["curl -X POST *", "curl -d *"]', "holds"),
    ('always deny bash_exec when runs "kubectl delete namespace *"', "holds"),
    ('always deny bash_exec when runs "aws s3 rm --recursive *"', "holds"),
    ('never allow bash_exec when runs "wget *"', "holds"),
    ("never allow bash_exec when runs outside [look, build, publish]", "holds"),
    ('never allow bash_exec when runs outside ["ls *", "cat *", "git *"]', "broken"),
    ('never allow bash_exec when runs "git log *"', "broken"),
    # Which words of `sudo` are a command is not compared.
    ('always deny bash_exec when runs "sudo rm *"', "undecided"),
)


def _proofs(rules: tuple[str, ...], claims: tuple[tuple[str, str], ...]) -> list[Proof]:
    statements = ("policy for every agent", "default deny", *rules)
    claimed = tuple(f"prove {claim}" for claim, _ in claims)
    policy = PolicyText(files=((GLOBAL, (*statements, *claimed)),))
    return list(prove(build_over(policy, builtin_catalog(), profiles=shipped_profiles())))


@pytest.mark.parametrize(
    ("rules", "claims"),
    [(_LISTED, _CLAIMS_OF_LISTED), (_DENIED, _CLAIMS_OF_DENIED)],
    ids=["listed", "denied"],
)
def test_claims_about_commands_are_decided(
    rules: tuple[str, ...], claims: tuple[tuple[str, str], ...]
) -> None:
    found = [(proof.invariant.text, proof.status) for proof in _proofs(rules, claims)]
    assert found == [(f"prove {claim}", status) for claim, status in claims]


@pytest.mark.parametrize(
    ("allowed", "claimed"),
    [
        # Words of a program without a profile, and those that a program passes on, may be commands.
        ('"foo *"', "rm *"),
        ('"npm run *"', "rm *"),
        # `env` needs no pattern, and a wildcard is any program.
        ('"ls *"', "env *"),
        ('"*"', "rm *"),
        ('"docker container rm *"', "docker rm *"),
        ('"make *"', "make deploy"),
    ],
)
def test_commands_that_may_run_all_the_same_are_not_excluded(allowed: str, claimed: str) -> None:
    rules = (f"allow bash_exec when runs only {allowed}",)
    (found,) = _proofs(rules, ((f'never allow bash_exec when runs "{claimed}"', ""),))
    assert found.status != "holds"


# No `*` covers a guarded option, however it is spelled.
_ALL_GIT = 'git: allow bash_exec when runs only "git *"'
_ANY = (
    "any: allow bash_exec when runs anything and reads anything and writes anything"
    " and connects to anything and sends to anything"
)
_OPTIONS = (
    (_ALL_GIT, 'runs "git push --force *"', "holds"),
    (_ALL_GIT, 'runs "git push -f origin main"', "holds"),
    (_ALL_GIT, 'runs "git push --force-with-lease*"', "holds"),
    (_ALL_GIT, 'runs "git log --output=*"', "holds"),
    ('git: allow bash_exec when runs only "git push *"', 'runs "git push --force *"', "holds"),
    # `--force-if-includes` alone forces nothing, and is covered.
    (_ALL_GIT, 'runs "git push --force*"', "broken"),
    (_ALL_GIT, 'runs "git commit --amend *"', "broken"),
    ('git: allow bash_exec when runs only "git push --force *"', 'runs "git push -f *"', "broken"),
    (f'{_ANY}\nf: deny bash_exec when runs "git push --force *"', 'runs "git push -f x"', "holds"),
    (f'{_ANY}\nf: deny bash_exec when runs "rm -r -f *"', 'runs "rm -fr --verbose *"', "holds"),
    (f'{_ANY}\nf: deny bash_exec when runs "rm -rf *"', 'runs "rm -r *"', "broken"),
)


@pytest.mark.parametrize(("rules", "claim", "status"), _OPTIONS)
def test_claims_about_options_are_decided(rules: str, claim: str, status: str) -> None:
    (found,) = _proofs(tuple(rules.splitlines()), ((f"never allow bash_exec when {claim}", ""),))
    assert found.status == status


# One pattern with a wildcard, and claims that an everyday command of it breaks.
_GIT = 'git: allow bash_exec when runs only "git *"'
_FILLED = (
    (_GIT, 'never allow bash_exec when reads "**/.env"', "/.env"),
    (_GIT, "never allow bash_exec when connects to anything", "https://other.example/"),
    (_GIT, 'never allow bash_exec when writes outside "/tmp/**"', "git "),
    (_GIT, 'always deny bash_exec when input.command contains "rm -rf /"', "'rm -rf /'"),
    (
        f"{_GIT} and reads only workspace",
        'never allow bash_exec when reads "**/.env"',
        "/.env",
    ),
    (
        'tee: allow bash_exec when runs only "tee *" and writes only "/srv/**"',
        'never allow bash_exec when writes "/srv/x"',
        "tee /srv/x",
    ),
)


@pytest.mark.parametrize(("rule", "claim", "shown"), _FILLED)
def test_a_pattern_filled_in_with_what_a_claim_names_breaks_it(
    rule: str, claim: str, shown: str
) -> None:
    (found,) = _proofs((rule,), ((claim, "broken"),))
    assert found.counterexample is not None
    assert shown in found.counterexample.situation.input["command"]
