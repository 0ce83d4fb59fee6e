"""No rule lets an agent run a command that is for people only, however it is spelled.

Unless the rule spells the command word for word, or lets code run that nobody sees.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.model import Caller, Facts, ToolCall, Verdict

COMMANDS = (
    "approvals approve 3f9a",
    "approvals deny 3f9a",
    "approvals revoke 3f9a",
    "config set permissions.tools.bash_exec allow",
    "config unset permissions.tools.bash_exec",
    "daemon stop",
    "freeze --because x",
    "hook claude-code --install --policy /tmp/lax",
    "gateway rules --unwrap .mcp.json",
    "gateway rules --wrap .mcp.json",
    "hook claude-code --uninstall",
    "pin accept github",
    "pin forget github",
    "sessions clear desk --because x",
    "unfreeze",
)
SPELLINGS = (
    "placet {}",
    "/opt/placet/bin/placet {}",
    ".venv/bin/placet {}",
    "cd .venv/bin && ./placet {}",
    "python -m policy {}",
    "python3.11 -I -m policy {}",
    "/opt/placet/bin/python -m policy.cli {}",
    "python -m policy.__main__ {}",
    ".venv/bin/python -m policy.__main__ {}",
    "python -m policy.daemon {}",
    "python -m cProfile -m policy {}",
    "python -m pdb -m policy {}",
    "python -m runpy policy {}",
    "python -m trace --trace --module policy {}",
    "coverage run -m policy {}",
    "coverage run --branch -m policy.cli {}",
    "coverage run -m policy.__main__ {}",
    "python -m coverage run -m policy {}",
    "uv run -m policy {}",
    "uv run --module policy {}",
    "uv run -m coverage run -m policy {}",
    "uv run python -m policy.__main__ {}",
    "pdm run python -m policy {}",
    "hatch run python -m policy.cli {}",
    "uv run placet {}",
    "uv run python -m policy {}",
    "uvx placet {}",
    "uvx --from placet placet {}",
    "pipx run placet {}",
    "poetry run placet {}",
    "env -u CLAUDECODE placet {}",
    "env -i /usr/bin/placet {}",
    "CLAUDECODE= placet {}",
    "unset CLAUDECODE; placet {}",
    "PATH=.venv/bin placet {}",
    "bash -c 'placet {}'",
    "sh -c 'env -u CLAUDECODE placet {}'",
    "eval 'placet {}'",
    "alias p=placet; p {}",
    "f() {{ placet {}; }}; f",
    "P=placet; $P {}",
    "pla''cet {}",
    "\\placet {}",
    "command placet {}",
    "exec -a ls placet {}",
    "echo $(placet {})",
    "placet {} > /dev/null 2>&1 &",
    "true && placet {} || true",
    "nohup setsid placet {}",
    "nodemon -x 'placet {}'",
    "nodemon --exec='placet {}'",
    "tsup --onSuccess 'placet {}'",
    "concurrently 'npm start' 'placet {}'",
    "gotestsum --post-run-command 'python -m policy {}'",
    "lerna exec -- placet {}",
    "frobnicate 'cd x && placet {}'",
    "frobnicate --hook='system(\"placet {}\")'",
    "timeout 5 nice placet {}",
    "script -qc 'placet {}' /dev/null",
    "find . -maxdepth 0 -exec placet {} \\;",
    "echo {} | xargs placet",
    "sudo placet {}",
    "su -c 'placet {}'",
    "ssh localhost placet {}",
    "tmux new-session -d 'placet {}'",
    "at now <<< 'placet {}'",
    "busybox env placet {}",
    "python -m cProfile -m runpy policy {}",
    "python policy/__main__.py {}",
    "python policy {}",
    "python .venv/lib/python3.11/site-packages/policy/__main__.py {}",
    "python .venv/bin/placet {}",
    "python -m cProfile .venv/bin/placet {}",
    "py -m policy {}",
    "viztracer -m policy {}",
    "kernprof -l policy/__main__.py {}",
    "python -m debugpy --listen 1 -m policy {}",
    "torchrun -mpolicy {}",
    "py-spy record -- placet {}",
    "npm exec -- placet {}",
    "make run ARGS='' placet {}",
)
WIDE = """\
"*", "placet *", "python *", "python3.11 *", "uv *", "uv run -m policy *", \
"uv run --module policy *", "coverage *", "coverage run -m policy *", "python -m policy *", \
"python -m policy.__main__ *", "python -m policy.daemon *", "pdm *", "hatch *", "uvx *", \
"env *", "bash *", "sh *", "./** *", "sudo *", "ssh *", "tmux *", "script *", "find *", \
"xargs *", "echo *", "nohup *", "timeout *"\
"""
POLICIES = {
    "any command": "allow bash_exec",
    "wide patterns": f"allow bash_exec when runs only [{WIDE}]",
    "the coding pack": 'use "placet:coding" granting with workspace = "/srv/work"',
}
FACTS = Facts(cwd="/srv/work", workspace="/srv/work", home="/home/ada")


@pytest.fixture(scope="module", params=POLICIES)
def generation(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> policy.Generation:
    folder: Path = tmp_path_factory.mktemp("rules")
    text = f"policy for every agent\n\ndefault deny\n{POLICIES[request.param]}\n"
    (folder / "global.policy").write_text(text)
    return policy.load(folder)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_lets_an_agent_run_it(generation: policy.Generation, spelling: str) -> None:
    scripts = [spelling.format(command) for command in COMMANDS]
    calls = [ToolCall(tool="bash_exec", input={"command": script}) for script in scripts]
    verdicts = [generation.decide(call, Caller(), facts=FACTS).verdict for call in calls]
    assert [s for s, v in zip(scripts, verdicts, strict=True) if v is Verdict.ALLOW] == []


def test_a_harmless_command_may_run(generation: policy.Generation) -> None:
    """That none of them runs is due to what they do, and not to the policies."""
    call = ToolCall(tool="bash_exec", input={"command": "echo placet freeze"})
    assert generation.decide(call, Caller(), facts=FACTS).verdict is Verdict.ALLOW
