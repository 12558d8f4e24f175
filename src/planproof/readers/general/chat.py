"""Chats of several speakers: who speaks is a free name, and actions may be told in prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.content import Json
from planproof.readers.conversation import AGENTS, ROLES, TOOLS, USERS, Conversation, role_of
from planproof.readers.outcomes import outcome_of
from planproof.readers.shapes import embedded, is_object, text_at, time_of
from planproof.readers.transcript import Draft, Result, Transcript
from planproof.trace import EventStatus, Kind

_STAGE = re.compile(r"(?P<who>[^()]{1,80}?)\s*\((?P<how>[^()]{1,80})\)\s*")
_BLOCK = re.compile(r"^[ \t]*```([\w+-]*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_EXECUTOR = re.compile(r"terminal|executor|code[_ ]?runner|interpreter|sandbox", re.IGNORECASE)
_LANGUAGES = {
    "python": "python",
    "py": "python",
    "python3": "python",
    "": "python",
    "sh": "sh",
    "bash": "sh",
    "shell": "sh",
    "zsh": "sh",
    "console": "sh",
    "sql": "sql",
    "javascript": "javascript",
    "js": "javascript",
    "r": "r",
}
_LEDGER = re.compile(
    r"\s*(?:(?:initial|updated|new|current)\s+(?:plan|ledger|facts?)\b|next speaker\b)",
    re.IGNORECASE,
)
_DEED = re.compile(
    r"\s*I (clicked|typed|scrolled|hovered|visited|opened|navigated|went|pressed|selected|searched"
    r"|moved|waited|summarized|paged|entered|submitted|downloaded|executed|ran)\b"
)
_SENTENCE_END = re.compile(r"(?<=[.!?'\"])\s*\n|\n\s*\n|\Z")
_DEEDS = {
    "clicked": "click",
    "typed": "type",
    "scrolled": "scroll",
    "hovered": "hover",
    "visited": "visit",
    "opened": "open",
    "navigated": "navigate",
    "went": "go",
    "pressed": "press",
    "selected": "select",
    "searched": "search",
    "moved": "move",
    "waited": "wait",
    "summarized": "summarize",
    "paged": "page",
    "entered": "enter",
    "submitted": "submit_form",
    "downloaded": "download",
    "executed": "execute",
    "ran": "run",
}
_PAGE = re.compile(r"\s*Address: (?=\S+\s*\n)")


def is_turn(value: dict[str, Json]) -> bool:
    """Whether this is what somebody said in a chat: a speaker of any name, and text."""
    return isinstance(value.get("content"), str) and (
        isinstance(value.get("role"), str)
        or isinstance(value.get("name"), str)
        or isinstance(value.get("source"), str)
        or isinstance(value.get("speaker"), str)
    )


@dataclass(slots=True)
class _Code:
    """A message with code blocks, which count as run only if the next turn runs them."""

    text: str
    pointer: str
    actor: str
    turn: int


class Chat:
    """Writes the turns of a chat, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.conversation = Conversation(transcript)
        self._code: _Code | None = None

    def turn(self, value: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Write one turn; code in it waits to see whether the next one runs it."""
        if "timestamp" in value or "created_at" in value:
            self.transcript.time = time_of(value.get("timestamp") or value.get("created_at"))
        role = role_of(value)
        speaker = text_at(value, "name", "source", "speaker")
        content = value.get("content")
        if role in TOOLS or not isinstance(content, str):
            self.flush()
            self.conversation.message(value, pointer, turn)
        elif speaker is None and role in ROLES:
            self._plain(value, pointer, role, turn)
        else:
            self._speech(content, f"{pointer}/content", speaker or text_at(value, "role") or role)

    def flush(self) -> None:
        """Write the code that nobody ran as what it is: something said."""
        if self._code is not None:
            code, self._code = self._code, None
            draft = Draft(Kind.MESSAGE, code.pointer, actor=code.actor, text=code.text)
            draft.turn = code.turn
            self.transcript.add(draft)

    def _plain(self, value: dict[str, Json], pointer: str, role: str, turn: str | None) -> None:
        content: str = value["content"]
        if role in USERS and self._code is not None and outcome_of_execution(content):
            self._run(content, f"{pointer}/content", "user")
            return
        self.flush()
        if (
            role in AGENTS
            and not value.get("tool_calls")
            and self._hold(content, f"{pointer}/content", "assistant")
        ):
            return
        self.conversation.message(value, pointer, turn)

    def _speech(self, text: str, pointer: str, speaker: str) -> None:
        if outcome_of_execution(text) or _EXECUTOR.search(speaker):
            self._run(text, pointer, speaker)
            return
        self.flush()
        stage = _STAGE.fullmatch(speaker)
        who, how = (stage["who"], stage["how"].strip()) if stage else (speaker, "")
        if who.lower() in USERS or who.lower() in ("user_proxy", "userproxy"):
            self.transcript.begin_turn()
            self._say(Kind.MESSAGE, text, pointer, "user")
        elif how.startswith("->"):
            self.transcript.begin_turn()
            self.transcript.call(
                Draft(Kind.ACTION, pointer, how[2:].strip() or "hand-off", who, text)
            )
        elif how.lower() in ("thought", "thinking", "reasoning"):
            self.transcript.begin_turn()
            kind = Kind.BOOKKEEPING if _LEDGER.match(text) else Kind.REASONING
            self._say(kind, text, pointer, who)
        elif not self._hold(text, pointer, who):
            self.transcript.begin_turn()
            self._said(text, pointer, who)

    def _said(self, text: str, pointer: str, who: str) -> None:
        deed = _DEED.match(text)
        if deed is not None:
            end = _SENTENCE_END.search(text, deed.end())
            assert end is not None
            draft = Draft(Kind.ACTION, pointer, _DEEDS[deed[1]], who, text[: end.start()].strip())
            self._with_rest(draft, text[end.end() :], pointer)
            return
        page = _PAGE.match(text)
        if page is not None:
            address, _, rest = text[page.end() :].partition("\n")
            draft = Draft(Kind.ACTION, pointer, "open", who, f"Address: {address.strip()}")
            self._with_rest(draft, rest, pointer)
            return
        if is_object(embedded(text)):
            self._say(Kind.MESSAGE, text, pointer, who)
            return
        self.conversation.prose(text, pointer, who)

    def _with_rest(self, draft: Draft, rest: str, pointer: str) -> None:
        if rest.strip():
            draft.output = rest.strip()
            draft.output_pointer = pointer
            draft.status = outcome_of(draft.output)
        self.transcript.add(draft)

    def _say(self, kind: Kind, text: str, pointer: str, who: str) -> None:
        if text.strip():
            self.transcript.add(Draft(kind, pointer, actor=who, text=text))

    def _hold(self, text: str, pointer: str, who: str) -> bool:
        if "```" not in text or _BLOCK.search(text) is None:
            return False
        self.transcript.begin_turn()
        self._code = _Code(text, pointer, who, self.transcript.turn)
        return True

    def _run(self, output: str, pointer: str, executor: str) -> None:
        code, self._code = self._code, None
        if code is None:
            self.transcript.begin_turn()
            self.transcript.answer(Result(output, pointer, actor=executor))
            return
        position = 0
        runs: list[Draft] = []
        for block in _BLOCK.finditer(code.text):
            language = _LANGUAGES.get(block[1].lower())
            if language is None:
                continue
            self._aside(code, code.text[position : block.start()])
            run = Draft(Kind.ACTION, code.pointer, language, code.actor, block[2].strip("\n"))
            run.turn = code.turn
            runs.append(self.transcript.add(run))
            position = block.end()
        self._aside(code, code.text[position:])
        if not runs:
            self.transcript.answer(Result(output, pointer, actor=executor))
            return
        status = outcome_of(output)
        for run in runs:
            run.status = status if status is EventStatus.OK else EventStatus.UNKNOWN
        runs[-1].status = status
        runs[-1].output = output
        runs[-1].output_pointer = pointer

    def _aside(self, code: _Code, text: str) -> None:
        if text.strip():
            draft = Draft(Kind.MESSAGE, code.pointer, actor=code.actor, text=text.strip())
            draft.turn = code.turn
            self.transcript.add(draft)


def outcome_of_execution(text: str) -> bool:
    """Whether a text is what running code gave back."""
    return text[:80].lstrip().lower().startswith(("exitcode:", "exit code:", "code output:"))
