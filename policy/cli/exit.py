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
    """Run a command; an error that ends it is reported in one line, never as a traceback.

    Errors of the types in `left` are raised to the caller.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character must not end the command.
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
    except Exception as error:  # noqa: BLE001 — an internal error is reported like any other
        _end(f"internal error, please report it: {type(error).__name__}: {error}")


def _end(message: str) -> NoReturn:
    import click

    from policy.diagnostics import visible

    with suppress(OSError):
        click.echo(f"placet: {visible(message, 500)}", err=True)
    raise SystemExit(_WRONG_USAGE)


def _drop_output() -> None:
    """Discard unwritten output, so that the interpreter does not try again at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
