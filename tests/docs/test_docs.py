"""What the docs show is what the program does."""

from __future__ import annotations

import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any, cast

import pytest
import yaml
from typer.core import TyperGroup
from typer.main import get_command

import planproof
from planproof.cli.app import app
from planproof.config import read_configuration
from planproof.contracts.contract_file import parse_contract
from planproof.contracts.contract_validation import check_contract
from planproof.extensions import find_package, list_names
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.profile_reader import load_built_in_profiles, parse_profile
from planproof.readers.recognition import list_readers
from scripts import refresh_docs, schemas
from scripts.doc_blocks import ROOT, DocBlock, list_pages, parse_blocks
from scripts.shell import Shell, extract_commands
from tests.doc_examples import check_command, check_commands, check_python, find_commands
from tests.scripted_model import ModelRequest, ScriptedModel

BLOCKS = {page: parse_blocks(page) for page in list_pages()}
_COMMANDS = ("sh", "console")
_NOT_RUN = "not run: .{10,}"
# The marks that are allowed above a block of a language, in addition to the test that runs it.
_MARKS = {
    "console": f"|run|run on|{_NOT_RUN}",
    "sh": f"|run on|{_NOT_RUN}",
    "python": f"|{_NOT_RUN}",
    "toml": f"|{_NOT_RUN}",
    "ini": "",
    "nginx": _NOT_RUN,
    "json": "",
    "yaml": "",
    "text": r"|prompt \S+",
}
_REFRESH = "python -m scripts.refresh_docs"


def _pages_with(*languages: str, mark: str) -> list[Path]:
    """The pages that have a block in one of the languages under a mark that begins so."""
    return [page for page in BLOCKS if list(_blocks_of(page, *languages, mark=mark))]


def _blocks_of(page: Path, *languages: str, mark: str) -> Iterator[DocBlock]:
    pattern = re.compile(mark)
    for block in BLOCKS[page]:
        if block.language in languages and pattern.fullmatch(block.mark):
            yield block


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="session")
def model() -> Iterator[dict[str, str]]:
    """The settings under which a model answers, in short, whatever it is asked."""

    def behaviour(asked: ModelRequest) -> str:
        fields = (asked.schema or {}).get("properties", {})
        if "score" in fields:
            return json.dumps({"score": 0.5, "reason": "Step 2 is missing."})
        if "extras" in fields:
            return json.dumps({"steps": [], "extras": []})
        if "kinds" in fields:
            return json.dumps({"kinds": []})
        step = {"text": "Look up the order.", "event": "e3", "quote": "get_order"}
        return json.dumps({"task": None, "steps": [step]})

    with ScriptedModel(behaviour) as server:
        yield {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}


@pytest.mark.parametrize("page", BLOCKS, ids=_name)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    fences = page.read_text(encoding="utf-8").count("```")
    assert fences == 2 * len(BLOCKS[page]), "a block is not closed, or is inside another"
    for block in BLOCKS[page]:
        if block.test is not None:
            source = block.test.read_text(encoding="utf-8")
            assert "blocks_for(__file__)" in source, (
                f"{block.location}: {block.test} does not run it"
            )
            continue
        assert block.language in _MARKS, f"{block.location}: `{block.language}` is not known"
        known = re.fullmatch(_MARKS[block.language], block.mark)
        assert known, f"{block.location}: `{block.mark}` is no mark of {block.language}"


@pytest.mark.parametrize("page", _pages_with("console", "text", mark="run|prompt .*"), ids=_name)
def test_pages_show_what_commands_print_and_models_are_asked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refresh_docs.refresh_page(text) == text, _REFRESH


@pytest.mark.parametrize("page", _pages_with("python", mark=""), ids=_name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Shell.with_examples(tmp_path).folder)
    # The blocks of a page build on one another; the tests shown in them are run as well.
    names: dict[str, Any] = {"__name__": page.stem}
    for block in _blocks_of(page, "python", mark=""):
        exec(compile(block.text, block.location, "exec"), names)
    for name, value in names.items():
        if name.startswith("test_"):
            value()


def _only_run(page: Path) -> list[DocBlock]:
    """The blocks whose commands are run, and what these print is not shown."""
    return [
        block
        for block in BLOCKS[page]
        if (block.language in _COMMANDS and not block.mark)
        or (block.language == "sh" and block.mark == "run on")
    ]


@pytest.mark.parametrize("page", [*filter(_only_run, BLOCKS)], ids=_name)
def test_commands_run(page: Path, tmp_path: Path, model: dict[str, str]) -> None:
    shell: Shell | None = None
    for number, block in enumerate(_only_run(page)):
        if shell is None or not block.mark:
            (folder := tmp_path / str(number)).mkdir()
            shell = Shell.with_examples(folder, model)
        for command in extract_commands(block.text, block.language):
            ran = shell.run(command)
            # A score that is too low, a gate that does not open, or a run in which a case
            # could not be judged: these are what may be shown.
            ended = ran.exit_code in (0, 1) or (
                ran.exit_code == 3 and "stored as run" in ran.output
            )
            assert ended, f"{block.location}: {command}\n{ran.output}"


@pytest.mark.parametrize(
    "page", _pages_with("python", "toml", *_COMMANDS, mark=_NOT_RUN), ids=_name
)
def test_what_is_not_run_is_at_least_understood(page: Path) -> None:
    for block in _blocks_of(page, "python", mark=_NOT_RUN):
        check_python(block)
    for block in _blocks_of(page, *_COMMANDS, mark=_NOT_RUN):
        check_commands(block)
    for block in _blocks_of(page, "toml", mark=_NOT_RUN):
        assert tomllib.loads(block.text), block.location


def _configuration(block: DocBlock, folder: Path) -> None:
    file = folder / "planproof.toml"
    file.write_text(block.text, encoding="utf-8")
    assert read_configuration(file).path == file


def _entry_points(block: DocBlock, _: Path) -> None:
    groups = tomllib.loads(block.text)["project"]["entry-points"]
    for group, names in groups.items():
        assert list_names(group.removeprefix("planproof.")), f"{block.location}: {group}"
        assert all(re.fullmatch(r"[\w.]+:\w+", name) for name in names.values())


def _json(block: DocBlock, _: Path) -> None:
    value = json.loads(block.text)
    if block.page.parent.name == "formats":
        assert read_trace(Source.from_value(value)).reader == block.page.stem


def _is_contract(value: Any) -> bool:
    """A contract, or some of its steps."""
    if isinstance(value, list):
        return all("number" in step for step in cast("list[dict[str, Any]]", value))
    return str(value.get("planproof")).startswith("contract/")


def _yaml(block: DocBlock, _: Path) -> None:
    value: Any = yaml.safe_load(block.text)
    if _is_contract(value):
        steps = f"planproof: contract/1\nsteps:\n{indent(block.text, '  ')}"
        text = steps if isinstance(value, list) else block.text
        problems = check_contract(parse_contract(text, block.location))
        assert [problem for problem in problems if problem.is_error] == []
        return
    if "planproof" in value:
        parse_profile(block.text, name=block.location)
        return
    action: Any = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    # A workflow, or a list of its steps.
    jobs: list[Any] = list(value["jobs"].values()) if "jobs" in value else []
    for step in (step for job in jobs for step in job["steps"]):
        if step.get("uses", "").startswith("OWNER/planproof@"):
            assert set(step["with"]) <= set(action["inputs"]), block.location
    for command in find_commands(block.text):
        check_command(command, block.location)


_CHECKED = {"toml": _configuration, "ini": _entry_points, "json": _json, "yaml": _yaml}


@pytest.mark.parametrize("page", _pages_with(*_CHECKED, mark=""), ids=_name)
def test_settings_and_data_are_understood(page: Path, tmp_path: Path) -> None:
    for block in _blocks_of(page, *_CHECKED, mark=""):
        _CHECKED[block.language](block, tmp_path)


def _commands(group: TyperGroup) -> Iterator[tuple[str, str]]:
    """The names and help texts of all commands, those inside others too."""
    for name, command in group.commands.items():
        yield name, command.help or ""
        if isinstance(command, TyperGroup):
            yield from ((f"{name} {each}", told) for each, told in _commands(command))


PLANPROOF = get_command(app)
assert isinstance(PLANPROOF, TyperGroup)
COMMANDS = dict(_commands(PLANPROOF))


def test_every_command_is_on_the_page_of_commands() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    whole = [name for name in COMMANDS if " " not in name]
    assert [name for name in whole if f"$ planproof {name}" not in page] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_in_the_help_have_options_that_there_are(name: str) -> None:
    for line in COMMANDS[name].splitlines():
        if line.strip().startswith("planproof "):
            check_command(line, name)


@pytest.mark.parametrize("path", schemas.render_schemas(), ids=lambda path: path.name)
def test_published_schemas_are_those_of_the_program(path: Path) -> None:
    fresh = schemas.render_schemas()[path]
    assert path.read_text(encoding="utf-8") == fresh, _REFRESH


def test_every_reader_is_in_the_table_of_formats_and_every_page_in_the_navigation() -> None:
    formats = ROOT / "docs" / "formats"
    table = (formats / "index.md").read_text(encoding="utf-8")
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    built_in = [name for name in list_names("readers") if find_package("readers", name) is None]
    documented = re.findall(r"^\| \[`([a-z-]+)`\]\(\1\.md\)", table, re.MULTILINE)
    assert set(built_in) <= set(documented) <= set(list_readers())
    listed = re.findall(
        r"`([a-z0-9-]+)`", "".join(re.findall(r"^\| (\[?`[^|]*)\|", table, re.MULTILINE))
    )
    assert sorted(set(load_built_in_profiles()) - set(listed)) == []
    for page in formats.glob("*.md"):
        assert f"      - formats/{page.name}\n" in navigation


def test_the_api_reference_documents_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    documented = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    assert [name for name in planproof.__all__ if f"planproof.{name}" not in documented] == []
    assert [name for name in documented if pkgutil.resolve_name(name) is None] == []
