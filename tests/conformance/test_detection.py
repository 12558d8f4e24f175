"""The seam between sources and readers: every source is claimed by one reader, or by none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import Event, Kind, Trace
from planproof.readers import recognition
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import split_traces
from planproof.readers.detect import read_trace
from planproof.readers.recognition import FALLBACK_READER, detect_reader, list_readers, load_reader
from tests.golden_files import GOLDENS, Golden
from tests.third_party import FILES, one_case_a_trace, with_bench
from tests.unit.readers.samples import ALL

DEDICATED = [name for name in list_readers() if name != FALLBACK_READER]


def claims(source: Source) -> list[str]:
    return [name for name in DEDICATED if load_reader(name).sniff(source)]


@pytest.mark.parametrize("name", ALL)
def test_no_sample_is_claimed_by_two_readers(name: str) -> None:
    assert len(claims(Source.from_value(ALL[name]))) <= 1


@pytest.mark.parametrize("name", DEDICATED)
@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [[]],
        [{}],
        [None],
        {"messages": []},
        {"events": []},
        {"spans": []},
        [{"role": None}],
        "plain text",
        '{"a": 1}\n{"a": 2}',
        "5\n",
    ],
    ids=repr,
)
def test_no_reader_claims_what_says_nothing(name: str, value: Any) -> None:
    assert load_reader(name).sniff(Source.from_value(value)) is False


@pytest.mark.parametrize(
    "golden",
    [golden for golden in GOLDENS if golden.file.suffix == ".jsonl"],
    ids=lambda golden: golden.name,
)
def test_a_session_of_a_single_line_keeps_its_reader(golden: Golden) -> None:
    read = 0
    for line in golden.text.splitlines():
        source = Source.from_text(line + "\n")
        own = claims(source)
        assert own in ([], [golden.expected["reader"]])
        # In the native form an event without its parent is an error.
        is_child = own == ["native"] and source.document.get("parent")
        for event in read_trace(source).events if own and not is_child else ():
            resolve(source.document, event.pointer)
            read += 1
    # Bare items of the first rollouts are those of the Responses API when no header is there.
    assert read or golden.name == "codex-bare"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_third_party_file_is_claimed_by_one_reader(file: Path) -> None:
    whole = Source.from_path(file)
    sources = [member.source for member in split_traces(whole)] or [whole]
    assert {len(claims(source)) for source in sources} == {1}
    assert all(read_trace(source).events for source in sources)


@with_bench
def test_every_trace_of_the_bench_is_claimed_by_one_reader() -> None:
    by_count: dict[int, set[str]] = {}
    for case in one_case_a_trace():
        source = Source.from_value(case["execution_trace"])
        by_count.setdefault(len(claims(source)), set()).add(case["format"])
        assert not split_traces(source), case["id"]
    assert by_count.keys() == {1}, by_count


class _Stub:
    """A reader from elsewhere that claims everything, or fails."""

    def __init__(self, name: str, failing: str = "") -> None:
        self.name = name
        self._failing = failing

    def sniff(self, source: Source) -> bool:
        if self._failing == "sniff":
            raise ZeroDivisionError(source.name)
        return True

    def read(self, source: Source) -> Trace:
        if self._failing == "read":
            raise ZeroDivisionError(source.name)
        return Trace((Event(id="e1", kind=Kind.MESSAGE, pointer="", text="hi"),), self.name)


def test_a_reader_that_fails_to_look_is_left_out_and_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    readers = (_Stub("unsound", "sniff"), load_reader("native"))
    monkeypatch.setattr(recognition, "_iter_dedicated_readers", lambda: iter(readers))
    for _ in range(2):
        found = detect_reader(Source.from_value([{"kind": "message"}], name="here"))
        assert found is readers[1]
    assert [record.getMessage() for record in caplog.records] == [
        "the reader `unsound` is skipped: failed to detect its format: ZeroDivisionError: here"
    ]


OUTSIDE = '''
from planproof.core.trace import Event, Kind, Trace


class TabReader:
    """Reads lines of a time, an actor and a text, with tabs between them."""

    name = "tabs"

    def sniff(self, source):
        return source.form == "text" and source.document.count("\\t") >= 2

    def read(self, source):
        if "fail" in source.document:
            raise ValueError("no such line")
        lines = [line.split("\\t", 2) for line in source.document.splitlines()]
        return Trace(
            tuple(
                Event(id=f"e{n}", kind=Kind.MESSAGE, pointer=f"L{n}", actor=actor, text=text)
                for n, (_, actor, text) in enumerate(lines, 1)
            ),
            self.name,
        )


class Greedy(TabReader):
    """Reads whatever the built-in reader of OpenAI messages would read."""

    name = "greedy"

    def sniff(self, source):
        return source.form == "json"

    def read(self, source):
        return Trace((), self.name)
'''


def installed(folder: Path, package: str, code: str, **readers: str) -> dict[str, str]:
    """The environment in which a package with readers of its own is installed."""
    (folder / f"{package}.py").write_text(code, encoding="utf-8")
    information = folder / f"{package}-1.2.dist-info"
    information.mkdir()
    name = package.replace("_", "-")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    entries = [f"{name} = {package}:{value}" for name, value in readers.items()]
    (information / "entry_points.txt").write_text("\n".join(["[planproof.readers]", *entries]))
    return {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "80"}


@pytest.fixture
def outside(tmp_path: Path) -> dict[str, str]:
    return installed(
        tmp_path, "tab_traces", OUTSIDE, tabs="TabReader", greedy="Greedy", gone="NoSuch"
    )


def planproof(outside: dict[str, str], *arguments: str, given: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "planproof", *arguments],
        input=given,
        capture_output=True,
        env=outside,
        check=False,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_reader_of_another_package_is_listed_with_its_package(outside: dict[str, str]) -> None:
    code, out, _ = planproof(outside, "readers")
    told = " ".join(out.split())
    assert code == 0
    assert "tabs Reads lines of a time, an actor and a text, with tabs between them." in told
    assert told.count("(from tab-traces 1.2)") == 3
    assert "gone Not available: the reader `gone` can't be loaded from `tab_traces:NoSuch`" in told


def test_a_reader_of_another_package_is_found_and_used(outside: dict[str, str]) -> None:
    code, out, err = planproof(outside, "inspect", "-", given="1\tuser\thi\n2\tbot\thello\n")
    assert code == 0
    assert "read by tabs: 2 events (2 messages)" in out
    assert "the reader `gone` is skipped" in err


def test_a_reader_of_another_package_goes_before_the_built_in_ones(outside: dict[str, str]) -> None:
    messages = '[{"role": "user", "content": "hi"}]'
    assert "read by greedy" in planproof(outside, "inspect", "-", given=messages)[1]
    chosen = planproof(outside, "inspect", "-", "--reader", "openai-messages", given=messages)
    assert "read by openai-messages" in chosen[1]


def test_a_reader_of_another_package_that_fails_is_named(outside: dict[str, str]) -> None:
    code, _, err = planproof(outside, "inspect", "-", given="1\tuser\tfail\n2\tbot\thello\n")
    assert code == 2
    assert "the reader `tabs` of tab-traces 1.2 failed: ValueError: no such line." in err


def test_the_reader_of_the_docs_works_from_a_package_of_its_own(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "writing-a-reader.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    log = page.partition("```json\n")[2].partition("```")[0]
    assert len(code.splitlines()) <= 40
    shop = installed(tmp_path, "shop_traces", code, **{"shop-log": "ShopReader"})
    assert "(from shop-traces 1.2)" in planproof(shop, "readers")[1]
    code, out, err = planproof(shop, "inspect", "-", given=log)
    assert (code, err) == (0, "")
    assert "read by shop-log: 3 events (1 action, 2 messages)" in out
