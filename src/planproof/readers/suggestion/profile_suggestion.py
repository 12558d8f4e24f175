"""Suggest a profile for a source, try it on the source, and say how sure each part is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from planproof.core.trace import UNVERIFIED, Event, Kind, SkippedPart, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.profile import Rule
from planproof.readers.profile_reader import ProfileReader, parse_profile
from planproof.readers.profile_trial import ProfileTrial, try_profile
from planproof.readers.recognition import detect_reader
from planproof.readers.suggestion.json_profile import suggest_json_profile
from planproof.readers.suggestion.text_profile import suggest_text_profile
from planproof.readers.suggestion.yaml_writer import Draft, write_draft
from planproof.readers.toolkit.entries import point_to_lines
from planproof.readers.toolkit.text_actions import find_run_start

_MAX_CHOICES = 3
# What runs a command or code that names no tool.
_PROGRAMS = ("=shell", "=code", "=python", "=bash", "=sql")
_TOOL = re.compile(r"[A-Za-z_][\w.\-]{0,79}")
_UNNAMED = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested profile: its text, its reader, and what it reads of the source."""

    text: str
    reader: ProfileReader
    trial: ProfileTrial

    @property
    def trace(self) -> Trace:
        """The source as the profile reads it."""
        return self.trial.trace


def suggest_profile(source: Source, name: str | None = None) -> Suggestion:
    """Suggest a profile from the shape of a source. It is a draft to be edited."""
    if source.form == "archive":
        raise InvalidInput(
            "is an archive of traces.", where=source.name, advice="Select one with --pick."
        )
    own_name = name or make_profile_name(source.name)
    tried: list[tuple[Draft, ProfileReader, ProfileTrial]] = []
    for choice in range(_MAX_CHOICES):
        draft = _draft_profile(source, own_name, choice)
        if draft is not None:
            reader = ProfileReader(parse_profile(write_draft(draft), name="the suggested profile"))
            tried.append((draft, reader, try_profile(reader, source)))
        if draft is None or tried[-1][2].calls:
            break
    draft, reader, trial = tried[-1] if tried[-1][2].calls else tried[0]
    draft.head.append(f"Read by this draft: {trial.describe_counts()}.")
    known = detect_reader(source)
    if known is not None:
        draft.head.append(
            f"The reader `{known.name}` knows this format already: a profile is needed only to "
            "read it in another way."
        )
    draft.head.append(f"Check it: planproof profile test {own_name}.yaml {source.name}")
    return Suggestion(write_draft(draft), reader, trial)


def _draft_profile(source: Source, name: str, choice: int) -> Draft | None:
    """Draft a profile; `choice` is the number of the list that is taken for its records."""
    file = Path(source.name).name
    title = f"Traces like {file}"
    draft = Draft(values={"planproof": "profile/1", "name": name, "title": title})
    if source.form == "text":
        counts = suggest_text_profile(source.document, draft) if choice == 0 else None
        unit = "lines that begin a block"
    else:
        found = suggest_json_profile(source, draft, choice)
        counts, unit = found and found.counts, "records"
    if counts is None:
        return None
    if "pairs" in draft.comments:
        draft.comments["rules"] += f" {draft.comments.pop('pairs')}"
    total = sum(counts.values())
    draft.head = [
        f"Suggested from the shape of {file}, without knowing the format: a draft to be edited.",
        (
            f"Of {total:,} {unit}: {counts['sure']:,} by the words of their type, "
            f"{counts['likely']:,} guessed by shape, {counts['unsure']:,} not recognised."
        ),
    ]
    return draft


def read_by_shape(source: Source, name: str) -> Trace | None:
    """Read a source by the profile that is suggested for it, without anybody having checked it.

    Return None unless all calls name a tool and one of them is answered; in a text, where only
    words are trusted, named arguments are enough. The calls are unverified.
    """
    source, examples = _blank_examples(source)
    for choice in range(_MAX_CHOICES):
        draft = _draft_profile(source, name, choice)
        if draft is None:
            break
        reader = ProfileReader(parse_profile(write_draft(draft), name="the suggested profile"))
        trace = reader.read(source)
        calls = [event for event in trace.events if event.kind is Kind.ACTION]
        is_called = any(
            call.output_pointer or (source.form == "text" and (call.arguments or call.recognition))
            for call in calls
        )
        if (
            is_called
            and all(map(_names_tool, calls))
            and not _has_unnamed_calls((*reader.profile.blocks, *reader.profile.rules))
        ):
            return _mark_unverified(replace(trace, skipped=(*examples, *trace.skipped)))
    return None


def _blank_examples(source: Source) -> tuple[Source, tuple[SkippedPart, ...]]:
    """Return a text without a prompt with examples: its lines are blank, so that others stay."""
    lines: list[str] = source.document.split("\n") if source.form == "text" else []
    start = find_run_start(lines)
    if not start:
        return source, ()
    document = "\n".join([*[""] * start, *lines[start:]])
    skipped = SkippedPart(point_to_lines(1, start), "a prompt with examples")
    return replace(source, document=document), (skipped,)


def _mark_unverified(trace: Trace) -> Trace:
    events = (
        structs.replace(event, recognition=UNVERIFIED) if event.kind is Kind.ACTION else event
        for event in trace.events
    )
    return replace(trace, events=tuple(events))


def _names_tool(call: Event) -> bool:
    """Return False if the name of a call is just the first word of its text."""
    name = call.name or ""
    return _TOOL.fullmatch(name) is not None and not call.text.startswith(f"{name} ")


def _has_unnamed_calls(rules: Iterable[Rule]) -> bool:
    """Return whether calls are named by their label or type, because they name no tool."""
    for rule in rules:
        call = rule.call
        if call is not None and (
            call.arguments == "." or (str(call.name).startswith("=") and call.name not in _PROGRAMS)
        ):
            return True
        if _has_unnamed_calls((*rule.rules, *rule.read, *getattr(rule, "blocks", ()))):
            return True
    return False


def make_profile_name(path: str) -> str:
    """Return a name for a profile, from the name of a file."""
    stem = Path(path).name.split(".")[0].lower()
    return _UNNAMED.sub("-", stem).strip("-")[:40] or "my-format"
