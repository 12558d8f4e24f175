"""Parse SQL text, and check what its statements do."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from planproof.contracts.text_values import strip_code_fence
from planproof.contracts.value_check import all_true, any_true
from planproof.core.contract import SqlCondition, Truth

if TYPE_CHECKING:
    from sqlglot.expressions.core import Expression

_MAX_CHARS, _MAX_CACHED_CHARS, _MAX_TOKENS = 50_000, 4_000, 3_000
_MAX_OPEN_JOINS = 6
"""Limit on joins without a condition: sqlglot takes exponential time to parse them."""
_DIALECTS = ("", "mysql", "tsql")
"""Dialects to try, in order: standard, with `names` in backticks, with [names] in brackets."""
_PARSED_VERBS = frozenset(
    "SELECT WITH INSERT UPDATE DELETE CREATE DROP ALTER TRUNCATE MERGE REPLACE COPY (".split()
)
_OTHER_VERBS = frozenset(
    "ANALYZE BEGIN CALL COMMIT DESCRIBE DO END EXPLAIN GRANT PRAGMA RELEASE REVOKE ROLLBACK "
    "SAVEPOINT SET SHOW START USE VACUUM".split()
)
_VERBS = {"TRUNCATETABLE": "TRUNCATE", "UNION": "SELECT", "EXCEPT": "SELECT", "INTERSECT": "SELECT"}
_META_COMMAND = re.compile(r"^[ \t]*\\[^\n]*$", re.MULTILINE)
"""A command of the psql client."""
_ERRORS = (Exception,)
"""What sqlglot raises for hostile text: errors of its own, and nearly anything else."""


class SqlStatement(Struct, frozen=True, kw_only=True):
    """A statement: its verb in capitals, and the tables and columns that it names.

    `is_parsed` is False if only the verb is known. `is_executed` is False if the statement can't
    change or return anything: it is rolled back, or its condition is constantly false.
    """

    verb: str
    tables: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    text: str = ""
    is_parsed: bool = True
    is_executed: bool = True


class SqlScript(Struct, frozen=True):
    """The statements of a text."""

    statements: tuple[SqlStatement, ...] = ()
    is_complete: bool = True
    """False if a part could not be read."""


@cache
def _load_sqlglot() -> ModuleType:
    import sqlglot  # noqa: PLC0415 - takes long to import

    # Statements that it can't parse are handled here; nobody needs to read about them.
    logging.getLogger("sqlglot").addFilter(_is_important)
    return sqlglot


def _is_important(record: logging.LogRecord) -> bool:
    return record.levelno > logging.WARNING


def parse_sql(text: str) -> SqlScript:
    """Return the statements of an SQL text; comments and strings do not count."""
    return _parse_cached(text) if len(text) <= _MAX_CACHED_CHARS else _parse(text)


def _parse(text: str) -> SqlScript:
    if len(text) > _MAX_CHARS:
        return SqlScript(is_complete=False)
    pieces = _split_statements(strip_code_fence(text))
    if pieces is None:
        return SqlScript(is_complete=False)
    statements = [
        replace(_parse_statement(verb, code), text=written) for verb, code, written in pieces
    ]
    return SqlScript(
        tuple(_mark_rolled_back(statements)), all(statement.is_parsed for statement in statements)
    )


_parse_cached = lru_cache(maxsize=1_024)(_parse)


def _split_statements(text: str) -> list[tuple[str, str, str]] | None:
    """Return the first word, the code and the text of each statement; None if that fails."""
    sqlglot = _load_sqlglot()
    # Blanked, so that positions stay the same.
    blanked = _META_COMMAND.sub(lambda match: " " * len(match[0]), text)
    try:
        tokens = sqlglot.tokenize(blanked, dialect=_guess_dialect(text))
    except _ERRORS:
        return None
    open_joins = _count_open_joins(token.text.upper() for token in tokens)
    if len(tokens) > _MAX_TOKENS or open_joins > _MAX_OPEN_JOINS:
        return None
    pieces: list[tuple[str, str, str]] = []
    verb, start = "", 0
    for token in tokens:
        if token.text == ";" and text[token.start : token.end + 1] == ";":
            if verb:
                pieces.append((verb, blanked[start : token.start], text[start : token.start]))
            verb = ""
        elif not verb:
            verb, start = token.text.upper(), token.start
    if verb:
        pieces.append((verb, blanked[start:], text[start:]))
    return pieces


def _count_open_joins(words: Iterable[str]) -> int:
    """Return the largest number of joins that wait for their condition."""
    current = most = 0
    for word in words:
        if word == "JOIN":
            current += 1
            most = max(most, current)
        elif word in ("ON", "USING"):
            current = max(0, current - 1)
    return most


def _guess_dialect(text: str) -> str:
    return "mysql" if "`" in text else ""


def _parse_statement(verb: str, text: str) -> SqlStatement:
    tree = _parse_tree(text) if verb in _PARSED_VERBS else None
    if tree is None:
        return SqlStatement(verb=verb, is_parsed=False)
    key = tree.key.upper()
    try:
        return SqlStatement(
            verb=_VERBS.get(key, key),
            tables=frozenset(_find_tables(tree)),
            columns=frozenset(_find_columns(tree)),
            is_executed=not _is_never_true(tree),
        )
    except RecursionError:
        return SqlStatement(verb=verb, is_parsed=False)


def _parse_tree(text: str) -> Expression | None:
    sqlglot = _load_sqlglot()
    for dialect in _DIALECTS:
        try:
            tree: Expression | None = sqlglot.parse_one(text, dialect=dialect)
        except _ERRORS:
            tree = None
        # What it does not know it keeps as a command.
        if tree is not None and tree.key != "command":
            return tree
    return None


def _find_tables(tree: Expression) -> Iterator[str]:
    """Yield the names of tables with their schemas, without the names that WITH defines."""
    from sqlglot import expressions  # noqa: PLC0415 - takes long to import

    defined = {cte.alias.casefold() for cte in tree.find_all(expressions.CTE)}
    for table in tree.find_all(expressions.Table):
        name = ".".join(part.name for part in table.parts).casefold()
        if name and name not in defined:
            yield name


def _find_columns(tree: Expression) -> Iterator[str]:
    from sqlglot import expressions  # noqa: PLC0415 - takes long to import

    for column in tree.find_all(expressions.Column, expressions.ColumnDef):
        yield column.name.casefold()
    for schema in tree.find_all(expressions.Schema):
        for item in schema.expressions:
            yield item.name.casefold()
    if tree.find(expressions.Star) is not None:
        yield "*"


def _is_never_true(tree: Expression) -> bool:
    """Return whether the condition of a statement is constantly false."""
    from sqlglot import expressions  # noqa: PLC0415 - takes long to import

    where = tree.args.get("where")
    test = where.this if where is not None else None
    if isinstance(test, expressions.Boolean):
        return not test.this
    if isinstance(test, expressions.EQ):
        sides = (test.left, test.right)
        constant = all(isinstance(side, expressions.Literal) for side in sides)
        return constant and sides[0].this != sides[1].this
    return False


def _mark_rolled_back(statements: Sequence[SqlStatement]) -> Iterator[SqlStatement]:
    """Yield the statements; those of a transaction that is rolled back are not executed."""
    open_since: int | None = None
    rolled_back: set[int] = set()
    for number, statement in enumerate(statements):
        if statement.verb in ("BEGIN", "START"):
            open_since = number
        elif statement.verb in ("COMMIT", "END"):
            open_since = None
        elif _rolls_back(statement) and open_since is not None:
            rolled_back.update(range(open_since, number))
            open_since = None
    for number, statement in enumerate(statements):
        yield replace(statement, is_executed=False) if number in rolled_back else statement


def _rolls_back(statement: SqlStatement) -> bool:
    """Return whether a statement undoes a transaction, not only its part since a savepoint."""
    return statement.verb == "ROLLBACK" and "TO" not in statement.text.upper().split()


def check_sql(condition: SqlCondition, text: str) -> Truth:
    """Check whether one statement of a text has the verb and names the tables and columns."""
    script = parse_sql(text)
    if not script.statements:
        return Truth.MISMATCH if script.is_complete else Truth.UNKNOWN
    return any_true(
        check_statement(condition, statement)
        for statement in script.statements
        if statement.is_executed
    )


def check_statement(condition: SqlCondition, statement: SqlStatement) -> Truth:
    """Check one statement."""
    if not statement.is_executed:
        return Truth.MISMATCH
    results: list[Truth] = []
    if condition.verb is not None:
        same = condition.verb.strip().upper() == statement.verb
        # What can't be parsed may not even be SQL.
        is_known = statement.is_parsed or statement.verb in _PARSED_VERBS | _OTHER_VERBS
        results.append(Truth.MATCH if same else Truth.MISMATCH if is_known else Truth.UNKNOWN)
    names = (*condition.tables, *condition.columns)
    if names and not statement.is_parsed:
        results.append(Truth.UNKNOWN)
    elif names:
        results += [_find_name(table, statement.tables) for table in condition.tables]
        results += [_find_column(column, statement.columns) for column in condition.columns]
    return all_true(results)


def _find_name(wanted: str, names: frozenset[str]) -> Truth:
    """Look for a name; a schema is compared only if both have one."""
    parts = wanted.strip().casefold().split(".")
    for name in names:
        found = name.split(".")
        size = min(len(parts), len(found))
        if parts[-size:] == found[-size:]:
            return Truth.MATCH
    return Truth.MISMATCH


def _find_column(wanted: str, columns: frozenset[str]) -> Truth:
    name = wanted.strip().casefold().rpartition(".")[2]
    if name in columns:
        return Truth.MATCH
    return Truth.UNKNOWN if "*" in columns else Truth.MISMATCH
