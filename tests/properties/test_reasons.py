"""For any case, the reason passes the check of reasons."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.reasons import check_reason, write_reason
from planproof.scoring import compute_score, find_nearest_better

WORDS = st.sampled_from(
    ["mostly ", "close. ", "“", "”", '"', "'", "`", "! Step 9. ", "e.g. ", "\n", "\x00", "’", "x"]
)
TEXT = (
    st.sampled_from(["close", "very"])
    | st.text(max_size=30)
    | st.lists(WORDS, max_size=12).map("".join)
)
EVIDENCE = st.builds(Evidence, event=TEXT, pointer=TEXT, quote=TEXT)
STEP = st.builds(
    StepFinding,
    number=st.from_regex(r"[0-9]{1,2}(\.[0-9])?", fullmatch=True) | TEXT,
    text=TEXT,
    status=st.sampled_from(Status),
    confidence=st.just(1.0),
    evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
    note=TEXT,
    waived=st.booleans(),
)
EXTRA = st.builds(
    Extra,
    event=TEXT,
    pointer=TEXT,
    quote=TEXT,
    what=TEXT,
    severity=st.sampled_from(Severity),
    confidence=st.just(1.0),
)
FINDINGS = st.builds(
    Findings,
    st.lists(STEP, min_size=1, max_size=8).map(tuple),
    st.lists(EXTRA, max_size=6).map(tuple),
)


@given(FINDINGS)
def test_every_reason_passes_the_check(found: Findings) -> None:
    reason = write_reason(found, compute_score(found))

    assert check_reason(reason) == ()
    assert len(reason) < 1_000
    assert reason == " ".join(reason.split())


@given(FINDINGS)
def test_every_change_is_one_line(found: Findings) -> None:
    better = find_nearest_better(found)

    assert better is None or better.change == " ".join(better.change.split())
