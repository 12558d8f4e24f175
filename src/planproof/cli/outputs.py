"""Output of the commands: verdicts in several formats, to standard output or a file."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO, TypeAlias

import typer

from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import RenderableType

    from planproof.core.verdict import Verdict
    from planproof.reports.terminal.lines import Line

# In a wider layout a step and its status are too far apart to be read as one line.
_MAX_WIDTH = 100

OutputOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Output file, written atomically."),
]

NoRedactOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-redact",
        help="Don't redact secrets. Machine-readable formats are never redacted, so that quotes "
        "match the trace.",
    ),
]


class Format(StrEnum):
    """Output format of a verdict."""

    TERMINAL = "terminal"
    JSON = "json"
    FULL = "full"
    MARKDOWN = "markdown"
    HTML = "html"


def format_verdict(verdict: Verdict, form: Format, *, secrets: bool, stream: TextIO) -> str:
    """Format a verdict for a stream."""
    if form is Format.TERMINAL:
        from planproof.reports.terminal.verdict_lines import render_verdict

        return render_rich(render_verdict(verdict, secrets=secrets), stream)
    if form is Format.MARKDOWN:
        from planproof.reports.markdown import verdict_to_markdown

        return verdict_to_markdown(verdict, secrets=secrets)
    from planproof.reports import json

    # A page shows the trace too, so it can't be made from a verdict alone.
    assert form is not Format.HTML
    return (
        json.to_brief_json(verdict) if form is Format.JSON else json.to_full_json(verdict)
    ) + "\n"


def render_rich(renderable: RenderableType, stream: TextIO) -> str:
    """Render to text of limited width, with colour only if the stream is a terminal."""
    from rich.console import Console

    console = Console(file=stream)
    console.width = min(console.width, _MAX_WIDTH)
    with console.capture() as captured:
        console.print(renderable)
    text = captured.get()
    if console.is_terminal:
        return text
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def render_lines(lines: Iterable[Line], stream: TextIO) -> str:
    """Render lines to text, with colour if the stream is a terminal."""
    from planproof.reports.terminal.lines import to_plain_text

    if not stream.isatty():
        return "".join(f"{to_plain_text(line)}\n" for line in lines)
    from rich.console import Group
    from rich.text import Text

    parts = [Text.assemble(*line, no_wrap=True, overflow="ellipsis") for line in lines]
    return render_rich(Group(*parts), stream)


@contextmanager
def open_text_output(output: Path | None) -> Generator[TextIO, None, None]:
    """Open standard output, or a file written atomically, for text."""
    if _is_standard_output(output):
        yield sys.stdout
        sys.stdout.flush()
        return
    with open_binary_output(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.detach()


@contextmanager
def open_binary_output(output: Path | None) -> Generator[BinaryIO, None, None]:
    """Open standard output, or a file written atomically.

    If writing is interrupted, the incomplete output stays next to the file as `FILE.PID.partial`,
    so two commands with the same output don't mix theirs; the next complete output removes it.
    Only its owner can read a new file, like the store, because it contains text of the trace; a
    file that is replaced keeps its mode.
    """
    if output is None or _is_standard_output(output):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = output.resolve()
    # Devices and pipes can't be replaced by a file of the same name, nor should they be.
    is_atomic = not target.exists() or target.is_file()
    try:
        if not is_atomic:
            with target.open("wb") as file:
                yield file
            return
        partial = locate_partial_output(target)
        with open(partial, "wb", opener=_open_private) as file:
            _try_lock(file)
            try:
                yield file
            except BaseException:
                file.flush()
                if not partial.stat().st_size:
                    partial.unlink()  # there is nothing to keep
                raise
        if target.exists():
            partial.chmod(target.stat().st_mode & 0o777)
        partial.replace(target)
        _remove_abandoned(target)
    except OSError as error:
        raise InvalidInput(
            f"can't be written: {error.strerror}.", where=str(output), advice="Check the path."
        ) from error


def locate_partial_output(output: Path) -> Path:
    """Return where this process writes an output file until it is complete."""
    return output.with_name(f"{output.name}.{os.getpid()}.partial")


def _remove_abandoned(output: Path) -> None:
    """Remove partial outputs of commands that were killed; those still running hold a lock."""
    for partial in output.parent.glob(f"{glob.escape(output.name)}.*.partial"):
        with suppress(OSError), partial.open("rb") as file:
            if _try_lock(file):
                partial.unlink()


def _try_lock(file: BinaryIO) -> bool:
    """Lock a file, unless another process has; return False if that is not possible."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def _is_standard_output(output: Path | None) -> bool:
    return output is None or str(output) == "-"


def make_plain_stream() -> TextIO:
    """Return a stream that is not a terminal, for rendering output to a file."""
    return io.StringIO()
