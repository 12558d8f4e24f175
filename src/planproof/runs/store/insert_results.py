"""Results on their way into a database."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from planproof.runs.run_records import Result, StoredCase, is_final
from planproof.runs.store import row_mapping, schema
from planproof.runs.store.database import insert_new, upsert


class ResultRows:
    """Results of a run as rows, with the cases that they are about.

    They are made before a transaction begins, so that nobody waits for that who writes, too.
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
    """Write results; with `anew`, over those that stand at the same positions."""
    results = list(batches)
    insert_new(connection, schema.cases, _flatten(batch.cases for batch in results))
    insert_new(connection, schema.verdicts, _flatten(batch.verdicts for batch in results))
    insert_new(connection, schema.findings, _flatten(batch.findings for batch in results))
    insert = upsert if overwrite else insert_new
    insert(connection, schema.results, _flatten(batch.results for batch in results))
    insert_new(connection, schema.judged, _flatten(batch.judged_cases for batch in results))


def _flatten(rows: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return list(chain.from_iterable(rows))
