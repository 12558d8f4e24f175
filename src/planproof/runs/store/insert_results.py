"""Results on their way into a database."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from planproof.runs.run_records import KeptCase, Result, is_lasting
from planproof.runs.store import row_mapping, schema
from planproof.runs.store.database import insert_new, insert_or_replace


class PreparedResults:
    """Results of a run as rows, with the cases that they are about.

    They are made before a transaction begins, so that nobody waits for that who writes, too.
    """

    def __init__(
        self,
        run_id: str,
        fingerprint: str,
        results: Sequence[Result],
        cases: Sequence[KeptCase],
    ) -> None:
        self.verdicts = [row_mapping.verdict_row(result.verdict) for result in results]
        pairs = list(zip(results, self.verdicts, strict=True))
        self.results = [row_mapping.result_row(run_id, r, verdict["hash"]) for r, verdict in pairs]
        self.findings = [
            row
            for result, verdict in pairs
            for row in row_mapping.finding_rows(result.verdict, verdict["hash"])
        ]
        self.cases = [
            {"hash": case.hash, "content": zlib.compress(case.text.encode("ascii"), 1)}
            for case in cases
        ]
        self.judged = [
            {"fingerprint": fingerprint, "case": result.case, "verdict": verdict["hash"]}
            for result, verdict in pairs
            if result.case and is_lasting(result.verdict)
        ]


def write_together(
    connection: Connection, several: Iterable[PreparedResults], *, anew: bool = False
) -> None:
    """Write results; with `anew`, over those that stand at the same positions."""
    results = list(several)
    insert_new(connection, schema.cases, _all(each.cases for each in results))
    insert_new(connection, schema.verdicts, _all(each.verdicts for each in results))
    insert_new(connection, schema.findings, _all(each.findings for each in results))
    insert = insert_or_replace if anew else insert_new
    insert(connection, schema.results, _all(each.results for each in results))
    insert_new(connection, schema.judged, _all(each.judged for each in results))


def _all(rows: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return list(chain.from_iterable(rows))
