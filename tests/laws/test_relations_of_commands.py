"""Laws about patterns of commands: what proofs take one to imply of another holds for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.catalog import builtin_catalog
from policy.checks import checked
from policy.evaluation import (
    ConditionScope,
    DeclaredResources,
    Evaluation,
    TestOf,
    compile_cover,
    compile_test,
)
from policy.generation import shipped_profiles
from policy.model import Caller, Facts, ToolCall
from policy.symbolic import CommandSet, command_set
from tests.examples import examples

_SETS = tuple(
    tuple(line.split(", "))
    for line in """\
git *
git status
git status *, git log *, git diff
git push *
git push --force *
git push -f *, git push --mirror *
git push --force*
git push -f origin main
git checkout --force *
git checkout *
git status *
git status -z *
rm -r *
sort *
sort -o *
sort --output=* *
find * -print
git clean -f *
git clean *
ssh -o *
ssh *
sed *
sed -i *
git push origin main
git push origin *
git push origin bot/*, git push origin HEAD:bot/*
git push * main
docker run -v ./a*:/a *, scp a* x
git *push*
git stash *, git submodule foreach *
rm *
rm -rf *, rm -rf /
ls, ls *
cat *, ls *, wc *
find *
find * -delete, find * -exec *
xargs *
xargs rm *
sudo *, su *
bash *, sh *
bash -c *, python -c *
python *, python x.py, python -m pytest *
pytest, pytest *
npm test, npm run build
npm run *
npm run deploy, npm publish *
make test
make deploy, make *
cargo test, cargo test *
cargo *
foo, foo x
foo *
foo rm x
*
curl *, wget *
docker rm *
docker container rm *, docker ps *
kubectl delete *, terraform apply
TZ=* date *, sort * > out.txt
uv run pytest *, npx ?* *
./deploy.sh *, ./** *
cd *, env *, timeout 5 *
git branch *
git branch -D *
git branch -d *, git branch -f *
git branch -d -f *
git switch -c *
rsync *
rsync --delete *
rsync -r *
grep *, curl *
grep -r *
curl -L *
curl -X POST *""".splitlines()
)
_WORDS = (
    "x", "a", "-f", "--force", "-x", "$x", "a$x", '"$x"', "*.txt", "-", "--", "/etc/x", "./y",
    "'rm x'", "'git push'", "rm", "git", "push", "origin", "main", "deploy", "build", "-c", "-o $x",
    "--output=z", "-e", "a=b", "$(rm z)", "$(cat z)", "x.py", "-delete", "-exec rm {} \\;", "+main",
    "-- rm x", "$@", "{a,b}", "-C d",
    '-- "$x"', "-- -f", "-*", "-f*", "--forc", '"-$x"', '"+$x"', "a*", "-- $x", "-nf", "-n$x",
    "-D", "-df", "-d -f", "-d $x", "--del", "--delete-after", "-a", "-d recurse",
    "--location-trusted", "--mirror", "-G", "--json y", "-r",
    "-- x -delete", "-i", "--in-place=b", "-z", "bot/x", "bot/x:main", "HEAD:bot/x", '"bot/$x"',
    "+bot/x", "x:refs/heads/main", "a.example:x", "-v ./a:/a",
)  # fmt: skip
_AROUND = (
    "{}", "{}", "{}", "env {}", "timeout 5 {}", "sudo {}", "xargs {}", "bash -c '{}'",
    "{} > /tmp/o", "{} >> $x", "{} < in", "X=1 {}", "TZ=1 {}", "PATH=x {}", "cd d && {}",
    "f() {{ {}; }}; f",
    "echo $({})", "time {}", "command {}", "eval '{}'", "foo {}", "npx {}", "/usr/bin/{}", "./{}",
    "{} | cat", "npm run build -- {}", "find . -exec {} \\;", "uv run {}", "{} <<< x", "{} 2>&1",
    "rm() {{ {}; }}; rm x", "git() {{ {}; }}; git push",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    """A set of commands, and the tests of it."""

    commands: CommandSet
    some: TestOf
    outside: TestOf
    only: TestOf
    only_covering: TestOf
    covers_all: TestOf


@cache
def _asked() -> tuple[_Asked, ...]:
    return tuple(map(_tests_of, _SETS))


@cache
def _declared() -> DeclaredResources:
    spec = builtin_catalog().get("bash_exec")
    assert spec is not None
    profiles = shipped_profiles()
    return DeclaredResources(spec.resources, complete=True, unseen=False, profiles=profiles)


def _tests_of(items: tuple[str, ...]) -> _Asked:
    values = checked.ValueSet(kind="commands", included=items)
    commands = command_set(values, _declared().profiles)
    assert commands is not None

    def test(form: str, *, covering: bool = False) -> TestOf:
        scope = ConditionScope(
            declared=_declared(), absent_is_false=True, covering=covering, test=compile_test
        )
        return compile_test(_test(form, values), scope)

    return _Asked(
        commands,
        test("some"),
        test("outside"),
        test("only"),
        test("only", covering=True),
        compile_cover((_test("only", values),), _declared()),
    )


def _test(form: str, values: checked.ValueSet) -> checked.ResourceTest:
    return checked.ResourceTest(
        verb="runs",
        form=form,  # type: ignore[arg-type]
        operand=values,
        permits=form == "only",
        text="",
    )


@st.composite
def _commands(draw: st.DrawFn) -> str:
    """Draw a command that some pattern may match, with other words and in disguise."""
    words: list[str] = []
    for word in draw(st.sampled_from(draw(st.sampled_from(_SETS)))).split():
        if word == "*":
            words += draw(st.lists(st.sampled_from(_WORDS), max_size=3))
        else:
            words.append(word.replace("*", "a").replace("?", "x"))
    if words and draw(st.integers(0, 2)) == 0:
        words.insert(draw(st.integers(1, len(words))), draw(st.sampled_from(_WORDS)))
    text = " ".join(words) or "true"
    for _ in range(draw(st.integers(0, 2))):
        text = draw(st.sampled_from(_AROUND)).format(text)
    return text


@dataclass(frozen=True, slots=True)
class _Truths:
    """What the tests of one set give for a script; None is indeterminate."""

    some: bool | None
    outside: bool | None
    only: bool | None
    only_covering: bool | None
    covers_all: bool | None

    @property
    def is_inside(self) -> bool:
        return self.only_covering is True or self.outside is False


def _truths(asked: _Asked, call: Evaluation) -> _Truths:
    tests = (asked.some, asked.outside, asked.only, asked.only_covering, asked.covers_all)
    found = (test(call) for test in tests)
    return _Truths(*(truth if isinstance(truth, bool) else None for truth in found))


@settings(max_examples=examples(200))
@given(st.lists(_commands(), min_size=1, max_size=3).map("; ".join))
def test_what_patterns_imply_holds_for_scripts(script: str) -> None:
    spec = builtin_catalog().get("bash_exec")
    assert spec is not None
    facts = Facts(cwd="/workspace", workspace="/workspace", home="/home/user", history=())
    input = ToolCall(tool=spec.name, input={"command": script}).input
    call = Evaluation(spec, input, caller=Caller(agent="a"), facts=facts, slots=1)
    truths = [_truths(one, call) for one in _asked()]
    for one in truths:
        assert one.only or not (one.only_covering and one.covers_all)
    for relation in _relations():
        small, large = truths[relation.one], truths[relation.other]
        for wrong in _wrong(relation, small, large):
            raise AssertionError(f"{_SETS[relation.one]}, {_SETS[relation.other]}: {wrong}")


@dataclass(frozen=True, slots=True)
class _Relation:
    """What proofs take one set to be for another one, by their numbers."""

    one: int
    other: int
    excludes: bool
    may_be_held: bool
    is_held: bool


@cache
def _relations() -> tuple[_Relation, ...]:
    sets = [each.commands for each in _asked()]
    every = (
        _Relation(
            at,
            other_at,
            excludes=one.excludes(other),
            may_be_held=other.may_hold_all_of(one),
            is_held=other.surely_holds_all_of(one),
        )
        for at, one in enumerate(sets)
        for other_at, other in enumerate(sets)
        if at != other_at
    )
    return tuple(one for one in every if one.excludes or one.may_be_held or one.is_held)


def _wrong(relation: _Relation, one: _Truths, other: _Truths) -> Iterator[str]:
    if relation.excludes and one.is_inside and other.some is not False:
        yield "a script that the first covers may run something of the other"
    if relation.may_be_held and other.some is False and one.some is not False:
        yield "what the other certainly misses may be in the first"
    if not relation.is_held:
        return
    if one.some and not other.some:
        yield "what is in the first is not in the other"
    if (one.only and not other.only) or (one.only_covering and not other.only_covering):
        yield "what the first covers is not covered by the other"
    if (one.only or one.outside is False) and other.outside is not False:
        yield "what is inside of the first may be outside of the other"


def test_many_sets_are_related() -> None:
    count = len(_SETS) * (len(_SETS) - 1)
    assert sum(one.excludes for one in _relations()) > count / 3
    assert sum(one.is_held for one in _relations()) > 5
    assert sum(one.may_be_held for one in _relations()) > 30
