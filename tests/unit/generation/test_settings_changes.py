"""In which direction an edit of placet.toml goes: what tightens, and never its opposite."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.verify import compare

HEAD = "policy for every agent\ndefault deny\n"
ANN = f'[serve.clients.ann]\ntoken = "sha256:{"a" * 64}"\nuser = "ann"\n'
BOB = f'[serve.clients.bob]\ntoken = "sha256:{"b" * 64}"\nuser = "bob"\n'
OPS = 'groups = ["ops"]\n'
JWT = (
    '[serve.jwt]\nissuer = "https://login.example"\naudience = "https://placet.example"\n'
    'jwks = "https://login.example/keys"\n'
)
NAMED = '[sandbox]\ndriver = "bubblewrap"\n'
CODE = HEAD + 'allow bash_exec when runs only "make *" and {} only {}\n'

# Tables before and after an edit that tightens.
TIGHTER: dict[str, tuple[str, str]] = {
    "a client": (ANN + BOB, ANN),
    "the last client": (ANN, ""),
    "a group of a client": (ANN + OPS + BOB, ANN + BOB),
    "a client and a group of another": (ANN + OPS + BOB, ANN),
    "an issuer of tokens": (ANN + JWT, ANN),
    "the size of a message": ("", "[serve]\nmessage_bytes = 1_000\n"),
    "a person of a group": (
        '[approvals.groups]\nfinance = ["ann", "bob"]\n',
        '[approvals.groups]\nfinance = ["ann"]\n',
    ),
    "all people of a group": (
        '[approvals.groups]\nfinance = ["ann"]\nops = ["bob"]\n',
        '[approvals.groups]\nops = ["bob"]\n',
    ),
    "how long a question waits": ('[approvals]\ntimeout = "5m"\n', '[approvals]\ntimeout = "1m"\n'),
    "how many questions wait": ("[approvals]\nper_session = 9\n", "[approvals]\nper_session = 2\n"),
    "where questions are asked": ('[approvals]\nask = "both"\n', '[approvals]\nask = "queue"\n'),
    "all hosts": ('[sandbox]\nnetwork = "all"\n', '[sandbox]\nnetwork = "none"\n'),
    "all hosts but some": (
        '[sandbox]\nnetwork = "all"\n',
        '[sandbox]\nnetwork = "hosts"\nconnects = ["a.example"]\n',
    ),
    "a host": (
        '[sandbox]\nnetwork = "hosts"\nconnects = ["a.example", "b.example"]\n',
        '[sandbox]\nnetwork = "hosts"\nconnects = ["a.example"]\n',
    ),
    "a folder that is read": ('[sandbox]\nreads = ["/etc"]\n', "[sandbox]\n"),
    "a folder that is written": (
        '[sandbox]\nwrites = ["/srv/a", "/srv/b"]\n',
        '[sandbox]\nwrites = ["/srv/a"]\n',
    ),
    "a folder that is read alone": (
        '[sandbox]\nwrites = ["/srv/a"]\n',
        '[sandbox]\nreads = ["/srv/a"]\n',
    ),
    "a limit of processes": (
        '[sandbox.limits]\nmemory = 2_000_000_000\n',
        '[sandbox.limits]\nmemory = 1_000_000_000\n',
    ),
    "a sandbox that is required": ("[sandbox]\nrequired = false\n", "[sandbox]\nrequired = true\n"),
    "the time of a command": ("", '[service.bash]\ntimeout = "5s"\n'),
    "the output of a command": ("", "[service.bash]\noutput = 1_000\n"),
    "the time of a page": ("", '[service.web]\ntimeout = "5s"\n'),
    "the size of a page": ("", "[service.web]\nbody = 1_000\n"),
    "the size of an installation": ("", "[service.python]\nsize = 1_000\n"),
    "who clears sessions": ('[history]\nclear = ["ann", "bob"]\n', '[history]\nclear = ["ann"]\n'),
    "what new tools get": ('[pins]\nnew = "ask"\n', '[pins]\nnew = "deny"\n'),
}  # fmt: skip
# Edits of which neither direction is known, and rules with which a stricter setting grants.
UNCLEAR: dict[str, tuple[str, str, str]] = {
    "another token": (HEAD, ANN, ANN.replace("a" * 64, "c" * 64)),
    "another user": (HEAD, ANN, ANN.replace('user = "ann"', 'user = "bob"')),
    "a renamed client": (HEAD, ANN, ANN.replace("clients.ann", "clients.amy")),
    "a group that a rule restricts": (
        HEAD + 'deny * when "ops" in user.groups\n',
        ANN + OPS,
        ANN,
    ),
    "a group that an approval depends on": (
        HEAD + 'allow file_read\nallow file_read when "ops" in user.groups with approval\n',
        ANN + OPS,
        ANN,
    ),
    "a group that a limit depends on": (
        HEAD + 'allow file_read\nlimit file_read to 5 per day when "ops" in user.groups\n',
        ANN + OPS,
        ANN,
    ),
    "callers without a group": (
        HEAD + 'few: allow file_read when not ("ops" in user.groups)\n',
        ANN + OPS,
        ANN,
    ),
    "a table that names an agent": (
        HEAD + 'allow file_read when agent.name == "default"\n',
        "",
        "[serve]\nmessage_bytes = 1_000\n",
    ),
    "other people in a group": (
        HEAD,
        '[approvals.groups]\nfinance = ["ann"]\n',
        '[approvals.groups]\nfinance = ["bob"]\n',
    ),
    "other people who are asked": (
        HEAD,
        '[approvals]\nask = "queue"\n',
        '[approvals]\nask = "client"\n',
    ),
    "another folder": (HEAD, '[sandbox]\nreads = ["/etc"]\n', '[sandbox]\nreads = ["/srv"]\n'),
    "fewer folders, and more hosts": (
        HEAD,
        '[sandbox]\nreads = ["/etc"]\n',
        '[sandbox]\nnetwork = "all"\n',
    ),
    "connections that the sandbox now bounds": (
        CODE.format("connects", 'to "a.example"'),
        NAMED + 'network = "all"\n',
        NAMED + 'network = "none"\n',
    ),
    "files that the sandbox now bounds": (
        CODE.format("reads", "workspace"),
        NAMED + "required = false\n",
        NAMED,
    ),
    "the fact that a sandbox is there": (
        HEAD + 'allow file_read\nallow bash_exec when sandbox.tier == "bubblewrap"\n',
        NAMED + "required = false\n",
        NAMED,
    ),
    "where programs are found": (HEAD, "", '[service.bash]\npath = ["bin"]\n'),
    "the workspace": (HEAD, "", '[service]\nworkspace = "/srv"\n'),
}  # fmt: skip
# Rules beside which fewer groups are tighter.
OF_GROUPS = (
    'allow file_read when "ops" in user.groups',
    'allow file_read when "ops" in user.groups or "dev" in user.groups',
    'allow file_read\ndeny file_read unless "ops" in user.groups',
    'allow file_read\nask file_read when not ("ops" in user.groups)',
)


def _directions(tmp_path: Path, rules: str, *tables: str) -> tuple[set[str], bool]:
    """Return the directions of an edit of placet.toml, and whether it is held."""
    loaded = []
    for name, text in zip(("before", "after"), tables, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "global.policy").write_text(rules)
        (tmp_path / name / "placet.toml").write_text(text)
        loaded.append(policy.load(tmp_path / name))
    found = compare(*loaded)
    return {one.direction for one in found.changes if one.kind == "setting"}, found.may_loosen


@pytest.mark.parametrize("kind", TIGHTER)
def test_an_edit_that_only_tightens_is_not_held(tmp_path: Path, kind: str) -> None:
    assert _directions(tmp_path, HEAD, *TIGHTER[kind]) == ({"tighter"}, False)


@pytest.mark.parametrize("kind", TIGHTER)
def test_its_opposite_is_held(tmp_path: Path, kind: str) -> None:
    assert _directions(tmp_path, HEAD, *reversed(TIGHTER[kind])) == ({"looser"}, True)


@pytest.mark.parametrize("kind", UNCLEAR)
def test_what_may_loosen_is_held(tmp_path: Path, kind: str) -> None:
    rules, before, after = UNCLEAR[kind]
    _, held = _directions(tmp_path, rules, before, after)
    assert held


@pytest.mark.parametrize("rules", OF_GROUPS)
def test_fewer_groups_are_tighter_where_they_grant(tmp_path: Path, rules: str) -> None:
    assert not _directions(tmp_path, HEAD + rules + "\n", ANN + OPS, ANN)[1]
