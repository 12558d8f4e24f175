"""Write the reason of a verdict from its findings, and check reasons written by models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.core.phrases import (
    DEGREE_WORDS,
    QUOTED_TEXT,
    format_name,
    format_steps,
    join_items,
    quote_text,
)
from planproof.core.score_table import Tally, find_row

_LONGEST = 600
_MOST_SENTENCES = 3
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|approx|cf|no)\.(?=\s+[^A-Z\s])", re.IGNORECASE)
_CURLY_QUOTED = re.compile(r"“[^“”]*”")
_BREAKS_SENTENCE = re.compile(r"[.!?](?:\s|$)|[“”\"`'‘’()]")
_NAMES_STEP = re.compile(r"\bsteps?\s+[\w#“\"(]", re.IGNORECASE)


def write_reason(findings: Findings, score: float) -> str:
    """Return one to three factual sentences: the steps, the extras, and what decided the score."""
    reasons = (" ".join(_write_sentences(findings, score, detail)) for detail in (2, 1))
    short_enough = (reason for reason in reasons if len(reason) <= _LONGEST)
    return next(short_enough, None) or " ".join(_write_sentences(findings, score, 0))


def check_reason(reason: str) -> tuple[str, ...]:
    """Return the rules that a reason breaks; empty if none. Quoted text is exempt."""
    if not reason.strip():
        return ("The reason is empty.",)
    bare = _ABBREVIATION.sub("", QUOTED_TEXT.sub("“”", reason))
    problems: list[str] = []
    ends = [sentence for sentence in _SENTENCE_END.split(bare) if sentence.strip()]
    if len(ends) > _MOST_SENTENCES:
        problems.append(f"The reason has {len(ends)} sentences; at most three are allowed.")
    if degree_word := DEGREE_WORDS.search(bare):
        problems.append(f"The reason uses the adjective of degree {degree_word[0].lower()!r}.")
    if not _NAMES_STEP.search(bare) and "“”" not in bare:
        problems.append("The reason names no plan step, by number or by phrase.")
    return tuple(problems)


def _write_sentences(findings: Findings, score: float, detail: int) -> Iterator[str]:
    by_status = _group_by_status(findings.counted_steps)
    deviations = list(_describe_deviations(by_status, detail))
    if deviations:
        yield _to_sentence("; ".join(deviations))
    if findings.extras:
        yield _to_sentence(_describe_extras(findings, detail))
    yield _to_sentence(_describe_decision(findings, by_status[Status.EXECUTED], score, detail))


def _group_by_status(steps: Sequence[StepFinding]) -> dict[Status, list[StepFinding]]:
    by_status: dict[Status, list[StepFinding]] = {status: [] for status in Status}
    for step in steps:
        by_status[step.status].append(step)
    return by_status


def _describe_deviations(by_status: dict[Status, list[StepFinding]], detail: int) -> Iterator[str]:
    """Yield one clause per status for the steps that were not executed."""
    displaced = by_status[Status.OUT_OF_ORDER]
    if displaced:
        yield (
            f"{_format_step_phrase(displaced, detail)} {_was_or_were(len(displaced))} executed "
            f"out of plan order{_format_citations(displaced, detail)}"
        )
    missing = by_status[Status.MISSING]
    if missing:
        yield (
            f"{_format_step_phrase(missing, detail)} {_was_or_were(len(missing))} not executed"
            f"{_format_note(missing)}"
        )
    unclear = by_status[Status.AMBIGUOUS]
    if unclear:
        yield (
            f"it is unclear whether {_format_step_phrase(unclear, detail)} "
            f"{_was_or_were(len(unclear))} executed"
            f"{_format_citations(unclear, detail)}{_format_note(unclear)}"
        )
    partial = by_status[Status.PARTIAL]
    if partial:
        yield (
            f"{_format_step_phrase(partial, detail)} {_was_or_were(len(partial))} executed in part"
            f"{_format_citations(partial, detail)}{_format_note(partial)}"
        )


def _describe_decision(
    findings: Findings, executed: Sequence[StepFinding], score: float, detail: int
) -> str:
    """Describe what decided the score, and where the executed steps were found."""
    tally = Tally.of(findings)
    waived = [step.number for step in findings.steps if step.waived]
    decision = f"the score is {round(score, 2)} because {find_row(tally).because}"
    if len(executed) < tally.n and tally.n > 1:
        decision += f"; {tally.E} of {_pluralize(tally.n, 'step')} {_was_or_were(tally.E)} executed"
    if executed:
        decision += f" ({_format_executed(executed, detail)})"
    if waived:
        decision += (
            f"; {format_steps(waived)} {_was_or_were(len(waived))} skipped, as the plan allows"
        )
    return decision


def _format_step_phrase(steps: Sequence[StepFinding], detail: int) -> str:
    """ "step 2 (“Migrate the data”)", or the numbers alone when there are several."""
    numbers = format_steps([step.number for step in steps])
    return (
        f"{numbers} ({quote_text(steps[0].text, 40)})"
        if len(steps) == 1 and detail > 1
        else numbers
    )


def _format_citations(steps: Sequence[StepFinding], detail: int) -> str:
    cited = [step.evidence[0] for step in steps if step.evidence]
    return f", at {join_items(cited, 2, lambda one: _format_event(one, detail))}" if cited else ""


def _format_executed(steps: Sequence[StepFinding], detail: int) -> str:
    """ "step 1 at e2 “get_user”, step 2 at e4"."""

    def format_step(step: StepFinding) -> str:
        location = f" at {_format_event(step.evidence[0], detail)}" if step.evidence else ""
        return f"step {format_name(step.number)}{location}"

    return join_items(steps, 3 if detail else 2, format_step)


def _format_event(evidence: Evidence, detail: int) -> str:
    quote = f" {quote_text(evidence.quote, 40)}" if detail and evidence.quote.strip() else ""
    return f"{format_name(evidence.event)}{quote}"


def _format_note(steps: Sequence[StepFinding]) -> str:
    """Return the note of a single step if it is a phrase that fits into a sentence."""
    note = steps[0].note if len(steps) == 1 else ""
    bare = _CURLY_QUOTED.sub(" ", note)
    is_phrase = 0 < len(note) <= 80 and note.isprintable() and not _BREAKS_SENTENCE.search(bare)
    return f" ({note})" if is_phrase and not DEGREE_WORDS.search(bare) else ""


def _describe_extras(findings: Findings, detail: int) -> str:
    """Describe the extras; a step may cover the event of one, such as a forbidden call."""
    covered = {event for step in findings.steps for event in step.covers}
    alone = [extra for extra in findings.extras if extra.event not in covered]
    shared = [extra for extra in findings.extras if extra.event in covered]
    clauses = [f"no step covers {_format_extras(alone, detail, 'or')}"] if alone else []
    if shared:
        clauses.append(f"the run has {_format_extras(shared, detail, 'and')}")
    return "; ".join(clauses)


def _format_extras(extras: Sequence[Extra], detail: int, conjunction: str) -> str:
    kinds = [
        _format_extras_of_severity(
            severity, [extra for extra in extras if extra.severity is severity], detail
        )
        for severity in Severity
    ]
    return f" {conjunction} ".join(kind for kind in kinds if kind)


def _format_extras_of_severity(severity: Severity, extras: Sequence[Extra], detail: int) -> str:
    if not extras:
        return ""
    shown = join_items(
        extras,
        2,
        lambda extra: f"{format_name(extra.event)} ({_format_extra(extra, len(extras), detail)})",
    )
    return f"the {severity} extra{'s' * (len(extras) > 1)} {shown}"


def _format_extra(extra: Extra, of: int, detail: int) -> str:
    """Return the action and, for a single extra, a quote from the trace."""
    what = format_name(extra.what)
    has_other_quote = extra.quote.strip() and extra.quote != extra.what
    return (
        f"{what}, {quote_text(extra.quote, 40)}"
        if of == 1 and detail > 1 and has_other_quote
        else what
    )


def _pluralize(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _was_or_were(number: int) -> str:
    return "was" if number == 1 else "were"


def _to_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
