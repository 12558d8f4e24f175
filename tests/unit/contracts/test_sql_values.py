"""SQL text, parsed into what its statements do."""

from __future__ import annotations

import logging

import pytest

from planproof.contracts.sql_values import check_sql, parse_sql
from planproof.core.contract import SqlCondition, Truth

MATCH, MISMATCH, UNKNOWN = Truth.MATCH, Truth.MISMATCH, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("text", "verb", "tables", "columns"),
    [
        ("select a, b from x.y join z on 1 = 1", "SELECT", {"x.y", "z"}, {"a", "b"}),
        ("select count(*) from a -- from b", "SELECT", {"a"}, {"*"}),
        ("with q as (select * from a) select * from q", "SELECT", {"a"}, {"*"}),
        ("select 1 union select 2", "SELECT", set[str](), set[str]()),
        ("INSERT INTO a (b, c) VALUES (1, 'from d')", "INSERT", {"a"}, {"b", "c"}),
        ("update a set b = 1 where c = 2", "UPDATE", {"a"}, {"b", "c"}),
        ("delete from a where b = 1", "DELETE", {"a"}, {"b"}),
        ("drop table if exists a", "DROP", {"a"}, set[str]()),
        ("truncate table a", "TRUNCATE", {"a"}, set[str]()),
        ("alter table a add column b int", "ALTER", {"a"}, {"b"}),
        ("create table a (b int)", "CREATE", {"a"}, {"b"}),
        ("SELECT `a` FROM `b`", "SELECT", {"b"}, {"a"}),
        ("SELECT [a] FROM [dbo].[b]", "SELECT", {"dbo.b"}, {"a"}),
        ("```sql\nselect a from b\n```", "SELECT", {"b"}, {"a"}),
        ("\\timing\nselect a from b", "SELECT", {"b"}, {"a"}),
    ],
)
def test_a_statement_is_parsed(text: str, verb: str, tables: set[str], columns: set[str]) -> None:
    script = parse_sql(text)
    (statement,) = script.statements
    assert (statement.verb, statement.tables, statement.columns) == (verb, tables, columns)
    assert script.is_complete


@pytest.mark.parametrize(
    ("condition", "text", "truth"),
    [
        (SqlCondition(verb="select"), "select 1", MATCH),
        (SqlCondition(verb="select"), "select 1; drop table a", MATCH),
        (SqlCondition(verb="drop"), "select 'drop table a' -- drop table a", MISMATCH),
        (SqlCondition(verb="drop"), "/* drop table a */ select 1", MISMATCH),
        (SqlCondition(tables=("payments",)), "select * from public.payments", MATCH),
        (SqlCondition(tables=("public.payments",)), "select * from payments", MATCH),
        (SqlCondition(tables=("a.payments",)), "select * from b.payments", MISMATCH),
        (SqlCondition(tables=("payments",)), "select 'payments' from a", MISMATCH),
        (SqlCondition(tables=("a", "b")), "select * from a", MISMATCH),
        (SqlCondition(columns=("t.amount",)), "select Amount from a", MATCH),
        (SqlCondition(columns=("amount",)), "select * from a", UNKNOWN),
        (SqlCondition(columns=("amount",)), "select b from a", MISMATCH),
        (SqlCondition(verb="select", tables=("a",)), "select 1; delete from a", MISMATCH),
        (SqlCondition(verb="delete"), "delete from a where 1 = 0", MISMATCH),
        (SqlCondition(verb="delete"), "delete from a where false", MISMATCH),
        (SqlCondition(verb="delete"), "delete from a where b = 0", MATCH),
        (SqlCondition(verb="delete"), "begin; delete from a; rollback", MISMATCH),
        (SqlCondition(verb="delete"), "begin; delete from a; commit", MATCH),
        (SqlCondition(verb="delete"), "begin; delete from a; rollback to b; commit", MATCH),
        (SqlCondition(verb="select"), "explain select 1", MISMATCH),
        (SqlCondition(verb="explain"), "explain select 1", MATCH),
        (SqlCondition(verb="select", tables=("a",)), "select * from", UNKNOWN),
        (SqlCondition(verb="drop"), "select * from", MISMATCH),
        (SqlCondition(verb="select"), "this is not SQL", UNKNOWN),
        (SqlCondition(verb="select"), "", MISMATCH),
        (SqlCondition(verb="select"), "select 'open", UNKNOWN),
        (SqlCondition(verb="select"), "select " + "1," * 9_000, UNKNOWN),
        (SqlCondition(verb="select"), "x" * 60_000, UNKNOWN),
        (SqlCondition(tables=("a",)), "select " + "(" * 1_000, UNKNOWN),
        (SqlCondition(verb="select"), "select " + "x join y " * 20, UNKNOWN),
        (SqlCondition(verb="select"), "select " + "on, " * 20 + "x join y " * 20, UNKNOWN),
        (SqlCondition(tables=("b",)), "select 1 from a" + " join b on 1 = 1" * 20, MATCH),
    ],
)
def test_conditions_on_sql(condition: SqlCondition, text: str, truth: Truth) -> None:
    assert check_sql(condition, text) is truth


def test_statements_that_can_not_be_parsed_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        parse_sql("create trigger x before insert on y execute procedure z()")
    assert not caplog.records
