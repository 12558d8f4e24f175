"""The reason of a verdict: one to three sentences from the findings; and the check of any."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.core.phrases import OF_DEGREE, QUOTED, listed, named, quoted, steps_named
from planproof.core.score_table import Tally, row_of

_LONGEST = 600
_MOST_SENTENCES = 3
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|approx|cf|no)\.(?=\s+[^A-Z\s])", re.IGNORECASE)
_BREAKS_SENTENCE = re.compile(r"[.!?](?:\s|$)|[“”\"`'‘’()]")
_NAMES_STEP = re.compile(r"\bsteps?\s+[\w#“\"(]", re.IGNORECASE)


def write_reason(findings: Findings, score: float) -> str:
    """One to three factual sentences: what became of the steps, the extras, what decided."""
    reasons = (" ".join(_sentences(findings, score, detail)) for detail in (2, 1))
    fitting = (reason for reason in reasons if len(reason) <= _LONGEST)
    return next(fitting, None) or " ".join(_sentences(findings, score, 0))


def check_reason(reason: str) -> tuple[str, ...]:
    """What is wrong with a reason; empty when it keeps to the rules. Quoted text is exempt."""
    if not reason.strip():
        return ("The reason is empty.",)
    bare = _ABBREVIATION.sub("", QUOTED.sub("“”", reason))
    problems: list[str] = []
    ends = [piece for piece in _SENTENCE_END.split(bare) if piece.strip()]
    if len(ends) > _MOST_SENTENCES:
        problems.append(f"The reason has {len(ends)} sentences; at most three are allowed.")
    if found := OF_DEGREE.search(bare):
        problems.append(f"The reason uses the adjective of degree {found[0].lower()!r}.")
    if not _NAMES_STEP.search(bare) and "“”" not in bare:
        problems.append("The reason names no plan step, by number or by phrase.")
    return tuple(problems)


def _sentences(findings: Findings, score: float, detail: int) -> Iterator[str]:
    became = _by_status(findings.counted)
    lapses = list(_lapses(became, detail))
    if lapses:
        yield _sentence("; ".join(lapses))
    if findings.extras:
        yield _sentence(f"no step covers {_extras(findings.extras, detail)}")
    yield _sentence(_decision(findings, became[Status.EXECUTED], score, detail))


def _by_status(steps: Sequence[StepFinding]) -> dict[Status, list[StepFinding]]:
    became: dict[Status, list[StepFinding]] = {status: [] for status in Status}
    for step in steps:
        became[step.status].append(step)
    return became


def _lapses(became: dict[Status, list[StepFinding]], detail: int) -> Iterator[str]:
    """What went wrong with the steps, one clause a status."""
    displaced = became[Status.OUT_OF_ORDER]
    if displaced:
        yield f"{_steps(displaced, detail)} came out of plan order{_at(displaced, detail)}"
    missing = became[Status.MISSING]
    if missing:
        yield f"no event executes {_steps(missing, detail)}{_note(missing)}"
    unclear = became[Status.AMBIGUOUS]
    if unclear:
        yield (
            f"it is not clear that {_steps(unclear, detail)} {_were(len(unclear))} executed"
            f"{_at(unclear, detail)}{_note(unclear)}"
        )
    partial = became[Status.PARTIAL]
    if partial:
        yield (
            f"{_steps(partial, detail)} {_were(len(partial))} executed in part"
            f"{_at(partial, detail)}{_note(partial)}"
        )


def _decision(
    findings: Findings, executed: Sequence[StepFinding], score: float, detail: int
) -> str:
    """What decided the score, and which steps were executed where."""
    tally = Tally.of(findings)
    waived = [step.number for step in findings.steps if step.waived]
    decision = f"the score is {round(score, 2)} because {row_of(tally).because}"
    if len(executed) < tally.n and tally.n > 1:
        decision += f"; {tally.E} of {_many(tally.n, 'step')} {_were(tally.E)} executed"
    if executed:
        decision += f" ({_where(executed, detail)})"
    if waived:
        decision += f"; {steps_named(waived)} {_were(len(waived))} left out, as the plan allows"
    return decision


def _steps(steps: Sequence[StepFinding], detail: int) -> str:
    """ "step 2 (“Migrate the data”)", or the numbers alone when there are several."""
    told = steps_named([step.number for step in steps])
    return f"{told} ({quoted(steps[0].text, 40)})" if len(steps) == 1 and detail > 1 else told


def _at(steps: Sequence[StepFinding], detail: int) -> str:
    cited = [step.evidence[0] for step in steps if step.evidence]
    return f", at {listed(cited, 2, lambda one: _event(one, detail))}" if cited else ""


def _where(steps: Sequence[StepFinding], detail: int) -> str:
    """ "step 1 at e2 “get_user”, step 2 at e4"."""

    def told(step: StepFinding) -> str:
        place = f" at {_event(step.evidence[0], detail)}" if step.evidence else ""
        return f"step {named(step.number)}{place}"

    return listed(steps, 3 if detail else 2, told)


def _event(evidence: Evidence, detail: int) -> str:
    quote = f" {quoted(evidence.quote, 40)}" if detail and evidence.quote.strip() else ""
    return f"{named(evidence.event)}{quote}"


def _note(steps: Sequence[StepFinding]) -> str:
    """The note of a single step, where it is a phrase that can stand in a sentence."""
    note = steps[0].note if len(steps) == 1 else ""
    fits = 0 < len(note) <= 80 and note.isprintable() and not _BREAKS_SENTENCE.search(note)
    return f" ({note})" if fits and not OF_DEGREE.search(note) else ""


def _extras(extras: Sequence[Extra], detail: int) -> str:
    kinds = [
        _extras_of(severity, [extra for extra in extras if extra.severity is severity], detail)
        for severity in Severity
    ]
    return " or ".join(kind for kind in kinds if kind)


def _extras_of(severity: Severity, extras: Sequence[Extra], detail: int) -> str:
    if not extras:
        return ""
    shown = listed(
        extras, 2, lambda extra: f"{named(extra.event)} ({_what(extra, len(extras), detail)})"
    )
    return f"the {severity} extra{'s' * (len(extras) > 1)} {shown}"


def _what(extra: Extra, of: int, detail: int) -> str:
    """What was done and, of a lone extra, the words of the trace."""
    what = named(extra.what)
    tells_more = extra.quote.strip() and extra.quote != extra.what
    return f"{what}, {quoted(extra.quote, 40)}" if of == 1 and detail > 1 and tells_more else what


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
