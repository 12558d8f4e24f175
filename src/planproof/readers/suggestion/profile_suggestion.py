"""Suggest a profile for a source, try it on the source, and say how sure each part is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from planproof.core.trace import Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.profile_reader import ProfileReader, parse_profile
from planproof.readers.profile_trial import ProfileTrial, try_profile
from planproof.readers.recognition import detect_reader
from planproof.readers.suggestion.json_profile import suggest_json_profile
from planproof.readers.suggestion.text_profile import suggest_text_profile
from planproof.readers.suggestion.yaml_writer import Draft, write_draft

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
    draft = Draft()
    own_name = name or make_profile_name(source.name)
    draft.values["planproof"] = "profile/1"
    draft.values["name"] = own_name
    draft.values["title"] = f"Traces like {Path(source.name).name}"
    if source.form == "text":
        counts = suggest_text_profile(source.document, draft)
        unit = "lines that begin a block"
    else:
        found = suggest_json_profile(source, draft)
        counts, unit = found.counts, "records"
    if "pairs" in draft.comments:
        draft.comments["rules"] += f" {draft.comments.pop('pairs')}"
    total = sum(counts.values())
    sure, likely = counts.get("sure", 0), counts.get("likely", 0)
    reader = ProfileReader(parse_profile(write_draft(draft), name="the suggested profile"))
    trial = try_profile(reader, source)
    origin = (
        f"Suggested from the shape of {Path(source.name).name}, without knowing the format: a "
        "draft to be edited."
    )
    confidence = (
        f"Of {total:,} {unit}: {sure:,} by the words of their type, {likely:,} guessed by shape, "
        f"{total - sure - likely:,} not recognised."
    )
    draft.head += [origin, confidence, f"Read by this draft: {trial.describe_counts()}."]
    known = detect_reader(source)
    if known is not None:
        draft.head.append(
            f"The reader `{known.name}` knows this format already: a profile is needed only to "
            "read it in another way."
        )
    draft.head.append(f"Check it: planproof profile test {own_name}.yaml {source.name}")
    return Suggestion(write_draft(draft), reader, trial)


def make_profile_name(path: str) -> str:
    """Return a name for a profile, from the name of a file."""
    stem = Path(path).name.split(".")[0].lower()
    return _UNNAMED.sub("-", stem).strip("-")[:40] or "my-format"
