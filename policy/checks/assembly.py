"""Groups files, tables and packs into layers.

A `Unit` is one file as part of one layer: a pack that is used twice becomes two units, each with
its own parameters. All names are collected here, so that later passes can resolve them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from policy.checks.checked import LayerKey
from policy.checks.names.scopes import BoundParameter, Scope, define, define_label
from policy.checks.report import Report
from policy.checks.sources import BINDER_KINDS, DEFAULT_BINDERS, PolicySources, Table
from policy.diagnostics import Label, did_you_mean
from policy.model import Span, Verdict
from policy.syntax import tree
from policy.values import has_wildcard

EVERY = LayerKey(kind="every")

# Deeper nesting of packs is more likely a mistake than a plan.
_DEEPEST = 32

_NAMED = (
    tree.ToolSet,
    tree.NamedSet,
    tree.SetFromFile,
    tree.DataTable,
    tree.Let,
    tree.Param,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One file's statements in one layer.

    `prefix` precedes the names of its rules: the `names` under which packs were used on the way
    here, which may contain dots. `grants` is whether its `allow`, `default`, `delegate` and
    `assume` take effect, `table` whether its rules are keys of a configuration table. The rules in
    `known` were not parsed, the statements in `broken` could not be.
    """

    statements: tuple[tree.Statement, ...]
    scope: Scope
    known: tuple[tree.KnownRule, ...] = ()
    broken: tuple[tree.BrokenStatement, ...] = ()
    names: tuple[str, ...] = ()
    grants: bool = True
    table: bool = False
    pack: bool = False
    use: tree.Use | None = None

    @property
    def prefix(self) -> str:
        """The prefix of the names of the unit's rules."""
        return "".join([f"{name}." for name in self.names]) if self.names else ""

    def in_order(self) -> list[tree.Statement | tree.KnownRule]:
        """Return all statements in the order of the text."""
        return sorted((*self.statements, *self.known), key=lambda one: one.span.start)


@dataclass(slots=True, kw_only=True, eq=False)
class Layer:
    """One layer under construction: its units in the order of files, and where it is declared.

    `is_likely` is whether a file is in it that perhaps belongs to another layer, because its header
    does not parse, is missing, or may not be in its folder.
    """

    key: LayerKey
    scope: Scope
    units: list[Unit] = field(default_factory=list)
    span: Span | None = None
    is_likely: bool = False

    @property
    def broken(self) -> tuple[tree.BrokenStatement, ...]:
        """The statements of the layer that did not parse."""
        return tuple(statement for unit in self.units for statement in unit.broken)


def layer_key(binding: tree.Binding) -> LayerKey:
    """Return which agents a header names, normalised: sorted, and `agents "a"` as `agent "a"`."""
    match binding:
        case tree.EveryAgent():
            return EVERY
        case tree.Role(name=name):
            return LayerKey(kind="role", names=(name,))
        case tree.Agents(patterns=patterns):
            names = tuple(sorted(set(patterns)))
            one = len(names) == 1 and (not binding.plural or not has_wildcard(names[0]))
            return LayerKey(kind="agent" if one else "agents", names=names)


def assemble(sources: PolicySources, report: Report) -> tuple[Layer, ...]:
    """Group files and tables into layers, expand the packs they use, collect their names."""
    packs = pack_files(sources)
    glob = Layer(key=EVERY, scope=Scope(title=EVERY.title))
    layers = {EVERY: glob}
    files = sorted(sources.files, key=lambda file: file.source.name)
    for file in files:
        header = file.binding_header
        if not isinstance(header, tree.PolicyHeader):
            continue
        certain = file.header is not None and _may_bind(
            header, file.source.name, sources.binders, report
        )
        layer = _layer_of(layers, header.binding)
        layer.span = layer.span or header.span
        layer.is_likely = layer.is_likely or not certain
        layer.units.append(
            Unit(
                statements=file.statements,
                known=file.known,
                broken=file.broken,
                scope=layer.scope,
            )
        )
    for table in sources.tables:
        _add_table(layers, table)
    _add_table_default(glob, sources.tables)
    ordered = [glob, *sorted((x for x in layers.values() if x is not glob), key=layer_order)]
    for layer in ordered:
        _open(layer, packs, report)
    return tuple(ordered)


def layer_order(layer: Layer) -> tuple[str, tuple[str, ...]]:
    """Return the sort key of a layer."""
    return (layer.key.kind, layer.key.names)


def pack_files(sources: PolicySources) -> Mapping[str, tree.PolicyFile]:
    """Return every file that `use` may name, files of layers included, by its path."""
    return {file.source.name: file for file in sources.files} | dict(sources.shipped)


def _layer_of(layers: dict[LayerKey, Layer], binding: tree.Binding) -> Layer:
    key = layer_key(binding)
    if key not in layers:
        layers[key] = Layer(key=key, scope=Scope(title=key.title, above=layers[EVERY].scope))
    return layers[key]


def _add_table(layers: dict[LayerKey, Layer], table: Table) -> None:
    binding, statements, _ = table
    layer = _layer_of(layers, binding)
    layer.units.append(Unit(statements=statements, scope=layer.scope, table=True))


def _add_table_default(glob: Layer, tables: Iterable[Table]) -> None:
    """Add `default deny` to a global layer that consists of tables alone and has no default."""
    own = [binding.span for binding, _, _ in tables if layer_key(binding) == EVERY]
    statements = (statement for unit in glob.units for statement in unit.statements)
    if glob.span is None and own and not any(isinstance(one, tree.Default) for one in statements):
        default = tree.Default(verdict=Verdict.DENY, tools=None, span=own[0])
        glob.units.append(Unit(statements=(default,), scope=glob.scope, table=True))


def _may_bind(
    header: tree.PolicyHeader,
    file: str,
    binders: Mapping[str, tuple[str, ...]] | None,
    report: Report,
) -> bool:
    """Return whether the files of a file's folder may apply to these agents; report if not."""
    rules = DEFAULT_BINDERS if binders is None else binders
    inside = [f for f in rules if f in ("", ".") or file.startswith(f.rstrip("/") + "/")]
    if not inside:
        return True
    folder = max(inside, key=len)
    kind = layer_key(header.binding).kind
    if kind in rules[folder]:
        return True
    allowed = [word for word in BINDER_KINDS if word in rules[folder]]
    report.add(
        "folder-may-not-bind",
        f"files under `{folder}` may not apply to {_KINDS[kind]}",
        span=header.span,
        help=(
            f"move the file, or begin it with {' or '.join(_HEADERS[word] for word in allowed)}"
            if allowed
            else "move the file to another folder"
        ),
    )
    return False


_HEADERS = {
    "every": "`policy for every agent`",
    "agent": '`policy for agent "…"`',
    "agents": '`policy for agents "…"`',
    "role": '`policy for role "…"`',
}
_KINDS = {"every": "every agent", "agent": "an agent", "agents": "agents", "role": "a role"}


def _open(layer: Layer, packs: Mapping[str, tree.PolicyFile], report: Report) -> None:
    """Collect the layer's names and add a unit for every pack it uses."""
    own = list(layer.units)
    layer.units = []
    for unit in own:
        _gather(unit, layer.scope, report)
    for unit in own:
        layer.units.append(unit)
        layer.units.extend(unfold(unit, packs, report))


def _gather(unit: Unit | tree.PolicyFile, scope: Scope, report: Report) -> None:
    """Define the names of a file in a scope."""
    for statement in unit.statements:
        if isinstance(statement, _NAMED):
            define(scope, statement, report)
        elif isinstance(statement, tree.LabelResults):
            define_label(scope, statement, report)
    for broken in unit.broken:
        scope.broken |= broken.names


def unfold(
    unit: Unit,
    packs: Mapping[str, tree.PolicyFile],
    report: Report,
    *,
    chain: tuple[str, ...] = (),
) -> list[Unit]:
    """Return the units of all packs that `unit` uses, in order, each followed by those it uses."""
    units: list[Unit] = []
    for statement in unit.statements:
        if isinstance(statement, tree.Use):
            units.extend(_use(statement, unit, packs, report, chain=chain))
    return units


def _use(
    use: tree.Use,
    unit: Unit,
    packs: Mapping[str, tree.PolicyFile],
    report: Report,
    *,
    chain: tuple[str, ...],
) -> list[Unit]:
    found = _find_pack(use, packs, report, chain=chain)
    if found is None:
        unit.scope.broken |= _probable_names(use)
        return []
    path, file, name = found
    alias = use.alias or name.replace("-", "_")
    if not _claim(alias, use, unit.scope, report):
        return []
    scope = Scope(title=f"pack `{name}`", of_pack=True, used_at=use.span)
    unit.scope.packs[alias] = scope
    unit.scope.uses[alias] = use.span
    _gather(file, scope, report)
    _bind(use, unit.scope, scope, report)
    inner = Unit(
        statements=file.statements,
        known=file.known,
        broken=file.broken,
        scope=scope,
        names=(*unit.names, use.alias or name),
        grants=unit.grants and use.granting,
        pack=True,
        use=use,
    )
    return [inner, *unfold(inner, packs, report, chain=(*chain, path))]


def _probable_names(use: tree.Use) -> frozenset[str]:
    """Return the names by which a file refers to a pack that was not found."""
    stem = posixpath.basename(use.path.rpartition(":")[2]).removesuffix(".policy")
    return frozenset({use.alias} if use.alias else {stem, stem.replace("-", "_")})


def _find_pack(
    use: tree.Use, packs: Mapping[str, tree.PolicyFile], report: Report, *, chain: tuple[str, ...]
) -> tuple[str, tree.PolicyFile, str] | None:
    """Return the pack that `use` names: its path, its file and its own name."""
    path = _settle(use.path)
    if path is None:
        report.add(
            "use-outside",
            f"`{use.path}` is outside the policy folder",
            span=use.path_span or use.span,
            help="name a file by its path from the policy folder",
        )
        return None
    file = packs.get(path)
    if file is None:
        candidates = [n for n, f in packs.items() if isinstance(f.binding_header, tree.PackHeader)]
        report.add(
            "unknown-pack",
            f"there is no pack `{use.path}`",
            span=use.path_span or use.span,
            help=did_you_mean(path, candidates) or _where_packs_are(path),
        )
        return None
    header = file.binding_header
    if not isinstance(header, tree.PackHeader):
        if file.header is not None:
            report.add(
                "not-a-pack",
                f"`{path}` applies to agents by itself and cannot be used as a pack",
                span=use.path_span or use.span,
                labels=(Label(span=file.header.span, text="a pack begins with `pack`"),),
                help="use a file that begins with `pack`",
            )
        return None
    if path in chain or len(chain) >= _DEEPEST:
        what = "a pack uses itself" if path in chain else "packs use each other too deeply"
        start = chain.index(path) if path in chain else 0
        shown = " → ".join(f"`{part}`" for part in (*chain[start:], path))
        report.add(
            "use-cycle",
            f"{what}: {shown}",
            span=use.path_span or use.span,
            help="remove one `use` of the chain",
        )
        return None
    return path, file, header.name


def alone(
    file: tree.PolicyFile,
    packs: Mapping[str, tree.PolicyFile],
    report: Report,
    *,
    given: Mapping[str, tree.Expr],
) -> Layer:
    """Return a layer of every agent that holds only this pack, as the pack's own tests see it."""
    header = file.binding_header
    assert isinstance(header, tree.PackHeader)
    scope = Scope(title=f"pack `{header.name}`", of_pack=True)
    layer = Layer(key=EVERY, scope=scope, span=header.span)
    _gather(file, scope, report)
    nowhere = Scope(title="the test", of_pack=True)
    for name, value in given.items():
        scope.bound[name] = BoundParameter(value, nowhere)
    unit = Unit(
        statements=file.statements,
        known=file.known,
        broken=file.broken,
        scope=scope,
        pack=True,
    )
    path = file.source.name
    layer.units = [unit, *unfold(unit, packs, report, chain=(path,))]
    return layer


def _settle(path: str) -> str | None:
    """Return the path of a `use` from the policy folder, None if it leads outside."""
    if path.startswith("placet:"):
        return path
    if not path or path.startswith(("/", "~")) or "\\" in path or "\0" in path:
        return None
    settled = posixpath.normpath(path)
    return None if settled == ".." or settled.startswith("../") else settled


def _claim(alias: str, use: tree.Use, scope: Scope, report: Report) -> bool:
    """Return whether a pack may be called `alias`; report if not."""
    taken = scope.find(alias)
    places = [taken.span] if taken is not None else []
    holder: Scope | None = scope
    while holder is not None:
        if alias in holder.uses:
            places.append(holder.uses[alias])
        holder = holder.above
    if not places:
        return True
    report.add(
        "name-redefined",
        f"`{alias}` is already defined",
        span=use.span,
        label="the pack would have this name",
        labels=(Label(span=places[0], text="first defined here"),),
        help="give the pack another name with `as NAME`",
    )
    return False


def _bind(use: tree.Use, user: Scope, pack: Scope, report: Report) -> None:
    """Bind the pack's parameters; report unknown, repeated and missing ones."""
    params = {
        name: found.node for name, found in pack.names.items() if isinstance(found.node, tree.Param)
    }
    for name, value in use.bindings:
        if name in pack.broken:
            report.excuse()
        elif name not in params:
            report.add(
                "unknown-param",
                f"{pack.title} has no parameter `{name}`",
                span=value.span,
                help=did_you_mean(name, params) or _listing(params),
            )
        elif name in pack.bound:
            report.add(
                "unknown-param",
                f"`{name}` has two values",
                span=value.span,
                help="give each parameter one value",
            )
        else:
            pack.bound[name] = BoundParameter(value, user)
    missing = [n for n, p in params.items() if p.default is None and n not in pack.bound]
    if missing:
        report.add(
            "missing-param",
            f"{pack.title} needs values for {' and '.join(f'`{name}`' for name in missing)}",
            span=use.span,
            labels=tuple(Label(span=params[n].span, text="needed here") for n in missing),
            help=f"write `with {', '.join(f'{name} = …' for name in missing)}`",
        )


def _listing(params: Mapping[str, tree.Param]) -> str:
    if not params:
        return "the pack has no parameters"
    return f"its parameters are {', '.join(f'`{name}`' for name in params)}"


def _where_packs_are(path: str) -> str:
    if path.startswith("placet:"):
        return "no pack of this name ships with this version; copy one into the policy folder"
    return "paths start at the policy folder"
