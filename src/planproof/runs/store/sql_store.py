"""The store in a database, through SQLAlchemy Core."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from planproof.core.suggestions import did_you_mean
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.runs.run_records import KeptCase, Result, Run, RunState
from planproof.runs.store import row_mapping, schema
from planproof.runs.store.database import Database, insert_new
from planproof.runs.store.insert_results import PreparedResults, write_together

_PAGE = 500
_LATEST = "latest"


class SqlStore:
    """Runs in a database."""

    keeps = True

    def __init__(self, database: Database) -> None:
        self.database = database
        self.url = database.url
        self._fingerprints: dict[str, str] = {}

    def begin(self, run: Run) -> None:
        """Enter a run; one that is entered already is going on."""
        with self.database.writing() as connection:
            going_on = {"state": RunState.RUNNING.value, "finished": None}
            changed = connection.execute(
                update(schema.runs).where(schema.runs.c.id == run.id).values(going_on)
            )
            if not changed.rowcount:
                insert_new(connection, schema.runs, [row_mapping.run_row(run)])
        self._fingerprints[run.id] = run.fingerprint

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[KeptCase]) -> None:
        """Keep results, and the cases they are about: all of them, or none."""
        prepared = self.prepared(run_id, results, cases)
        with self.database.writing() as connection:
            write_together(connection, [prepared])

    def prepared(
        self, run_id: str, results: Sequence[Result], cases: Sequence[KeptCase]
    ) -> PreparedResults:
        """Results made into rows, to be written in a transaction together with something else."""
        return PreparedResults(run_id, self._fingerprint(run_id), results, cases)

    def close_run(self, run_id: str, state: RunState) -> None:
        """Say how a run ended."""
        finished = (
            row_mapping.written_time(datetime.now(UTC)) if state is RunState.FINISHED else None
        )
        with self.database.writing() as connection:
            connection.execute(
                update(schema.runs)
                .where(schema.runs.c.id == run_id)
                .values(state=state.value, finished=finished)
            )

    def runs(self, limit: int | None = None, tags: Mapping[str, str] | None = None) -> list[Run]:
        """Runs with these tags, the newest first."""
        newest = select(schema.runs).order_by(schema.runs.c.created.desc(), schema.runs.c.id.desc())
        wanted = (tags or {}).items()
        found: list[Any] = []
        with self.database.reading() as connection:
            for row in connection.execute(newest):
                if len(found) == limit:
                    break
                if wanted <= row_mapping.run_of(row, 0).tags.items():
                    found.append(row)
            counts = _counts(connection, [row.id for row in found])
        return [row_mapping.run_of(row, counts.get(row.id, 0)) for row in found]

    def find(self, name: str) -> Run:
        """The run with this id, the only one whose id begins so, or the `latest`."""
        if name == _LATEST:
            if newest := self.runs(limit=1):
                return newest[0]
            raise self._unknown(name, "is empty: there is no run in it yet.", ())
        begins = select(schema.runs).where(
            schema.runs.c.id.startswith(row_mapping.plain(name), autoescape=True)
        )
        with self.database.reading() as connection:
            found = connection.execute(begins.order_by(schema.runs.c.id).limit(10)).all()
            same = [row for row in found if row.id == name]
            if len(same or found) == 1:
                row = (same or found)[0]
                return row_mapping.run_of(row, _counts(connection, [row.id]).get(row.id, 0))
        if found:
            several = ", ".join(row.id for row in found)
            raise InvalidInput(
                f"several runs begin with `{name}`.", where=self.url, advice=f"They are {several}."
            )
        known = [run.id for run in self.runs(limit=10)]
        raise self._unknown(name, f"holds no run `{name}`.", known)

    def results(self, run_id: str) -> Iterator[Result]:
        """The results of a run in order of position, read piece by piece."""
        after = -1
        while True:
            # A page at a time: nothing is held open while the caller does other things.
            page = _RESULTS.where(schema.results.c.run == run_id, schema.results.c.position > after)
            with self.database.reading() as connection:
                found = connection.execute(
                    page.order_by(schema.results.c.position).limit(_PAGE)
                ).all()
            if not found:
                return
            after = found[-1].position
            yield from map(row_mapping.result_of, found)

    def result(self, run_id: str, case: str | int) -> Result:
        """The result on the case with this id, or at this position."""
        of_run = _RESULTS.where(schema.results.c.run == run_id).limit(1)
        by_id = of_run.where(schema.results.c.id == row_mapping.plain(str(case)))
        tried = [by_id.order_by(schema.results.c.position)] if isinstance(case, str) else []
        if isinstance(case, int) or (case.isascii() and case.isdigit() and len(case) < 10):
            tried.append(of_run.where(schema.results.c.position == int(case)))
        with self.database.reading() as connection:
            for query in tried:
                if (row := connection.execute(query).one_or_none()) is not None:
                    return row_mapping.result_of(row)
            ids = select(schema.results.c.id).where(schema.results.c.run == run_id)
            known = [row.id for row in connection.execute(ids.limit(_PAGE)) if row.id]
        raise InvalidInput(
            f"the run {run_id} has no case `{case}`.",
            where=self.url,
            advice=did_you_mean(str(case), known[:20]) if known else "Give its position from 0 up.",
        )

    def judged(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Verdicts on cases that a run of this fingerprint has judged, by the hash of the case."""
        with self.database.reading() as connection:
            asked = {"fingerprint": fingerprint, "cases": list(cases)}
            found = connection.execute(_JUDGED, asked).all()
        return {row.case: row_mapping.verdict_in(row.content) for row in found}

    def case(self, case_hash: str) -> KeptCase:
        """The case with this content hash."""
        kept = select(schema.cases.c.content).where(schema.cases.c.hash == case_hash)
        with self.database.reading() as connection:
            content = connection.execute(kept).scalar_one_or_none()
        if content is None:
            raise InvalidInput(f"holds no case `{case_hash}`.", where=self.url)
        return KeptCase(case_hash, zlib.decompress(content).decode("ascii"))

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    def _fingerprint(self, run_id: str) -> str:
        if run_id not in self._fingerprints:
            self._fingerprints[run_id] = self.find(run_id).fingerprint
        return self._fingerprints[run_id]

    def _unknown(self, name: str, what: str, known: Collection[str]) -> InvalidInput:
        advice = did_you_mean(name, known) if known else "`planproof run DATA` makes one."
        return InvalidInput(what, where=self.url, advice=advice)


_RESULTS = select(schema.results, schema.verdicts.c.content).join(
    schema.verdicts, schema.verdicts.c.hash == schema.results.c.verdict
)

_JUDGED = (
    select(schema.judged.c.case, schema.verdicts.c.content)
    .join(schema.verdicts, schema.verdicts.c.hash == schema.judged.c.verdict)
    .where(
        schema.judged.c.fingerprint == bindparam("fingerprint"),
        schema.judged.c.case.in_(bindparam("cases", expanding=True)),
    )
)


def _counts(connection: Connection, run_ids: Sequence[str]) -> dict[str, int]:
    """How many results each of these runs has."""
    run = schema.results.c.run
    counted = select(run, func.count()).where(run.in_(run_ids)).group_by(run)
    return {row[0]: row[1] for row in connection.execute(counted)}
