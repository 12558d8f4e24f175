"""The order of a session's lines: by time, and never before the line that they follow."""

from __future__ import annotations

from operator import itemgetter

from planproof.core.content import Json
from planproof.core.json_values import is_object, text_at


def sort_lines(lines: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    """The lines as they came about; files of sub-agents may have been put after the session's."""
    times: list[str] = []
    begun: dict[str, str] = {}
    last = ""
    form = 0
    for _, line in lines:
        if is_object(line):
            own = text_at(line, "timestamp")
            if own is not None:
                form = form or len(own)
                if len(own) != form or not own.endswith("Z"):
                    return lines  # times in several forms do not sort as text
                last = max(own, begun.get(text_at(line, "parentUuid") or "", ""))
            identity = text_at(line, "uuid")
            if identity is not None:
                begun[identity] = last
        times.append(last)
    if all(map(str.__le__, times, times[1:])):
        return lines
    ranks = sorted(enumerate(times), key=itemgetter(1))
    return [lines[index] for index, _ in ranks]
