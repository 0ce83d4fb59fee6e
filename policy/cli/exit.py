"""How a command ends: an error that ends it early is one line, never a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, NoReturn

_INTERRUPTED = 130
_NOBODY_READS = 141
_WRONG_USAGE = 2


def with_errors_reported(
    run: Callable[[], Any], *, left: tuple[type[BaseException], ...] = ()
) -> Any:
    """Run a command; whatever ends it early is told in one line, never by a traceback.

    What is `left` to the caller is raised as it is.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    try:
        return run()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
    except left:
        raise
    except OSError as error:
        _drop_output()
        if error.errno == errno.EPIPE:
            raise SystemExit(_NOBODY_READS) from None
        _end(f"{error.filename or 'the output'}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 — a flaw of ours is told like any other trouble
        _end(f"internal error, please report it: {type(error).__name__}: {error}")


def _end(message: str) -> NoReturn:
    import click

    from policy.diagnostics import visible

    with suppress(OSError):
        click.echo(f"placet: {visible(message, 500)}", err=True)
    raise SystemExit(_WRONG_USAGE)


def _drop_output() -> None:
    """Let what could not be written go, so that the interpreter does not try again at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
