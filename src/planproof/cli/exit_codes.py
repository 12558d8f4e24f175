"""Exit codes and error messages on standard error: what, where, advice; never a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from textwrap import wrap
from typing import ParamSpec, TypeVar

import typer

from planproof.errors import PlanproofError

BELOW_MINIMUM = 1
REJECTED = 1
GATE_FAILED = 1
DIFFERENT = 1
BAD_INPUT = 2
NOT_JUDGED = 3
NO_PLAN = 3
INTERRUPTED = 130
PIPE_CLOSED = 141

_WIDTH = 80
_P = ParamSpec("_P")
_T = TypeVar("_T")


def handle_errors(command: Callable[_P, _T]) -> Callable[_P, _T]:
    """Turn exceptions raised by a command into an error message and an exit code."""

    @wraps(command)
    def run_command(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except PlanproofError as error:
            print_error(error)
            raise typer.Exit(BAD_INPUT) from error
        except KeyboardInterrupt as error:
            typer.echo("planproof: interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:
            # The reader of our output closed the pipe; without this, Python would report it again
            # on flush.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(PIPE_CLOSED) from error
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            typer.echo(
                f"planproof: internal error: {type(error).__name__}: {error} "
                f"({Path(last.filename).name}, line {last.lineno})\n"
                "  This is a bug in planproof; please report it with the command you ran.",
                err=True,
            )
            raise typer.Exit(NOT_JUDGED) from error

    return run_command


def print_error(error: PlanproofError) -> None:
    """Print what went wrong, where, and what to do to standard error."""
    from planproof.reports.plain_text import to_one_line

    location = f"{to_one_line(error.where)}: " if error.where else ""
    lines = [f"planproof: error: {location}{to_one_line(error.what)}"]
    if error.advice:
        lines.append(f"  {to_one_line(error.advice)}")
    # In a log an error is one line, which programs can search.
    show = wrap_notice if sys.stderr.isatty() else str
    for line in lines:
        typer.echo(show(line), err=True)


def print_notice(text: str) -> None:
    """Print text to standard error in lines of 80 columns, without breaking words and paths."""
    typer.echo(wrap_notice(text), err=True)


def wrap_notice(text: str) -> str:
    """Wrap text to lines of 80 columns; what does not fit on the first one is indented."""
    lines = wrap(
        text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)
