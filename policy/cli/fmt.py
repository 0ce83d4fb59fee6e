"""`placet fmt`: rewrites rule files in canonical form."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import click

from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, WRONG_USAGE, counted, exit_code, exit_with, prefix
from policy.cli.options import path_or_stdin_argument
from policy.config_edit import FileChanged, replace_file
from policy.diagnostics import Diagnostic, diagnose, has_errors, in_order, render, visible
from policy.generation import LARGEST_FILE, Snapshot, decode, read_folder
from policy.model import Source
from policy.syntax import Engine, format_source, parse

# In place of a path: read standard input, write standard output.
_STDIN = "-"
_NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyText:
    """One file as it was read, and its canonical form; `real` is None for standard input."""

    shown: str
    real: Path | None
    content: bytes
    canonical: bytes

    @property
    def changes(self) -> bool:
        return self.canonical != self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """The files that can be formatted, and what is wrong with the others."""

    files: tuple[_PolicyText, ...]
    problems: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    root: str = ""


@click.command("fmt")
@path_or_stdin_argument
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change as a diff.")
def command(path: Path, *, check: bool, diff: bool) -> None:
    """Rewrite the rule files at PATH in canonical form; comments and meaning stay the same.

    With `-` as PATH, one file is read from standard input and written to standard output. A file
    that cannot be parsed is not changed, and its errors are shown; the others are written.

    \b
    Examples:
      placet fmt rules/
      placet fmt --check --diff rules/agents/writer.policy
      placet fmt - < rules/global.policy
    """
    engine = fast_paths().engine
    found = _read_stdin(engine) if str(path) == _STDIN else _read(path, engine)
    changed = [file for file in found.files if file.changes]
    unwritten = False
    if diff:
        for file in changed:
            click.echo(_diff(file), nl=False)
    elif check:
        for file in changed:
            click.echo(f"would change {file.shown}")
    else:
        results = [_written(file) for file in found.files]
        unwritten = not all(results)
    if found.problems:
        text = render(in_order(found.problems), sources=found.sources, root=found.root)
        click.echo(text, err=True, nl=False)
    if unwritten:
        raise SystemExit(WRONG_USAGE)
    if found.problems:
        raise SystemExit(exit_code(found.problems))
    if check and changed:
        raise SystemExit(WRONG_POLICY)
    if not (changed or diff or str(path) == _STDIN):
        click.echo(f"{counted(len(found.files), 'file')} in canonical form")


def _read(path: Path, engine: Engine) -> _Files:
    """Return the rule files of a policy."""
    snapshot = read_folder(path)
    files: list[_PolicyText] = []
    problems, sources = list(_unread(snapshot)), {}
    for name in _names(snapshot):
        read = snapshot.files[name]
        shown = visible(prefix(path) + name)
        found = _canonical(name, read.content, shown=shown, real=Path(read.real), engine=engine)
        if isinstance(found, _PolicyText):
            files.append(found)
            continue
        source, wrong = found
        problems += wrong
        if source is not None:
            sources[name] = source
    if not (files or problems):
        problems.append(_empty(path))
    return _Files(files=tuple(files), problems=tuple(problems), sources=sources, root=prefix(path))


def _read_stdin(engine: Engine) -> _Files:
    """Return standard input as one rule file."""
    if sys.stdin is None:
        exit_with("standard input is closed")
    content = sys.stdin.buffer.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        exit_with(f"standard input is longer than {LARGEST_FILE:,} bytes")
    name = "standard input"
    found = _canonical(name, content, shown=name, real=None, engine=engine)
    if isinstance(found, _PolicyText):
        return _Files(files=(found,), problems=(), sources={})
    source, problems = found
    return _Files(
        files=(), problems=problems, sources={} if source is None else {source.name: source}
    )


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
    name: str, content: bytes, *, shown: str, real: Path | None, engine: Engine
) -> _PolicyText | tuple[Source | None, tuple[Diagnostic, ...]]:
    """Return the file with its canonical form, or its text and what is wrong with it."""
    source, problems = decode(name, content)
    if source is None:
        return None, problems
    parsed = parse(source, engine=engine)
    if has_errors(parsed.diagnostics):
        return source, parsed.diagnostics
    return _PolicyText(
        shown=shown, real=real, content=content, canonical=format_source(parsed).encode()
    )


def _empty(path: Path) -> Diagnostic:
    return diagnose(
        "empty-policy",
        f"there is no policy file in `{visible(str(path), 200)}`",
        help="a policy folder holds `.policy` files",
    )


def _diff(file: _PolicyText) -> str:
    """Return the change as a unified diff, with hidden characters escaped."""
    before, after = _lines(file.content), _lines(file.canonical)
    lines = unified_diff(before, after, file.shown, file.shown, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _lines(content: bytes) -> list[str]:
    *lines, rest = (visible(line) for line in content.decode().split("\n"))
    return [*lines, rest, _NO_NEWLINE] if rest else lines


def _written(file: _PolicyText) -> bool:
    """Write the canonical form, and report it; return whether that succeeded."""
    if file.real is None:
        click.echo(file.canonical, nl=False)
        return True
    if not file.changes:
        return True
    problem = _write(file, file.real)
    if problem is not None:
        click.echo(f"placet: {problem}", err=True)
        return False
    click.echo(f"changed {file.shown}")
    return True


def _write(file: _PolicyText, real: Path) -> str | None:
    """Replace the file with its canonical form atomically; return the error, if any.

    The target of a link is replaced, not the link; mode and owner stay the same.
    """
    try:
        if not os.access(real, os.W_OK):
            return f"{file.shown} is not writable"
        replace_file(str(real), file.canonical, before=file.content)
    except FileChanged:
        return f"{file.shown} was changed by another program and was not written"
    except OSError as problem:
        return f"{file.shown} could not be written: {problem.strerror or problem}"
    return None
