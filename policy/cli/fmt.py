"""`placet fmt`: rewrites rule files in canonical form."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, WRONG_USAGE, counted, exit_code, prefix
from policy.cli.options import path_argument
from policy.config_edit import FileChanged, replace_file
from policy.diagnostics import Diagnostic, diagnose, has_errors, in_order, render, visible
from policy.generation import Snapshot, decode, read_folder
from policy.model import Source
from policy.syntax import Engine, format_source, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file as it was read, and its canonical form."""

    shown: str
    real: Path
    content: bytes
    canonical: bytes


@click.command("fmt")
@path_argument
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if a file would change.")
def command(path: Path, *, check: bool) -> None:
    """Rewrite the rule files at PATH in canonical form; comments and meaning stay the same.

    A file that cannot be parsed is not changed, and its errors are shown; the others are written.

    \b
    Examples:
      placet fmt rules/
      placet fmt --check rules/agents/writer.policy
    """
    engine = fast_paths().engine
    snapshot = read_folder(path)
    files: list[_File] = []
    problems, sources = list(_unread(snapshot)), {}
    for name in _names(snapshot):
        found = _canonical(snapshot, name, before=prefix(path), engine=engine)
        if isinstance(found, _File):
            files.append(found)
            continue
        source, wrong = found
        problems += wrong
        sources[name] = source
    if not (files or problems):
        problems.append(_empty(path))
    changed, unwritten = 0, False
    for file in files:
        if file.canonical == file.content:
            continue
        told = None if check else _write(file)
        if told is not None:
            click.echo(f"placet: {told}", err=True)
            unwritten = True
            continue
        changed += 1
        click.echo(f"{'would change' if check else 'changed'} {file.shown}")
    if problems:
        known = {name: source for name, source in sources.items() if source is not None}
        click.echo(render(in_order(problems), sources=known, root=prefix(path)), err=True, nl=False)
    if unwritten:
        raise SystemExit(WRONG_USAGE)
    if problems:
        raise SystemExit(exit_code(problems))
    if check and changed:
        raise SystemExit(WRONG_POLICY)
    if not changed:
        click.echo(f"{counted(len(files), 'file')} in canonical form")


def _names(snapshot: Snapshot) -> Iterator[str]:
    """Yield the files to write, each once, however many links lead to it."""
    seen: set[str] = set()
    for name in snapshot.policies:
        real = snapshot.files[name].real
        if snapshot.only in (None, name) and real not in seen:
            seen.add(real)
            yield name


def _unread(snapshot: Snapshot) -> Iterator[Diagnostic]:
    for name, problem in snapshot.unread.items():
        data = name.endswith((".toml", ".json"))
        if not data and snapshot.only in (None, name):
            yield problem


def _canonical(
    snapshot: Snapshot, name: str, *, before: str, engine: Engine
) -> _File | tuple[Source | None, tuple[Diagnostic, ...]]:
    """Return the file with its canonical form, or its text and what is wrong with it."""
    content = snapshot.files[name].content
    source, problems = decode(name, content)
    if source is None:
        return None, problems
    parsed = parse(source, engine=engine)
    if has_errors(parsed.diagnostics):
        return source, parsed.diagnostics
    return _File(
        shown=visible(before + name),
        real=Path(snapshot.files[name].real),
        content=content,
        canonical=format_source(parsed).encode(),
    )


def _empty(path: Path) -> Diagnostic:
    return diagnose(
        "empty-policy",
        f"there is no policy file in `{visible(str(path), 200)}`",
        help="a policy folder holds `.policy` files",
    )


def _write(file: _File) -> str | None:
    """Replace the file with its canonical form atomically; return the error, if any.

    The target of a link is replaced, not the link; mode and owner stay the same.
    """
    try:
        if not os.access(file.real, os.W_OK):
            return f"{file.shown} is not writable"
        replace_file(str(file.real), file.canonical, before=file.content)
    except FileChanged:
        return f"{file.shown} was changed by another program and was not written"
    except OSError as problem:
        return f"{file.shown} could not be written: {problem.strerror or problem}"
    return None
