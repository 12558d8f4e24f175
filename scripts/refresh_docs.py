"""Update generated parts of the docs: outputs of commands, help texts, prompts, JSON schemas.

A console block under `<!-- run -->` is run in a copy of docs/examples with the examples of the
repository, and its output is replaced; one under `<!-- run on -->` continues in the folder of the
previous block. A text block under `<!-- prompt NAME -->` is the prompt of that name. A test checks
that the docs are up to date.
"""

from __future__ import annotations

import re
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

if __name__ == "__main__":  # as a script; under pytest the root is on the path already
    sys.path.insert(0, str(Path(__file__).parents[1]))

from planproof.llm.prompting.templates import render
from scripts import schemas, server_examples
from scripts.doc_blocks import list_pages
from scripts.shell import Shell, extract_commands

_EXAMPLE_FIRST_ANSWER = """[begin answer b4161ee005a2db288558]
step 2 (act), you said: {"step":"2","status":"executed","evidence":[{"event":"e9","quote":"send_mail"}],"events":[],"same":[]}
  not accepted, the quote is not in the event: e9 «send_mail»
step 4 (act), you said: {"step":"4","status":"executed","evidence":[{"event":"e6","quote":"NWD"}],"events":[],"same":[]}
  not shown, value “Northwind” not found in these events
[end answer b4161ee005a2db288558]"""  # noqa: E501 - as it is sent
_CONSOLE_BLOCK = re.compile(r"(<!-- run( on)? -->\n```console\n)(.*?)(```)", re.DOTALL)
# Ids and durations of runs.
_RUN_ID = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b")
_DURATION = re.compile(r"(\bcases? in |\btime=\")\d+\.\d+")
_PROMPT_BLOCK = re.compile(r"(<!-- prompt (\S+) -->\n```text\n)(.*?)(```\n)", re.DOTALL)


def refresh_page(page: str) -> str:
    """Return the page with current command outputs and prompts."""
    page = _PROMPT_BLOCK.sub(
        lambda block: f"{block[1]}{_render_prompt(block[2])}\n{block[4]}", page
    )
    with ExitStack() as folders:
        session = _PageSession(folders)
        return _CONSOLE_BLOCK.sub(session.refresh_block, page)


def _render_prompt(name: str) -> str:
    return render(
        name,
        images=False,
        mark="",
        steps=["2", "5"],
        told=_EXAMPLE_FIRST_ANSWER,
        tools=False,
        complete=False,
    )


class _PageSession:
    """Runs the blocks of a page, each in a new folder unless it continues the previous one."""

    def __init__(self, folders: ExitStack) -> None:
        self._folders = folders
        self._shell: Shell | None = None
        self._runs: dict[str, str] = {}

    def refresh_block(self, block: re.Match[str]) -> str:
        head, on, session, end = block.groups()
        if on is None or self._shell is None:
            folder = self._folders.enter_context(tempfile.TemporaryDirectory())
            self._shell = Shell.with_examples(Path(folder))
            self._runs = {}
        shown = [
            f"$ {command}\n{self._run_command(command, self._shell)}"
            for command in extract_commands(session, "console")
        ]
        return "".join((head, *shown, end))

    def _run_command(self, command: str, shell: Shell) -> str:
        """Return the output of a command, with changing parts replaced."""
        printed = shell.run(command).output.replace(str(shell.folder), "/home/you/project")
        lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
        return _DURATION.sub(r"\g<1>0.1", _RUN_ID.sub(self._replace_run_id, lines))

    def _replace_run_id(self, match: re.Match[str]) -> str:
        day = len(self._runs) + 1
        return self._runs.setdefault(match[0], f"2026010{day}-030000-{0xABC122 + day:x}")


def main() -> None:
    """Rewrite the pages, the schemas and the examples of the server in place."""
    for page in list_pages():
        page.write_text(refresh_page(page.read_text(encoding="utf-8")), encoding="utf-8")
    for path, text in schemas.render_schemas().items():
        path.write_text(text, encoding="utf-8")
    server_examples.FILE.write_text(server_examples.render_file(), encoding="utf-8")


if __name__ == "__main__":
    main()
