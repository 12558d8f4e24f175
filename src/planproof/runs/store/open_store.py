"""Open a store by address."""

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
    """Open a store: a file, a URL such as `postgresql://user@host/name`, or `none`."""
    if url == NULL_STORE:
        return NullStore()
    file = resolve_store_file(url)
    address = f"sqlite:///{file}" if file is not None else url or ""
    open_at: StoreFactory = extensions.load("stores", address.partition(":")[0].partition("+")[0])
    return open_at(address)


def open_sql_store(url: str | None = None) -> SqlStore:
    """Open a store as `SqlStore`, for callers that need its database."""
    from planproof.runs.store.sql_store import SqlStore  # noqa: PLC0415 - loads SQLAlchemy

    store = open_store(url)
    if not isinstance(store, SqlStore):
        store.close()
        raise InvalidInput(
            f"the store `{store.url}` is not a database.",
            where="--store",
            advice="Name a file, or a database such as postgresql://user@host/name.",
        )
    return store


def resolve_store_file(url: str | None = None) -> Path | None:
    """Return the file of an address; None for a store that is not a file."""
    named = (url or DEFAULT_STORE).removeprefix("sqlite:///")
    return None if "://" in named or named == NULL_STORE else Path(named).absolute()


class NullStore:
    """A store that discards everything."""

    url = "none"
    is_persistent = False

    def begin(self, run: Run) -> None:
        """Do nothing."""

    def add(self, run_id: str, results: Sequence[Result], cases: Sequence[StoredCase]) -> None:
        """Discard the results."""

    def close_run(self, run_id: str, state: RunState) -> None:
        """Do nothing."""

    def list_runs(
        self, limit: int | None = None, tags: Mapping[str, str] | None = None
    ) -> list[Run]:
        """Return no runs."""
        del limit, tags
        return []

    def find_run(self, name: str) -> NoReturn:
        """Raise an error: there are no runs."""
        raise _make_not_stored_error(f"run `{name}`")

    def iter_results(self, run_id: str) -> Iterator[Result]:
        """Return no results."""
        del run_id
        return iter(())

    def get_result(self, run_id: str, case: str | int) -> NoReturn:
        """Raise an error: there are no results."""
        raise _make_not_stored_error(f"result {run_id} `{case}`")

    def find_verdicts(self, cases: Collection[str], fingerprint: str) -> dict[str, Verdict]:
        """Return no verdicts."""
        del cases, fingerprint
        return {}

    def get_case(self, case_hash: str) -> NoReturn:
        """Raise an error: there are no cases."""
        raise _make_not_stored_error(f"case {case_hash}")

    def close(self) -> None:
        """Do nothing."""


def _make_not_stored_error(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what} not found: the store `none` keeps nothing.",
        advice="Name another store with --store.",
    )
