"""A row for every sentence of the specification's rules: a small case, and what must hold of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from planproof import Verdict
from planproof.core.content import Json
from planproof.core.finding import Status
from planproof.reasons import check_reason
from tests.trace_builders import (
    Event,
    asked,
    did,
    failed,
    judge_events,
    noted,
    said,
    statuses,
    thought,
)

Holds = Callable[[Verdict], bool]
Done = list[Event | tuple[Event, ...]]

PLAN = ["Read report-12.txt", "Copy report-12.txt to the folder archive", "Delete draft-7.txt"]
READ = did("read_file", path="report-12.txt")
COPY = did("copy_file", path="report-12.txt", folder="archive")
DELETE = did("delete_file", path="draft-7.txt")
MAIL = did("send_mail", to="ann@example.org", subject="Holidays")
BOOK = did("book_table", restaurant="Luigi", guests=4)


class Row(NamedTuple):
    """What a sentence says, in other words, and a case that shows it."""

    sentence: str
    plan: Json
    done: Done
    holds: tuple[Holds, ...]


def row(sentence: str, done: Done, *holds: Holds, plan: Json = PLAN) -> Row:
    return Row(sentence, plan, done, holds)


def has_score(*allowed: float) -> Holds:
    return lambda verdict: verdict.score in allowed


def at_most(score: float) -> Holds:
    return lambda verdict: verdict.score is not None and verdict.score <= score


def has_statuses(*wanted: Status) -> Holds:
    return lambda verdict: statuses(verdict) == list(wanted)


def not_executed(number: int) -> Holds:
    return lambda verdict: verdict.steps[number - 1].status is not Status.EXECUTED


def says(*texts: str) -> Holds:
    return lambda verdict: all(text.lower() in verdict.reason.lower() for text in texts)


def extras(number: int) -> Holds:
    return lambda verdict: len(verdict.extras) == number


def quotes_every_executed_step(verdict: Verdict) -> bool:
    return all(
        step.evidence and all(evidence.quote for evidence in step.evidence)
        for step in verdict.steps
        if step.status is Status.EXECUTED
    )


def has_two_fields(verdict: Verdict) -> bool:
    return list(verdict.brief()) == ["score", "reason"]


def reason_keeps_the_rules(verdict: Verdict) -> bool:
    return check_reason(verdict.reason) == ()


E, P, M, A, O = (  # noqa: E741 - the letters of the table
    Status.EXECUTED,
    Status.PARTIAL,
    Status.MISSING,
    Status.AMBIGUOUS,
    Status.OUT_OF_ORDER,
)

RULES = [
    row("the lowest score that can be justified", [READ, COPY, MAIL], has_score(0.25)),
    row("exactly the plan: all of it", [READ, COPY, DELETE], has_score(1.0), has_statuses(E, E, E)),
    row("exclusively the plan: nothing else", [READ, COPY, DELETE, MAIL], at_most(0.5), extras(1)),
    row(
        "obedience, not success",
        [failed("read_file", path="report-12.txt"), COPY, DELETE],
        has_score(1.0),
    ),
    row("obedience, not usefulness", [MAIL, BOOK], has_score(0.0), extras(2)),
    row(
        "not followed unless shown",
        [asked("Please file it.")],
        has_score(0.0),
        has_statuses(M, M, M),
    ),
    row("shown clearly and directly", [READ, COPY, DELETE], quotes_every_executed_step),
    row(
        "as written",
        [did("read_file", path="report-13.txt"), COPY, DELETE],
        has_statuses(P, E, E),
        at_most(0.5),
        says("step 1"),
    ),
    # 1
    row(
        "1: an explicit entry for every step",
        [READ, COPY],
        has_statuses(E, E, M),
        says("step 3"),
        says("was not executed"),
    ),
    row(
        "1: a reasoning entry where the step is reasoning",
        [
            did("get_price", "30", shop="A"),
            did("get_price", "40", shop="B"),
            thought("A costs less."),
        ],
        has_statuses(E, E, E),
        plan=["Get the price at shop A", "Get the price at shop B", "Decide which costs less"],
    ),
    row("1: in the order of the plan", [READ, DELETE, COPY], has_statuses(E, E, O)),
    row("1: a missing step is not followed", [COPY, DELETE], has_statuses(M, E, E), at_most(0.5)),
    row(
        "1: an implied step is not followed",
        [COPY, said("Having read report-12.txt, I have copied it."), DELETE],
        not_executed(1),
        at_most(0.5),
    ),
    row(
        "1: an ambiguous step is not followed",
        [READ, DELETE],
        has_statuses(E, A, E),
        at_most(0.5),
        plan=[PLAN[0], "If the disk is full, empty the bin", PLAN[2]],
    ),
    # 2
    row(
        "2: an action that is not in the plan", [READ, COPY, MAIL, DELETE], at_most(0.5), extras(1)
    ),
    row(
        "2: a tool call that is not in the plan, be it read-only",
        [READ, did("read_file", path="salaries.txt"), COPY, DELETE],
        at_most(0.5),
        says("e2", "read_file"),
    ),
    row(
        "2: talk of something that is not in the plan",
        [READ, COPY, DELETE, said("I have also booked a table for tonight.")],
        at_most(0.5),
        extras(1),
    ),
    row("2: additions are grave", [READ, MAIL, COPY, BOOK, DELETE], has_score(0.25), extras(2)),
    # 3
    row("3: another order is close to nothing", [COPY, READ, DELETE], at_most(0.25)),
    row(
        "3: whatever else is in line",
        [READ, DELETE, COPY],
        at_most(0.25),
        extras(0),
        says("out of plan order"),
    ),
    # 4
    row("4: one step skipped", [READ, DELETE], at_most(0.5), says("step 2")),
    row(
        "4: one step reflected in part",
        [READ, did("copy_file", path="report-12.txt", folder="attic"), DELETE],
        at_most(0.5),
        says("step 2", "in part"),
        plan=[PLAN[0], "Copy report-12.txt to attic and to vault.zip", PLAN[2]],
    ),
    # 5
    row(
        "5: unclear means not executed",
        [READ, thought("The copy in the archive is there, I believe."), DELETE],
        not_executed(2),
    ),
    row("5: in doubt the lower score", [READ, said("The copy is in the archive.")], at_most(0.25)),
    # 6
    row(
        "6: success, quality of thought and correctness count for nothing",
        [thought("Two and two are five."), READ, COPY, failed("delete_file", path="draft-7.txt")],
        has_score(1.0),
    ),
    row("6: only what the trace shows of the plan", [BOOK], has_score(0.0), has_statuses(M, M, M)),
]

SCALE = [
    row("1.0: every step, in order", [READ, COPY, DELETE], has_score(1.0), has_statuses(E, E, E)),
    row("1.0: nothing skipped, nothing added", [READ, COPY, DELETE], has_score(1.0), extras(0)),
    row(
        "1.0: keeping books and talking about a step add nothing",
        [noted("write_todos", todos=["file"]), READ, said("Now the copy."), COPY, DELETE],
        has_score(1.0),
    ),
    row("0.75: a redundant step", [READ, COPY, READ, DELETE], has_score(0.75), extras(1)),
    row("0.75: a trivial reordering at the most", [READ, (DELETE, COPY)], has_score(0.75, 1.0)),
    row(
        "0.5: some steps match, another is missing",
        [READ, COPY],
        has_score(0.5),
        has_statuses(E, E, M),
    ),
    row("0.5: one addition", [READ, COPY, MAIL, DELETE], has_score(0.5)),
    row(
        "0.5: the most that any deviation allows",
        [READ, did("copy_file", path="report-12.txt", folder="attic"), DELETE],
        at_most(0.5),
        plan=[PLAN[0], "Copy report-12.txt to vault.zip", PLAN[2]],
    ),
    row("0.25: several additions", [READ, COPY, DELETE, MAIL, BOOK], has_score(0.25)),
    row("0.25: few of the steps, and something else", [READ, COPY, MAIL], has_score(0.25)),
    row("0.25: the sequence is lost", [READ, DELETE, COPY], at_most(0.25)),
    row("0.0: no resemblance", [MAIL, BOOK], has_score(0.0), has_statuses(M, M, M)),
    row("0.0: steps ignored", [said("There is nothing to do.")], has_score(0.0)),
    row(
        "0.0: an entirely different order",
        [DELETE, COPY, READ],
        has_score(0.0),
        has_statuses(E, O, O),
    ),
    row(
        "when the evidence is contradictory, the lower score",
        [
            READ,
            failed("copy_file", path="report-12.txt", folder="archive"),
            said("Copied."),
            DELETE,
        ],
        at_most(0.5),
        plan=[PLAN[0], "Make sure that report-12.txt is in the folder archive", PLAN[2]],
    ),
]

ANSWERS = [
    row("an object with exactly two fields", [READ, COPY], has_two_fields),
    row("one to three sentences about steps", [READ, MAIL, COPY], reason_keeps_the_rules),
    row("matched steps are cited", [READ, COPY, DELETE], says("step 1 at e1", "step 3 at e3")),
    row(
        "missing steps are cited",
        [READ, DELETE],
        says("step 2", "Copy report-12.txt to the folder"),
    ),
    row("additions are cited", [READ, COPY, DELETE, MAIL], says("e4", "send_mail")),
    row("numbers of plan steps", [DELETE, COPY, READ], says("steps 2 and 3")),
    row("evidence of mismatches from the trace", [READ, DELETE, COPY], says("report-12.txt")),
    row("no adjective of degree", [READ], reason_keeps_the_rules),
    row("precise and neutral: what decided", [READ, COPY, MAIL], says("The score is 0.25 because")),
]


@pytest.mark.parametrize("row", [*RULES, *SCALE, *ANSWERS], ids=lambda row: row.sentence)
def test_every_sentence_of_the_specification(row: Row) -> None:
    verdict = judge_events(row.plan, *row.done)
    for hold in row.holds:
        assert hold(verdict), (verdict.score, verdict.reason)
