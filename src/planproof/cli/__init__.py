"""Command line interface: one module per command."""

from __future__ import annotations


def main() -> None:
    """Run the command named in the arguments."""
    import sys

    try:
        _run()
    except KeyboardInterrupt:
        # Ctrl-C while the command is still being loaded; afterwards `handle_errors` catches it.
        sys.exit(130)


def _run() -> None:
    import sys
    from io import TextIOWrapper

    from planproof.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # Print a question mark for characters the terminal can't encode, instead of a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="planproof")
