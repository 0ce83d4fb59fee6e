"""Laws about single edits: none that only tightens is held, and its opposite is never tighter.

An edit is drawn for a rule with a bound, a set, a pattern, a window, an approval or a verdict among
other rules that stay as they are, and that let no call do what the edited rule no longer allows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from hypothesis import given, reject, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.catalog import Catalog, Resource
from policy.generation import shipped_profiles
from policy.program import Program
from policy.verify import Difference, compare, only_tightens
from tests.examples import examples
from tests.laws.calls import pick
from tests.laws.engine import Unsound, build_over
from tests.laws.policies import PolicyText
from tests.laws.situations import Tally
from tests.unit.verify.proving import Policy, tool

_TEXT = {"type": "string"}
_PATH, _URL, _COMMAND = (
    Resource(verb=verb, steps=(field,))  # type: ignore[arg-type]
    for verb, field in (("reads", "path"), ("connects", "url"), ("runs", "command"))
)
_CATALOG = Catalog(
    specs=(
        tool("pay", {"amount": {"type": "integer"}, "to": _TEXT}),
        tool("look", {"path": _TEXT}, _PATH),
        tool("fetch", {"url": _TEXT}, _URL),
        tool("sh", {"command": _TEXT}, _COMMAND),
        tool("note", {"text": _TEXT}),
        tool("mail", {"text": _TEXT}),
    ),
    complete=True,
)

_PROFILES = shipped_profiles()

# Conditions of one tool, each of which holds for fewer calls than the one before it.
_NARROWER: dict[str, tuple[tuple[str, ...], ...]] = {
    "pay": (
        ("input.amount <= 500", "input.amount <= 400", "input.amount < 7"),
        ("input.amount >= 5", "input.amount > 5", "input.amount >= 50"),
        ("input.amount in [1, 2, 3]", "input.amount in [1, 2]", "input.amount == 1"),
        ('input.to in ["a", "b"]', 'input.to == "a"', 'input.to == "a" and input.amount < 3'),
        ('input.to like "*@a.example"', 'input.to like "b*@a.example"'),
        ("input.to matches /a.*/", "input.to matches /ab.*/", "input.to matches /abc/"),
        ("input.amount < 9", 'input.amount < 9 and session.role == "clerk"'),
        ('input.amount < 9 or input.to == "a"', "input.amount < 9"),
    ),
    "look": (
        ('reads only "/srv/**"', 'reads only "/srv/a/**"', 'reads only "/srv/a/b"'),
        ('reads only ["/a/**", "/b/**"]', 'reads only "/a/**"'),
        ('reads only "/a/**"', 'reads only "/a/**" and not reads "/a/b/**"'),
    ),
    "fetch": (
        ('connects only to "*.a.example"', 'connects only to "b.a.example"'),
        ('connects only to ["a.example", "b.example"]', 'connects only to "a.example"'),
    ),
    "sh": (
        ('runs only "git *"', 'runs only "git log *"'),
        ('runs only ["git *", "ls *"]', 'runs only "git *"', 'runs only "git status"'),
    ),
}
# What makes a rule that permits apply to fewer calls, and one that restricts to more.
_WINDOWS = ("after note, mail", "after note, mail within 2h", "after note within 2h",
            "after note within 1h")  # fmt: skip
# Approvals, each of which includes those before it in its row.
_STRICTER = (
    ("", "with approval", 'with approval by "a", "b"', 'with approval by "a"',
     'with approval by "a" two people'),
    ('with approval by "a", "b"', 'with approval two people by "a", "b"'),
    ("with approval", "with approval two people"),
    ('with approval by "a" remember 2h up to 3 times',
     'with approval by "a" remember 1h up to 3 times',
     'with approval by "a" remember 1h up to 2 times', 'with approval by "a"'),
)  # fmt: skip
_KEPT = (
    "kept: deny mail",
    "kept: allow note",
    'kept: allow mail when input.text == "x"',
    'kept: deny * when session.role == "guest"',
    'kept: ask * after mail by "c"',
    "",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """A statement or default before and after an edit that tightens; empty for none."""

    kind: str
    loose: tuple[str, ...]
    tight: tuple[str, ...]
    kept: str

    def programs(self) -> tuple[Program, Program]:
        """Return the two policies, the looser one first; not of rules that the checker refuses."""
        try:
            return self._program(self.loose), self._program(self.tight)
        except Unsound:
            reject()

    def _program(self, statements: tuple[str, ...]) -> Program:
        text = ("policy for every agent", "default deny", *statements, self.kept)
        return build_over(
            PolicyText(files=(("global.policy", text),)), _CATALOG, profiles=_PROFILES
        ).program


def _step(draw: DrawFn, row: tuple[str, ...]) -> tuple[str, str]:
    """Draw two different places of a row, in order."""
    first = draw(st.integers(0, len(row) - 2))
    return row[first], row[draw(st.integers(first + 1, len(row) - 1))]


_LIMITS = (
    ("", "5 per day", "4 per day"),
    ("5 per session", "4 per session"),
    ("5 per hour", "5 per day"),
    ('5 per day when session.role == "x" unless agent.name == "a"',
     '5 per day when session.role == "x"', "5 per day"),
)  # fmt: skip
_CLAIMS = (
    ' when input.amount > 600 and input.to == "a"',
    " when input.amount > 600",
    " when input.amount >= 600",
    " when input.amount >= 500",
    "",
)
_FIELDS = {"pay": "to", "look": "path", "fetch": "url", "sh": "command"}
_LABELS = ("note", "note, mail", "note, mail, fetch")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What an edit is made of: `wide` holds for more calls than `narrow`, and so on."""

    name: str
    wide: str
    narrow: str
    some_wide: str
    some_narrow: str
    approval: str
    verdict: str
    weak: str
    strict: str
    long: str
    short: str
    few: str
    many: str
    high: str
    low: str
    field: str
    about_few: str
    about_many: str


# The statement before and after an edit that tightens. Beside a rule that permits there is no
# other one that does; beside one that restricts, a rule permits all calls of the tool.
_OF_GRANTS: dict[str, tuple[str, str]] = {
    "condition": ("when {wide} {approval}", "when {narrow} {approval}"),
    "unless": ("unless {some_narrow} {approval}", "unless {some_wide} {approval}"),
    "clause added": ("{approval}", "when {narrow} {approval}"),
    "unless added": ("when {wide} {approval}", 'when {wide} unless session.role == "x" {approval}'),
    "window": ("{long} {approval}", "{short} {approval}"),
    "approval": ("when {wide} {weak}", "when {wide} {strict}"),
}
_OF_RESTRICTIONS: dict[str, tuple[str, str]] = {
    "condition": ("r: {verdict} {name} when {some_narrow}", "r: {verdict} {name} when {some_wide}"),
    "unless": ("r: {verdict} {name} unless {wide}", "r: {verdict} {name} unless {narrow}"),
    "clause removed": ("r: {verdict} {name} when {some_narrow}", "r: {verdict} {name}"),
    "window": ("r: {verdict} {name} {short}", "r: {verdict} {name} {long}"),
    "label": (
        "label bad on results of {few}\nr: {verdict} {name} after bad",
        "label bad on results of {many}\nr: {verdict} {name} after bad",
    ),
    "verdict": ("r: ask {name} when {some_wide}", "r: deny {name} when {some_wide}"),
    "rule added": ("", "r: {verdict} {name} when {some_wide}"),
    "limit": ("{high}", "{low}"),
    "redaction": ("", "redact results of {name} matching /x/"),
    "redaction of more tools": (
        "redact results of {few} matching /x/",
        "redact results of {many} matching /x/",
    ),
    "claim": ("prove never allow pay{about_few}", "prove never allow pay{about_many}"),
    "from a label": (
        "label bad on results of {few} at text\nr: {verdict} {name} when input.{field} from bad",
        "label bad on results of {many}\nr: {verdict} {name} when input.{field} from bad",
    ),
    "after a label with conditions": (
        'label bad on results of {few} when session.role == "x"\nr: {verdict} {name} after bad',
        "label bad on results of {many}\nr: {verdict} {name} after bad",
    ),
}


_ALL_KINDS = (
    *(f"grant: {kind}" for kind in _OF_GRANTS),
    *(f"restriction: {kind}" for kind in _OF_RESTRICTIONS),
)


@st.composite
def _edits(draw: DrawFn) -> _Edit:
    name = pick(draw, tuple(_NARROWER))
    wide, narrow = _step(draw, pick(draw, _NARROWER[name]))
    weak, strict = _step(draw, pick(draw, _STRICTER))
    long, short = _step(draw, _WINDOWS)
    few, many = _step(draw, _LABELS)
    about_few, about_many = _step(draw, _CLAIMS)
    high, low = (
        f"limit {name} to {one}" if one else "" for one in _step(draw, pick(draw, _LIMITS))
    )
    drawn = asdict(
        _Drawn(
            name=name,
            wide=wide,
            narrow=narrow,
            # A rule that restricts asks whether some resource is in a set, not whether all are.
            some_wide=wide.replace(" only ", " "),
            some_narrow=narrow.replace(" only ", " "),
            approval=pick(draw, pick(draw, _STRICTER)),
            verdict=pick(draw, ("ask", "deny")),
            weak=weak,
            strict=strict,
            long=long,
            short=short,
            few=few,
            many=many,
            high=high,
            low=low,
            field=_FIELDS[name],
            about_few=about_few,
            about_many=about_many,
        )
    )
    kept = pick(draw, _KEPT)
    if draw(st.booleans()):
        kind = pick(draw, tuple(_OF_GRANTS))
        pair = [f"r: allow {name} {each.format(**drawn)}" for each in _OF_GRANTS[kind]]
        return _Edit(kind=f"grant: {kind}", loose=(pair[0],), tight=(pair[1],), kept=kept)
    kind = pick(draw, tuple(_OF_RESTRICTIONS))
    pair = [each.format(**drawn) for each in _OF_RESTRICTIONS[kind]]
    granted = f"all: allow {name}"
    return _Edit(
        kind=f"restriction: {kind}", loose=(granted, pair[0]), tight=(granted, pair[1]), kept=kept
    )


def _compared(old: Program, new: Program) -> Difference:
    return compare(Policy(program=old), Policy(program=new))


def test_an_edit_that_only_tightens_is_never_held() -> None:
    tally = Tally()

    @settings(max_examples=examples(400))
    @given(_edits())
    def law(edit: _Edit) -> None:
        loose, tight = edit.programs()
        found = _compared(loose, tight)
        assert not found.may_loosen, (edit, found.tools, found.changes)
        tally.case(edit.kind)

    law()
    for kind in _ALL_KINDS:
        tally.shows(kind, share=0.005)


def test_an_edit_that_loosens_is_never_called_tighter() -> None:
    tally = Tally()

    @settings(max_examples=examples(400))
    @given(_edits())
    def law(edit: _Edit) -> None:
        loose, tight = edit.programs()
        found = _compared(tight, loose)
        assert found.may_loosen, (edit, found.tools, found.changes)
        assert not only_tightens(tight, loose), edit
        tally.case(edit.kind)

    law()
    for kind in _ALL_KINDS:
        tally.shows(kind, share=0.005)
