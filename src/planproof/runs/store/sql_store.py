"""Store in an SQL database, through SQLAlchemy Core."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput, did_you_mean
from planproof.runs.run_records import Result, Run, RunState, StoredCase, is_final
from planproof.runs.store import row_mapping, schema
from planproof.runs.store.database import Database, insert_new, upsert

_PAGE = 500
_LATEST = "latest"


class SqlStore:
    """Stores runs in a database."""

    is_persistent = True

    def __init__(self, database: Database) -> None:
        self.database = database
        self.url = database.url
        self._fingerprints: dict[str, str] = {}

    def begin(self, run: Run) -> None:
        """Register a run; one that is registered already is resumed."""
        with self.database.begin_write() as connection:
            running = {"state": RunState.RUNNING.value, "finished": None}
            changed = connection.execute(
                update(schema.runs).where(schema.runs.c.id == run.id).values(running)
            )
            if not changed.rowcount:
                insert_new(connection, schema.runs, [row_mapping.run_to_row(run)])
        self._fingerprints[run.id] = run.fingerprint

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]) -> None:
        """Store results and their cases: all of them, or none."""
        result_rows = self.build_rows(run_id, results, cases)
        with self.database.begin_write() as connection:
            write_results(connection, [result_rows])

    def build_rows(
        self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]
    ) -> ResultRows:
        """Convert results to rows, to be written in a transaction together with other changes."""
        return ResultRows(run_id, self._find_fingerprint(run_id), results, cases)

    def close_run(self, run_id: str, state: RunState) -> None:
        """Set the final state of a run."""
        finished = (
            row_mapping.format_time(datetime.now(UTC)) if state is RunState.FINISHED else None
        )
        with self.database.begin_write() as connection:
            connection.execute(
                update(schema.runs)
                .where(schema.runs.c.id == run_id)
                .values(state=state.value, finished=finished)
            )

    def list_runs(
        self, limit: int | None = None, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """Return the runs with these tags, newest first."""
        newest = select(schema.runs).order_by(schema.runs.c.created.desc(), schema.runs.c.id.desc())
        required_tags = (tags or {}).items()
        matching: list[Any] = []
        with self.database.begin_read() as connection:
            for row in connection.execute(newest):
                if len(matching) == limit:
                    break
                if required_tags <= row_mapping.row_to_run(row, 0).tags.items():
                    matching.append(row)
            counts = _count_results(connection, [row.id for row in matching])
        return [row_mapping.row_to_run(row, counts.get(row.id, 0)) for row in matching]

    def find_run(self, name: str) -> Run:
        """Return the run with this id or unique prefix of an id, or the `latest`."""
        if name == _LATEST:
            if newest := self.list_runs(limit=1):
                return newest[0]
            raise self._make_unknown_run_error(name, "has no runs yet.", ())
        query = select(schema.runs).where(
            schema.runs.c.id.startswith(row_mapping.to_database_text(name), autoescape=True)
        )
        with self.database.begin_read() as connection:
            matching = connection.execute(query.order_by(schema.runs.c.id).limit(10)).all()
            exact = [row for row in matching if row.id == name]
            if len(exact or matching) == 1:
                row = (exact or matching)[0]
                return row_mapping.row_to_run(
                    row, _count_results(connection, [row.id]).get(row.id, 0)
                )
        if matching:
            run_ids = ", ".join(row.id for row in matching)
            raise InvalidInput(
                f"several runs begin with `{name}`.",
                where=self.url,
                advice=f"Matching runs: {run_ids}.",
            )
        known = [run.id for run in self.list_runs(limit=10)]
        raise self._make_unknown_run_error(name, f"has no run `{name}`.", known)

    def iter_results(self, run_id: str) -> Iterator[Result]:
        """Yield the results of a run in order of position, page by page."""
        after = -1
        while True:
            # Read a page at a time: no connection stays open while the caller does other work.
            page = _RESULTS_QUERY.where(
                schema.results.c.run == run_id, schema.results.c.position > after
            )
            with self.database.begin_read() as connection:
                page_rows = connection.execute(
                    page.order_by(schema.results.c.position).limit(_PAGE)
                ).all()
            if not page_rows:
                return
            after = page_rows[-1].position
            yield from map(row_mapping.row_to_result, page_rows)

    def get_result(self, run_id: str, case: str | int) -> Result:
        """Return the result on the case with this id or at this position."""
        of_run = _RESULTS_QUERY.where(schema.results.c.run == run_id).limit(1)
        by_id = of_run.where(schema.results.c.id == row_mapping.to_database_text(str(case)))
        queries = [by_id.order_by(schema.results.c.position)] if isinstance(case, str) else []
        if isinstance(case, int) or (case.isascii() and case.isdigit() and len(case) < 10):
            queries.append(of_run.where(schema.results.c.position == int(case)))
        with self.database.begin_read() as connection:
            for query in queries:
                if (row := connection.execute(query).one_or_none()) is not None:
                    return row_mapping.row_to_result(row)
            ids = select(schema.results.c.id).where(schema.results.c.run == run_id)
            known = [row.id for row in connection.execute(ids.limit(_PAGE)) if row.id]
        raise InvalidInput(
            f"the run {run_id} has no case `{case}`.",
            where=self.url,
            advice=did_you_mean(str(case), known[:20]) if known else "Use its position, from 0.",
        )

    def find_verdicts(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Return verdicts of runs with this fingerprint on these cases, by case hash."""
        with self.database.begin_read() as connection:
            parameters = {"fingerprint": fingerprint, "cases": list(cases)}
            matching = connection.execute(_VERDICTS_QUERY, parameters).all()
        return {row.case: row_mapping.parse_verdict_content(row.content) for row in matching}

    def get_case(self, case_hash: str) -> StoredCase:
        """Return the case with this content hash."""
        query = select(schema.cases.c.content).where(schema.cases.c.hash == case_hash)
        with self.database.begin_read() as connection:
            content = connection.execute(query).scalar_one_or_none()
        if content is None:
            raise InvalidInput(f"has no case `{case_hash}`.", where=self.url)
        return StoredCase(case_hash, row_mapping.unpack_case(content))

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def _find_fingerprint(self, run_id: str) -> str:
        if run_id not in self._fingerprints:
            self._fingerprints[run_id] = self.find_run(run_id).fingerprint
        return self._fingerprints[run_id]

    def _make_unknown_run_error(self, name: str, what: str, known: Collection[str]) -> InvalidInput:
        advice = did_you_mean(name, known) if known else "Create one with `planproof run DATA`."
        return InvalidInput(what, where=self.url, advice=advice)


_RESULTS_QUERY = select(schema.results, schema.verdicts.c.content).join(
    schema.verdicts, schema.verdicts.c.hash == schema.results.c.verdict
)

_VERDICTS_QUERY = (
    select(schema.judged.c.case, schema.verdicts.c.content)
    .join(schema.verdicts, schema.verdicts.c.hash == schema.judged.c.verdict)
    .where(
        schema.judged.c.fingerprint == bindparam("fingerprint"),
        schema.judged.c.case.in_(bindparam("cases", expanding=True)),
    )
)


def _count_results(connection: Connection, run_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of results of each of these runs."""
    run = schema.results.c.run
    query = select(run, func.count()).where(run.in_(run_ids)).group_by(run)
    return {row[0]: row[1] for row in connection.execute(query)}


class ResultRows:
    """Rows of results and their cases.

    Built before a transaction begins, so that other writers do not wait for it.
    """

    def __init__(
        self,
        run_id: str,
        fingerprint: str,
        results: Sequence[Result],
        cases: Sequence[StoredCase],
    ) -> None:
        self.verdicts = [row_mapping.verdict_to_row(result.verdict) for result in results]
        pairs = list(zip(results, self.verdicts, strict=True))
        self.results = [
            row_mapping.result_to_row(run_id, r, verdict["hash"]) for r, verdict in pairs
        ]
        self.findings = [
            row
            for result, verdict in pairs
            for row in row_mapping.findings_to_rows(result.verdict, verdict["hash"])
        ]
        self.cases = [
            {"hash": case.hash, "content": zlib.compress(case.text.encode("ascii"), 1)}
            for case in cases
        ]
        self.judged_cases = [
            {"fingerprint": fingerprint, "case": result.case, "verdict": verdict["hash"]}
            for result, verdict in pairs
            if result.case and is_final(result.verdict)
        ]


def write_results(
    connection: Connection, batches: Iterable[ResultRows], *, overwrite: bool = False
) -> None:
    """Write results; with `overwrite`, replace those at the same positions."""
    results = list(batches)
    insert_new(connection, schema.cases, _flatten(batch.cases for batch in results))
    insert_new(connection, schema.verdicts, _flatten(batch.verdicts for batch in results))
    insert_new(connection, schema.findings, _flatten(batch.findings for batch in results))
    insert = upsert if overwrite else insert_new
    insert(connection, schema.results, _flatten(batch.results for batch in results))
    insert_new(connection, schema.judged, _flatten(batch.judged_cases for batch in results))


def _flatten(rows: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return list(chain.from_iterable(rows))
