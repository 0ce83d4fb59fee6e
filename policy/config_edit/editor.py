"""Changes one key of a policy's `placet.toml`, after checking the policy with that change.

The folder with the edit is built in memory exactly as a reload would build it, tests included, and
nothing is written unless the result is valid. Edits of one folder wait for each other.
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
    """One edit of `placet.toml`: the value at `key` before and after it, as TOML.

    `looser` is whether the edit may allow more calls, None for a key outside of the tables of
    permissions. The digests are those of the file, None if there was none. `changed` is whether the
    file changed; `generation` is the policy with the edit, and the one in force if a store made it.
    `diff` is a unified diff, empty if nothing changes. `waiting` is the digest of a difference that
    people have to acknowledge before the edit takes effect, empty if it has.
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
    waiting: str = ""


# Called with a valid edit before it is made; if it raises, nothing is changed.
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
    """Set one key of the configuration of the policy at `path`; the value None removes it.

    Raises PolicyInvalid with every diagnostic if the policy would be invalid with the edit, and
    ConfigurationRefused if the edit cannot be made; then nothing is written. With `dry_run` nothing
    is written in any case.
    """
    keys = read_key(key)
    if isinstance(keys, Unreadable):
        raise ConfigurationRefused(keys.reason)
    folder = _folder(path)
    edit = _Edit(
        path=keys,
        value=plain_value(value),
        catalog=builtin_catalog() if catalog is None else catalog,
        builder=builder or Builder(),
        number=number,
    )
    try:
        if dry_run:
            return replace(edit.planned(read_folder(path))[0], changed=False)
        with exclusive_lock(folder):
            return edit.made(read_folder(path), witness)
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
    """Return the content of `placet.toml`, empty if there is none; raises PolicyInvalid."""
    _, text = _text(read_folder(path))
    return tomllib.loads(text)


def value_of(path: str | os.PathLike[str], key: str) -> Any:
    """Return the value at a key, None if it is not set; raises like `configure`."""
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
class _Edit:
    """One edit to be made; `value` None removes the key."""

    path: Path
    value: Any
    catalog: Catalog
    builder: Builder
    number: int

    def made(self, snapshot: Snapshot, witness: Witness | None) -> Configured:
        """Make the edit; raises FileChanged, OSError, and what `planned` and the witness raise."""
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
        """Return the result of the edit and the file's new bytes, without writing."""
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
            # For a whole table, it is not known whether it allows more calls.
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
    """Return the strictest verdict that may apply to a tool that no rule of a key's layer names.

    That is a default of the layer; a tool that is delegated, and that no rule allows, is denied.
    """
    assert built.generation is not None
    agent = path[2] if path[:2] == ("permissions", "agents") and len(path) > 2 else None
    layers = built.generation.program.policy.layers
    delegated = [d.to for layer in layers if layer.key.kind == "every" for d in layer.delegations]
    for layer in layers:
        everyone = layer.key.kind == "every"
        if everyone if agent is None else not everyone and layer.key.names == (agent,):
            gap = bool(delegated) if everyone else layer.key in delegated
            has_plain_default = any(default.tools is None for default in layer.defaults)
            if gap or (everyone and not has_plain_default):
                return Verdict.DENY
            return strictest(default.verdict for default in layer.defaults)
    return Verdict.DENY if agent is None else None
