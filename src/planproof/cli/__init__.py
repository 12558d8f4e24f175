"""Command line interface: one module per command."""

from __future__ import annotations


def main() -> None:
    """Run the command named in the arguments."""
    import sys
    from io import TextIOWrapper

    try:
        from planproof.cli.app import app
    except KeyboardInterrupt:
        # Ctrl-C while the command is still being loaded; afterwards `handle_errors` catches it.
        sys.exit(130)

    for stream in (sys.stdout, sys.stderr):
        # Print a question mark for characters the terminal can't encode, instead of a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="planproof")
