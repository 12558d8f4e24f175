"""Stores by address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planproof import extensions
from planproof.errors import InvalidInput
from planproof.runs.store.store_protocol import Store, StoreFactory

if TYPE_CHECKING:
    from planproof.runs.store.sql_store import SqlStore
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NoReturn

from planproof.core.verdict import Verdict
from planproof.runs.run_records import Result, Run, RunState, StoredCase

DEFAULT_STORE = ".planproof/planproof.db"
NULL_STORE = "none"


def open_store(url: str | None = None) -> Store:
    """The store at this address: a file, a URL such as `postgresql://user@host/name`, or `none`."""
    if url == NULL_STORE:
        return NullStore()
    file = resolve_store_file(url)
    address = f"sqlite:///{file}" if file is not None else url or ""
    open_at: StoreFactory = extensions.load("stores", address.partition(":")[0].partition("+")[0])
    return open_at(address)


def open_sql_store(url: str | None = None) -> SqlStore:
    """The same, for who needs the database that the store stands on."""
    from planproof.runs.store.sql_store import SqlStore  # noqa: PLC0415 - loads SQLAlchemy

    store = open_store(url)
    if not isinstance(store, SqlStore):
        store.close()
        raise InvalidInput(
            f"the store `{store.url}` is no database.",
            where="--store",
            advice="Name a file, or a database such as postgresql://user@host/name.",
        )
    return store


def resolve_store_file(url: str | None = None) -> Path | None:
    """The file that an address means; None for a store that is no file."""
    named = (url or DEFAULT_STORE).removeprefix("sqlite:///")
    return None if "://" in named or named == NULL_STORE else Path(named).absolute()


class NullStore:
    """Takes everything and keeps none of it."""

    url = "none"
    is_persistent = False

    def begin(self, run: Run) -> None:
        """Nothing is entered."""

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]) -> None:
        """Nothing is kept."""

    def close_run(self, run_id: str, state: RunState) -> None:
        """There is nothing to close."""

    def list_runs(
        self, limit: int | None = None, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """There are none."""
        del limit, tags
        return []

    def find_run(self, name: str) -> NoReturn:
        """There is none."""
        raise _make_not_stored_error(f"run `{name}`")

    def iter_results(self, run_id: str) -> Iterator[Result]:
        """There are none."""
        del run_id
        return iter(())

    def get_result(self, run_id: str, case: str | int) -> NoReturn:
        """There is none."""
        raise _make_not_stored_error(f"result {run_id} `{case}`")

    def find_verdicts(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Nothing is known."""
        del cases, fingerprint
        return {}

    def get_case(self, case_hash: str) -> NoReturn:
        """There is none."""
        raise _make_not_stored_error(f"case {case_hash}")

    def close(self) -> None:
        """There is nothing to let go of."""


def _make_not_stored_error(what: str) -> InvalidInput:
    return InvalidInput(
        f"there is no {what}: the store `none` keeps nothing.", advice="Name another with --store."
    )
