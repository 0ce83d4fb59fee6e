"""Changes one key of a policy's `placet.toml`, after checking what the policy becomes.

The folder with the edit is built in memory exactly as a reload would build it, tests included, and
nothing is written unless it makes a generation. Edits of one folder wait for each other.
"""

from __future__ import annotations

import codecs
import difflib
import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from policy.catalog import Catalog, builtin_catalog
from policy.config_edit.atomic_write import FileChanged, FolderBusy, exclusive_lock, replace_file
from policy.config_edit.permissiveness import is_more_permissive
from policy.config_edit.toml_edit import Missing, set_value, unset_value, value_at
from policy.config_edit.toml_values import Path, plain_value, read_key, write_key, write_value
from policy.diagnostics import Diagnostic
from policy.generation import (
    SETTINGS_FILE,
    Builder,
    Built,
    Generation,
    Snapshot,
    content_digest,
    decode,
    parse_toml,
    read_folder,
    with_file,
)
from policy.model import ConfigurationRefused, PolicyInvalid, Verdict, strictest
from policy.values import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """One edit of `placet.toml`: what stood at `key` before and what stands there after, as TOML.

    `looser` says that the edit may let through what was stopped, None for a key outside of the
    tables of permissions. The digests are those of the file, None where there was none. `changed`
    says that the file is now another; `generation` is the policy with the edit, and the one in
    force where a store made it. `diff` is unified, empty where nothing changes.
    """

    key: str
    before: str | None
    after: str | None
    looser: bool | None
    old_digest: str | None
    new_digest: str | None
    diff: str
    changed: bool
    generation: Generation
    diagnostics: tuple[Diagnostic, ...]


# Is told of an edit that is right, before it is made; raising leaves everything as it was.
Witness: TypeAlias = Callable[[Configured], None]


def configure(
    path: str | os.PathLike[str],
    key: str,
    value: Any,
    *,
    catalog: Catalog | None = None,
    builder: Builder | None = None,
    number: int = 1,
    witness: Witness | None = None,
    dry_run: bool = False,
) -> Configured:
    """Set one key of the configuration of the policy at `path`; None as the value takes it away.

    Raises PolicyInvalid with every diagnostic if the policy could not be used with the edit, and
    ConfigurationRefused if the edit cannot be made; then nothing is written. With `dry_run`
    nothing is written either way.
    """
    keys = read_key(key)
    if isinstance(keys, Unreadable):
        raise ConfigurationRefused(keys.reason)
    folder = _folder(path)
    work = _Work(
        path=keys,
        value=plain_value(value),
        catalog=builtin_catalog() if catalog is None else catalog,
        builder=builder or Builder(),
        number=number,
    )
    try:
        if dry_run:
            return replace(work.planned(read_folder(path))[0], changed=False)
        with exclusive_lock(folder):
            return work.made(read_folder(path), witness)
    except FolderBusy:
        raise ConfigurationRefused(
            "another edit of this configuration is under way; try again", again=True
        ) from None
    except FileChanged:
        raise ConfigurationRefused(
            f"`{SETTINGS_FILE}` was changed meanwhile; nothing was written, try again", again=True
        ) from None
    except OSError as error:
        raise ConfigurationRefused(
            f"`{SETTINGS_FILE}` cannot be written: {error.strerror or error}"
        ) from error


def read_configuration(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what `placet.toml` says, nothing where there is none; raises PolicyInvalid."""
    _, text = _text(read_folder(path))
    return tomllib.loads(text)


def value_of(path: str | os.PathLike[str], key: str) -> Any:
    """Return what stands at a key, None for nothing; raises like `configure`."""
    keys = read_key(key)
    if isinstance(keys, Unreadable):
        raise ConfigurationRefused(keys.reason)
    return value_at(read_configuration(path), keys)


def _folder(path: str | os.PathLike[str]) -> str:
    place = os.path.abspath(os.fspath(path))
    return place if os.path.isdir(place) else os.path.dirname(place)


def _text(snapshot: Snapshot) -> tuple[bytes, str]:
    """Return the file's byte order mark, if it has one, and its text; raises PolicyInvalid."""
    for name in ("", SETTINGS_FILE):
        if name in snapshot.unread:
            raise PolicyInvalid((snapshot.unread[name],))
    file = snapshot.files.get(SETTINGS_FILE)
    if file is None:
        return b"", ""
    source, problems = decode(SETTINGS_FILE, file.content, drop_mark=True)
    if source is None:
        raise PolicyInvalid(problems)
    parsed = parse_toml(source)
    if isinstance(parsed, Diagnostic):
        raise PolicyInvalid((parsed,))
    mark = codecs.BOM_UTF8 if file.content.startswith(codecs.BOM_UTF8) else b""
    return mark, source.text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """One edit to be made; `value` None takes the key away."""

    path: Path
    value: Any
    catalog: Catalog
    builder: Builder
    number: int

    def made(self, snapshot: Snapshot, witness: Witness | None) -> Configured:
        """Make the edit; raises Moved, OSError, and what `planned` and the witness raise."""
        planned, content = self.planned(snapshot)
        if not planned.changed:
            return planned
        if witness is not None:
            witness(planned)
        file = snapshot.files.get(SETTINGS_FILE)
        replace_file(
            os.path.join(snapshot.root, SETTINGS_FILE),
            content,
            before=None if file is None else file.content,
        )
        return planned

    def planned(self, snapshot: Snapshot) -> tuple[Configured, bytes]:
        """Return what the edit would come to and the file's new bytes, without writing."""
        mark, old = _text(snapshot)
        new = self._edited(old)
        content = mark + new.encode()
        file = snapshot.files.get(SETTINGS_FILE)
        edited = snapshot if new == old else with_file(snapshot, SETTINGS_FILE, content)
        built = self.builder.build(
            edited, catalog=self.catalog, number=self.number, now=datetime.now(UTC)
        )
        if built.generation is None:
            raise PolicyInvalid(built.diagnostics, sources=built.sources)
        before, after = value_at(tomllib.loads(old), self.path), self.value
        planned = Configured(
            key=write_key(self.path),
            before=_written(before),
            after=_written(after),
            looser=is_more_permissive(self.path, before, after, default=_default(self.path, built)),
            old_digest=None if file is None else content_digest(file.content),
            new_digest=content_digest(content),
            diff=_diff(old, new),
            changed=new != old,
            generation=built.generation,
            diagnostics=built.diagnostics,
        )
        return planned, content

    def _edited(self, text: str) -> str:
        before = value_at(tomllib.loads(text), self.path)
        tables = isinstance(self.value, dict) or (self.value is None and isinstance(before, dict))
        if tables and self.path[0] in ("permissions", "policies"):
            # As a whole, nobody could say whether it lets through what was stopped.
            raise ConfigurationRefused("rules are set key by key, not as a whole table")
        if None not in (before, self.value) and _written(before) == _written(self.value):
            return text
        edited = (
            unset_value(text, self.path)
            if self.value is None
            else set_value(text, self.path, self.value)
        )
        match edited:
            case Missing():
                raise ConfigurationRefused(f"`{write_key(self.path)}` is not set")
            case Unreadable():
                raise ConfigurationRefused(edited.reason)
            case _:
                return edited


def _written(value: Any) -> str | None:
    if value is None:
        return None
    written = write_value(value)
    return None if isinstance(written, Unreadable) else written


def _diff(old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), SETTINGS_FILE, SETTINGS_FILE, lineterm=""
    )
    return "\n".join(lines)


def _default(path: Path, built: Built) -> Verdict | None:
    """Return the strictest that a tool may meet where no rule of a key's layer speaks of it.

    That is a default of the layer, or, for what is delegated, the gap that the layer can fill.
    """
    assert built.generation is not None
    agent = path[2] if path[:2] == ("permissions", "agents") and len(path) > 2 else None
    layers = built.generation.program.policy.layers
    delegated = [d.to for layer in layers if layer.key.kind == "every" for d in layer.delegations]
    for layer in layers:
        everyone = layer.key.kind == "every"
        if everyone if agent is None else not everyone and layer.key.names == (agent,):
            gap = bool(delegated) if everyone else layer.key in delegated
            plain = any(default.tools is None for default in layer.defaults)
            if gap or (everyone and not plain):
                return Verdict.DENY
            return strictest(default.verdict for default in layer.defaults)
    return Verdict.DENY if agent is None else None
