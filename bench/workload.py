"""Numbers of rules in; neutral rules, requests and the verdicts they must get out.

A rule is a dict: `id`; `effect` (`allow`, `ask`, `deny`); `tool`, `{"exact": NAME}` or
`{"glob": PATTERN}` where only `*` is special; `roles`, None or those it is for; and `conds`, all of
which must hold:

    path_glob    field, prefix          the text begins with the prefix
    host_eq      field, value
    host_suffix  field, suffix
    int_cmp      field, op, value       <, <=, > or >=
    in_set       field, values
    regex        field, pattern, alts   `alts` says the same in patterns with `*`

A condition on a missing argument is false; the strictest effect of the rules that apply counts,
and where none applies, deny. Three profiles: `full` has N rules on a fifth as many tools, `basic`
the same with equality, sets and numbers only, `skew` all of them on three, told apart by path,
folder or host. Everything follows from the seeds.
"""

from __future__ import annotations

import fnmatch
import operator
import random
import re
from collections.abc import Callable
from typing import Any, TypeAlias

Rule: TypeAlias = dict[str, Any]
Request: TypeAlias = dict[str, Any]
Conditions: TypeAlias = list[Callable[[], dict[str, Any]]]

_ROLES = ["dev", "ops", "reviewer", "admin", "untrusted"]
_KINDS = ["file", "net", "shell", "git", "db"]
_VERBS = {"file": "write", "net": "fetch", "shell": "exec", "git": "push", "db": "query"}
_PREFIXES = [
    "/workspace/", "/workspace/p0/", "/workspace/p1/", "/workspace/p2/src/",
    "/etc/", "/home/agent/", "/tmp/",
]  # fmt: skip
_METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"]
_BRANCHES = ["main", "release", "dev", "feature-a", "feature-b", "hotfix"]
_TABLES = ["users", "orders", "audit", "events", "prices", "sessions"]
_MODES = ["create", "append", "overwrite"]
_SHELLS = ["bash", "sh", "zsh"]
_REPOS = ["core", "web", "infra", "docs"]
_HOSTS = [
    "api.example.com", "cdn.example.com", "docs.example.org",
    "files.internal.corp", "git.internal.corp", "evil.test",
]  # fmt: skip
_COMMANDS = [
    (
        r"^(git|npm|make) (status|test|build)( |$)",
        [
            f"{program} {verb}{more}"
            for program in ("git", "npm", "make")
            for verb in ("status", "test", "build")
            for more in ("", " *")
        ],
    ),
    (
        r"(^|; )(sudo|rm -rf|curl) ",
        [f"{before}{word} *" for word in ("sudo", "rm -rf", "curl") for before in ("", "*; ")],
    ),
    (r"^ls( |$)", ["ls", "ls *"]),
    (r"--force", ["*--force*"]),
]
_QUERIES = [
    (r"^(DROP|TRUNCATE|ALTER) ", ["DROP *", "TRUNCATE *", "ALTER *"]),
    (r"^SELECT .* FROM (users|orders) ", ["SELECT * FROM users *", "SELECT * FROM orders *"]),
]
_TYPED = [
    "git status", "npm test", "make build", "ls", "python run.py", "cd x; sudo reboot", "sudo id",
    "git push --force", "rm -rf build", "cat notes",
]  # fmt: skip
_ASKED = [
    "SELECT id FROM users ", "SELECT a FROM events ", "DROP TABLE x ", "UPDATE t SET a=1 ",
    "SELECT n FROM orders ",
]  # fmt: skip
_FILL = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor "
_SKEWED = [("bash", "shell"), ("write_file", "file"), ("fetch", "net")]


def universe(n: int, profile: str = "full") -> list[tuple[str, str]]:
    """Return the tools and their kinds: max(2, n // 5), or three in profile `skew`."""
    if profile == "skew":
        return _SKEWED
    tools = []
    for i in range(max(2, n // 5)):
        family, k = divmod(i, 20)
        kind = _KINDS[k % 5]
        tools.append((f"srv{family:03d}__{_VERBS[kind]}_{k}", kind))
    return tools


def make_rules(n: int, seed: int = 7, profile: str = "full") -> list[Rule]:
    """Return n rules."""
    rng = random.Random(seed * 1_000_003 + n)
    if profile == "skew":
        return [_skewed_rule(i, rng, groups=_groups(n)) for i in range(n)]
    tools = universe(n, profile)
    basic = profile == "basic"
    rules = [
        _rule(0, "deny", {"glob": "*"}, roles=["untrusted"], conds=[]),
        _rule(1, "ask", {"glob": "*__push_*"}, roles=["reviewer"], conds=[]),
    ]
    rules = [] if basic else rules
    while len(rules) < n:
        effect = _effect(rng)
        name, kind = rng.choice(tools)
        roles = _some_roles(rng)
        family = not basic and rng.random() < 0.05
        tool = {"glob": name.split("__")[0] + "__*"} if family else {"exact": name}
        count = rng.choices([1, 2, 3], [5, 3, 2])[0]
        drawn = _conditions(rng, kind, basic=basic)
        conds = [drawn[i]() for i in sorted(rng.sample(range(3), count))]
        rules.append(_rule(len(rules), effect, tool, roles=roles, conds=conds))
    return rules


def make_requests(
    n: int, count: int = 1000, seed: int = 11, *, profile: str = "full"
) -> list[Request]:
    """Return the requests for a set of n rules: `{"tool", "args", "ctx"}`, 3 to 5 arguments each.

    Some lack an argument, and some name a tool that there is not.
    """
    rng = random.Random(seed * 7919 + n)
    tools = universe(n, profile)
    requests = []
    for j in range(count):
        name, kind = rng.choice(tools)
        if rng.random() < 0.03:
            name = f"unknown{j}__tool"
        args = _ARGUMENTS[kind](rng)
        if profile == "skew":
            _skew(args, kind, rng, groups=_groups(n))
        if rng.random() < 0.05:
            args.pop(rng.choice(list(args)))
        role = "untrusted" if rng.random() < 0.02 else rng.choice(_ROLES[:4])
        ctx = {"agent": f"agent-{rng.randrange(9)}", "role": role, "session": f"s-{j:06d}"}
        requests.append({"tool": name, "args": args, "ctx": ctx})
    return requests


def verdicts(rules: list[Rule], requests: list[Request], tools: list[str]) -> list[str]:
    """Return the verdict that each request must get: the slow and obvious reading of the rules."""
    # Of the tools asked about alone: sorting all of a large set takes longer than loading it.
    asked = {req["tool"] for req in requests}
    near = [rule for rule in rules if "glob" in rule["tool"] or rule["tool"]["exact"] in asked]
    by_tool, others = index_by_tool(near, [tool for tool in tools if tool in asked])
    return [_verdict(by_tool.get(req["tool"], others), req) for req in requests]


def index_by_tool(rules: list[Rule], tools: list[str]) -> tuple[dict[str, list[Rule]], list[Rule]]:
    """Return the rules that can apply to each tool, and those for tools not in the list."""
    by_tool: dict[str, list[Rule]] = {tool: [] for tool in tools}
    globs = [rule for rule in rules if "glob" in rule["tool"]]
    for rule in rules:
        if "exact" in rule["tool"]:
            by_tool.setdefault(rule["tool"]["exact"], []).append(rule)
    for tool, found in by_tool.items():
        found.extend(rule for rule in globs if fnmatch.fnmatchcase(tool, rule["tool"]["glob"]))
    return by_tool, globs


# ------------------------------------------------------------------ rules


def _rule(
    number: int, effect: str, tool: dict[str, str], *, roles: list[str] | None, conds: list[Any]
) -> Rule:
    return {
        "id": f"r{number:05d}",
        "effect": effect,
        "tool": tool,
        "roles": roles,
        "conds": conds,
    }


def _skewed_rule(i: int, rng: random.Random, *, groups: int) -> Rule:
    tool, kind = _SKEWED[i % 3]
    roles = _some_roles(rng)
    group = rng.randrange(groups)
    conditions = _conditions(rng, kind)
    if kind == "file":
        prefix = f"/workspace/p{group}/" + rng.choice(["", "src/"])
        conds = [{"kind": "path_glob", "field": "path", "prefix": prefix}]
        more = [conditions[1](), conditions[2]()]
    elif kind == "net":
        conds = [{"kind": "host_eq", "field": "host", "value": f"h{group}.example.com"}]
        more = [conditions[1](), conditions[2]()]
    else:
        conds = [{"kind": "path_glob", "field": "cwd", "prefix": f"/workspace/p{group}/"}]
        more = [conditions[0](), conditions[2]()]
    if rng.random() < 0.5:
        conds.append(rng.choice(more))
    return _rule(i, _effect(rng), {"exact": tool}, roles=roles, conds=conds)


def _groups(n: int) -> int:
    return max(4, n // 6)


def _effect(rng: random.Random) -> str:
    return rng.choices(["allow", "ask", "deny"], [6, 2, 2])[0]


def _some_roles(rng: random.Random) -> list[str] | None:
    return sorted(rng.sample(_ROLES[:4], rng.randrange(1, 4))) if rng.random() < 0.6 else None


def _conditions(rng: random.Random, kind: str, *, basic: bool = False) -> Conditions:
    """Return how to draw the three conditions that rules on tools of this kind may have.

    `basic` ones are sets and numbers, so that two of a rule may be of one field.
    """

    def number(field: str, high: int) -> dict[str, Any]:
        op, value = rng.choice(["<=", "<", ">", ">="]), rng.randrange(1, high)
        return {"kind": "int_cmp", "field": field, "op": op, "value": value}

    def one_of(field: str, pool: list[str]) -> dict[str, Any]:
        values = sorted(rng.sample(pool, rng.randrange(2, len(pool))))
        return {"kind": "in_set", "field": field, "values": values}

    def below(field: str) -> dict[str, Any]:
        return {"kind": "path_glob", "field": field, "prefix": rng.choice(_PREFIXES)}

    def search(field: str, pool: list[tuple[str, list[str]]]) -> dict[str, Any]:
        pattern, alts = rng.choice(pool)
        return {"kind": "regex", "field": field, "pattern": pattern, "alts": alts}

    def host() -> dict[str, Any]:
        value, suffix = rng.choice(_HOSTS), rng.choice([".example.com", ".internal.corp"])
        same = {"kind": "host_eq", "field": "host", "value": value}
        ends = {"kind": "host_suffix", "field": "host", "suffix": suffix}
        return rng.choice([same, ends])

    drawn: dict[str, Conditions] = {
        "file": [
            lambda: below("path"),
            lambda: number("size", 10_000),
            lambda: one_of("mode", [*_MODES, "touch"]),
        ],
        "net": [host, lambda: one_of("method", _METHODS), lambda: number("timeout", 100)],
        "shell": [
            lambda: search("command", _COMMANDS),
            lambda: below("cwd"),
            lambda: number("timeout", 100),
        ],
        "git": [
            lambda: one_of("branch", _BRANCHES),
            lambda: number("commits", 50),
            lambda: one_of("repo", _REPOS),
        ],
        "db": [
            lambda: one_of("table", _TABLES),
            lambda: number("limit", 1000),
            lambda: search("query", _QUERIES),
        ],
    }
    sets: dict[str, Conditions] = {
        "file": [
            lambda: one_of("mode", [*_MODES, "touch"]),
            lambda: number("size", 10_000),
            lambda: one_of("mode", [*_MODES, "touch"]),
        ],
        "net": [
            lambda: one_of("host", _HOSTS),
            lambda: one_of("method", _METHODS),
            lambda: number("timeout", 100),
        ],
        "shell": [
            lambda: number("timeout", 100),
            lambda: one_of("shell", _SHELLS),
            lambda: number("timeout", 100),
        ],
        "git": drawn["git"],
        "db": [
            lambda: one_of("table", _TABLES),
            lambda: number("limit", 1000),
            lambda: one_of("table", _TABLES),
        ],
    }
    return (sets if basic else drawn)[kind]


# ------------------------------------------------------------------ requests


def _fill(rng: random.Random, length: int = 200) -> str:
    start = rng.randrange(len(_FILL))
    return (_FILL[start:] + _FILL * 4)[:length]


def _file(rng: random.Random) -> dict[str, Any]:
    return {
        "path": rng.choice(_PREFIXES)
        + rng.choice(["src/", "x/", ""])
        + _fill(rng, 150).replace(" ", "_"),
        "content": _fill(rng),
        "mode": rng.choice(_MODES),
        "size": rng.randrange(1, 10_000),
    }


def _net(rng: random.Random) -> dict[str, Any]:
    host = rng.choice(_HOSTS)
    return {
        "url": f"https://{host}/" + _fill(rng, 170).replace(" ", "/"),
        "host": host,
        "method": rng.choice(_METHODS),
        "timeout": rng.randrange(1, 100),
    }


def _shell(rng: random.Random) -> dict[str, Any]:
    return {
        "command": rng.choice(_TYPED) + " " + _fill(rng, 180),
        "cwd": rng.choice(_PREFIXES) + "w",
        "timeout": rng.randrange(1, 100),
        "shell": rng.choice(_SHELLS),
    }


def _git(rng: random.Random) -> dict[str, Any]:
    return {
        "repo": rng.choice([*_REPOS, "misc"]),
        "branch": rng.choice(_BRANCHES),
        "message": _fill(rng),
        "commits": rng.randrange(1, 50),
        "sign": rng.choice(["yes", "no"]),
    }


def _db(rng: random.Random) -> dict[str, Any]:
    asked = rng.choice(_ASKED)
    return {
        "table": rng.choice(_TABLES),
        "query": asked + _fill(rng, 180),
        "limit": rng.randrange(1, 1000),
    }


_ARGUMENTS = {"file": _file, "net": _net, "shell": _shell, "git": _git, "db": _db}


def _skew(args: dict[str, Any], kind: str, rng: random.Random, *, groups: int) -> None:
    folder = f"/workspace/p{rng.randrange(groups)}/"
    if kind == "file":
        part = rng.choice(["src/", "x/", ""])
        args["path"] = folder + part + _fill(rng, 150).replace(" ", "_")
    elif kind == "shell":
        args["cwd"] = folder + "w"
    else:
        args["host"] = f"h{rng.randrange(groups)}.example.com"


# ------------------------------------------------------------------ what must come out

_RANK = {"none": 0, "allow": 1, "ask": 2, "deny": 3}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _verdict(rules: list[Rule], req: Request) -> str:
    applying = [rule["effect"] for rule in rules if _applies(rule, req)]
    strictest = max(applying, key=_RANK.__getitem__, default="none")
    return "deny" if strictest == "none" else strictest


def _applies(rule: Rule, req: Request) -> bool:
    tool, name = rule["tool"], req["tool"]
    fits = tool["exact"] == name if "exact" in tool else fnmatch.fnmatchcase(name, tool["glob"])
    if not fits or (rule["roles"] is not None and req["ctx"]["role"] not in rule["roles"]):
        return False
    return all(_holds(cond, req["args"]) for cond in rule["conds"])


def _holds(cond: dict[str, Any], args: dict[str, Any]) -> bool:
    value = args.get(cond["field"])
    if value is None:
        return False
    match cond["kind"]:
        case "path_glob":
            return bool(value.startswith(cond["prefix"]))
        case "host_eq":
            return bool(value == cond["value"])
        case "host_suffix":
            return bool(value.endswith(cond["suffix"]))
        case "in_set":
            return value in cond["values"]
        case "regex":
            return re.search(cond["pattern"], value) is not None
        case _:
            return bool(_ORDER[cond["op"]](value, cond["value"]))
