"""The command line: one file a command, each thin."""

from __future__ import annotations


def main() -> None:
    """Run the command that the arguments name."""
    import sys
    from io import TextIOWrapper

    from planproof.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character shows a question mark, not a traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="planproof")
