"""`placet fmt`: rule files in their one canonical form."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from policy.cli.loading import WRONG_POLICY, WRONG_USAGE, path_argument, stop
from policy.diagnostics import has_errors, render
from policy.reload import decode, read_folder
from policy.source import Source
from policy.syntax import Parsed, format_source, parse


@click.command("fmt")
@path_argument
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if a file would change.")
def command(path: Path, *, check: bool) -> None:
    """Rewrite the rule files at PATH in canonical form; comments and meaning stay.

    \b
    Examples:
      placet fmt rules/
      placet fmt --check rules/agents/writer.policy
    """
    broken = changed = total = 0
    for file, parsed in _parsed_files(path):
        total += 1
        if has_errors(parsed.diagnostics):
            source = parsed.tree.source
            click.echo(render(parsed.diagnostics, sources={source.name: source}), err=True)
            broken += 1
            continue
        text = format_source(parsed)
        if text.encode() == file.read_bytes():
            continue
        changed += 1
        click.echo(f"{'would change' if check else 'changed'} {file}")
        if not check:
            _replace(file, text.encode())
    if not total:
        stop(f"there is no policy file at {path}")
    if broken:
        raise SystemExit(WRONG_USAGE)
    if check and changed:
        raise SystemExit(WRONG_POLICY)
    if not changed:
        click.echo(f"{total} files are in canonical form")


def _parsed_files(path: Path) -> Iterator[tuple[Path, Parsed]]:
    snapshot = read_folder(path)
    for problem in snapshot.unread.values():
        click.echo(render([problem]), err=True)
    for name in snapshot.policies:
        if snapshot.only not in (None, name):
            continue
        source, problems = decode(name, snapshot.files[name].content)
        if source is None:
            click.echo(render(problems), err=True)
            raise SystemExit(WRONG_USAGE)
        yield Path(snapshot.files[name].real), parse(Source(name=name, text=source.text))


def _replace(file: Path, content: bytes) -> None:
    """Put new content in place of a file in one step, so that no reader sees half of it."""
    with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as fresh:
        fresh.write(content)
    shutil.copymode(file, fresh.name)
    os.replace(fresh.name, file)
