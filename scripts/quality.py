"""Print the quality of the `rules` judge on labelled third-party cases.

The second bench comes first: `val`, whose cases nobody reads, then `train`. The first bench, on
which the judge was tuned, comes last. An unscored case counts as neither passed nor caught. The
cases are not part of this repository: $PLANPROOF_BENCH is their folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from math import isnan
from pathlib import Path
from typing import Any, cast

from scripts import bench, quality_tables, reading_quality, v2_quality
from scripts.doc_blocks import ROOT

_EXAMPLES = """examples:
  python -m scripts.quality                          print all tables (minutes)
  python -m scripts.quality --only v2                without the first bench
  python -m scripts.quality --json figures.json      also keep the figures
  python -m scripts.quality --write-docs             also write them into README.md and docs
  python -m scripts.quality --from figures.json --write-docs   without measuring again"""


def main(arguments: list[str] | None = None) -> None:
    """Measure, or read measured figures; print the tables, and write files on request."""
    parser = _make_parser()
    options = parser.parse_args(arguments)
    if options.only is not None and options.write_docs:
        parser.error("--write-docs needs the figures of both benches: leave out --only")
    figures: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for figures in (
        [_read_figures(options.source)]
        if options.source
        else measure_benches(options.only, options.jobs)
    ):
        for name, table in quality_tables.build_tables(figures).items():
            if shown.get(name) != table:
                print(f"{name}\n\n{table}", flush=True)
            shown[name] = table
    if options.json is not None:
        text = json.dumps(figures, indent=1, allow_nan=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.write_docs:
        for page in quality_tables.write_pages(shown):
            print(f"{page} written")


def measure_benches(only: str | None = None, jobs: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the figures as JSON values: of the second bench, then of both; or only of one."""
    if only != "v2":
        bench.require_folder()  # where it is missing, say so before minutes of work
    figures: dict[str, Any] = _describe_commit()
    if only != "first":
        figures["reading"] = {
            split: reading_quality.summarize_by_source(reading_quality.measure_split(split))
            for split in bench.V2_SPLITS
        }
        figures["v2"] = {
            split: v2_quality.measure_split(split, jobs=jobs) for split in bench.V2_SPLITS
        }
        yield _replace_nan(figures)
    if only != "v2":
        from scripts import first_bench_quality  # noqa: PLC0415 - starts servers

        figures["first_bench"] = first_bench_quality.measure_first_bench()
        yield _replace_nan(figures)


def _read_figures(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


def _replace_nan(value: Any) -> Any:
    """Return JSON values with null instead of NaN."""
    if isinstance(value, float) and isnan(value):
        return None
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: _replace_nan(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_replace_nan(item) for item in cast("Iterable[Any]", value)]
    return value


def _describe_commit() -> dict[str, Any]:
    """Return the measured commit, its date, and whether there are uncommitted changes."""
    return {
        "commit": _run_git("rev-parse", "--short", "HEAD"),
        "date": _run_git("log", "-1", "--format=%cs"),
        "uncommitted": bool(_run_git("status", "--porcelain", "--", "src", "scripts")),
    }


def _run_git(*arguments: str) -> str:
    process = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return process.stdout.strip() if process.returncode == 0 else "unknown"


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.quality",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument(
        "--from", type=Path, metavar="FILE", dest="source", help="read the figures from FILE"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="write the tables into README.md and docs"
    )
    parser.add_argument("--only", choices=["v2", "first"], help="one bench instead of both")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes for v2 (all cores)")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
