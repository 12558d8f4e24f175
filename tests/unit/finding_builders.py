"""Findings for tests, written as short as they are thought."""

from __future__ import annotations

from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding

STATUSES = {
    "E": Status.EXECUTED,
    "P": Status.PARTIAL,
    "L": Status.MISSING,
    "A": Status.AMBIGUOUS,
    "O": Status.OUT_OF_ORDER,
}


def step(
    number: str, letter: str, *, parent: str | None = None, waived: bool = False
) -> StepFinding:
    """A step with the status of a letter, and evidence unless it is missing or ambiguous."""
    evidence = Evidence(f"e{number}", f"/{number}", f"call_{number}")
    return StepFinding(
        number=number,
        text=f"Do thing {number}",
        status=STATUSES[letter],
        confidence=1.0,
        evidence=(evidence,) if letter in "EPO" else (),
        parent=parent,
        waived=waived,
    )


def extra(event: str, severity: Severity = Severity.MAJOR, what: str = "web_search") -> Extra:
    return Extra(
        event=event, pointer=f"/{event}", quote=what, what=what, severity=severity, confidence=1.0
    )


def findings(statuses: str, major: int = 0, minor: int = 0) -> Findings:
    """Return findings of steps 1, 2, ... with the statuses of these letters, and N extras."""
    return Findings(
        tuple(step(str(number), letter) for number, letter in enumerate(statuses, start=1)),
        (
            *(extra(f"x{number}") for number in range(1, major + 1)),
            *(extra(f"y{number}", Severity.MINOR, "retry") for number in range(1, minor + 1)),
        ),
    )
