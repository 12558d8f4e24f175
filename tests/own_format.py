"""A format that no reader knows, and the profile that describes it."""

from __future__ import annotations

import json

from planproof.readers.profile_reader import ProfileReader, parse_profile

PROFILE = """\
planproof: profile/1
name: shop-bot
title: Sessions of the shop bot
form: jsonl
detect:
  every: {k: {exists: true}}
  some: {k: do}
rules:
  - when: {k: ask}
    user: t
  - when: {k: say}
    message: t
  - when: {k: do}
    call: {name: fn, arguments: p, id: n}
  - when: {k: got}
    result: {output: t, id: n}
"""
RECORDS = (
    {"k": "ask", "t": "Archive report 12 and mail it to Ann."},
    {"k": "do", "n": 1, "fn": "archive_report", "p": {"report": 12}},
    {"k": "got", "n": 1, "t": "archived"},
    {"k": "do", "n": 2, "fn": "send_mail", "p": {"to": "Ann", "report": 12}},
    {"k": "got", "n": 2, "t": "sent"},
    {"k": "say", "t": "Report 12 is archived and on its way to Ann."},
)
TRACE = "".join(f"{json.dumps(record)}\n" for record in RECORDS)
PLAN = ["Archive report 12", "Mail report 12 to Ann"]


def make_reader(name: str = "shop-bot") -> ProfileReader:
    """Return the reader of the profile, under another name if one is given."""
    return ProfileReader(parse_profile(PROFILE.replace("shop-bot", name), name="p.yaml"))
