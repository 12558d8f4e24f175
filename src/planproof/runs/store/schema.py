"""The tables of a store, as this version of planproof uses them."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, Table, Text

# JSON is stored in text columns, as ASCII: PostgreSQL's own types reject what traces may contain,
# such as \u0000. Times are ISO 8601 in UTC, which sorts.
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

# The same verdict is stored once for all cases: what belongs to the data set (id, metadata) or to
# the execution (cost) is stored with the result.
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
    Column("step_share", Float),
    Column("order_share", Float),
    Column("action_share", Float),
)

findings = Table(
    "findings",
    tables,
    Column("verdict", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("sort", Text, nullable=False),
    Column("number", Text),
    Column("status", Text, nullable=False),
    Column("confidence", Float, nullable=False),
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

# Spans received by OpenTelemetry, until their trace is judged. Spans of a trace that arrive
# together are one row, because the cost of a row does not depend on their number. Spans sent again
# are stored once.
spans = Table(
    "spans",
    tables,
    Column("trace", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

# Times are seconds since 1970. `root` is the root span, once it has ended. `revision` changes with
# every arrival. `due` is when a trace is to be judged, `export_due` when its verdict is to be
# exported; a trace with neither needs no work. `server` is the server working on it. `run` and
# `position` locate its result, and `case` is the hash of the case judged last. `failures` counts
# the failed attempts to judge it.
traces = Table(
    "traces",
    tables,
    Column("trace", Text, primary_key=True),
    Column("first", Float, nullable=False),
    Column("last", Float, nullable=False),
    Column("root", Text),
    Column("spans", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("due", Float),
    Column("export_due", Float),
    Column("server", Text),
    Column("run", Text),
    Column("position", Integer),
    Column("case", Text),
    Column("failures", Integer, nullable=False, server_default="0"),
)

# Running servers: the work of one that has not been seen for a while is taken over.
servers = Table(
    "servers",
    tables,
    Column("id", Text, primary_key=True),
    Column("seen", Float, nullable=False),
)

# API keys of a server. Only the digest of a key is stored.
keys = Table(
    "keys",
    tables,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("created", Text, nullable=False),
)
