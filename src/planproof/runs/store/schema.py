"""The tables of a store, as this version of planproof uses them."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, Table, Text

# JSON stands in text columns, as ASCII: PostgreSQL's own types refuse what traces may hold, such
# as \u0000. Times are ISO 8601 in UTC, which sorts.
tables = MetaData()

runs = Table(
    "runs",
    tables,
    Column("id", Text, primary_key=True),
    Column("created", Text, nullable=False),
    Column("finished", Text),
    Column("state", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("judge", Text, nullable=False),
    Column("judge_fingerprint", Text, nullable=False),
    Column("models", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("tags", Text, nullable=False),
)

cases = Table(
    "cases",
    tables,
    Column("hash", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

# The same verdict is kept once, whoever gets it: what belongs to the data set (id, metadata) or to
# the moment (cost) stands with the result.
verdicts = Table(
    "verdicts",
    tables,
    Column("hash", Text, primary_key=True),
    Column("outcome", Text, nullable=False),
    Column("cause", Text),
    Column("score", Float),
    Column("level", Float),
    Column("reason", Text, nullable=False),
    Column("content", Text, nullable=False),
)

findings = Table(
    "findings",
    tables,
    Column("verdict", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("sort", Text, nullable=False),
    Column("number", Text),
    Column("status", Text, nullable=False),
    Column("sureness", Float, nullable=False),
    Column("event", Text),
    Column("text", Text, nullable=False),
)

results = Table(
    "results",
    tables,
    Column("run", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("case", Text, nullable=False),
    Column("id", Text),
    Column("verdict", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("about", Text, nullable=False),
)

judged = Table(
    "judged",
    tables,
    Column("fingerprint", Text, primary_key=True),
    Column("case", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
)
