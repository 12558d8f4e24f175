"""AutoGen: the group chats of 0.2, where the speaker is `name`, and the messages of 0.4 and on."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_object, text_at
from planproof.core.trace import Trace
from planproof.readers.autogen.group_chat import GroupChat, proxies_in
from planproof.readers.autogen.team import Team, is_team_message
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.speakers import Speakers, speak_by_name
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("messages", "chat_history", "history", "trajectory")
_TELL_A_CHAT = frozenset(("name", "tool_responses"))
_ROLES = frozenset(("system", "user", "assistant", "tool", "function"))


class AutoGenReader:
    """Reads lists of messages, bare, as JSON Lines, or under a key such as `messages`."""

    name = "autogen"

    def sniff(self, source: Source) -> bool:
        """Whether the messages are of known types, or roles are shared by several names."""
        chat: list[dict[str, Json]] = []
        team = False
        for message in first_entries(source, _HOLDERS):
            if not is_object(message):
                return False
            role = message.get("role")
            if "source" in message and is_team_message(message):
                team = True
            elif team or not isinstance(role, str) or role not in _ROLES:
                return False
            elif not _TELL_A_CHAT.isdisjoint(message):
                chat.append(message)
        return team != speak_by_name(chat)

    def read(self, source: Source) -> Trace:
        """What the agents said, the code that was run, and the calls with their results."""
        transcript = Transcript(source.skipped)
        speakers = Speakers(transcript)
        messages = list(entries(source, _HOLDERS))
        team = Team(transcript, speakers)
        chat = GroupChat(transcript, speakers, proxies_in(messages))
        for pointer, message in messages:
            if not is_object(message):
                transcript.skip(pointer, "is no message")
            elif "source" in message and is_team_message(message):
                team.message(message, pointer)
            elif text_at(message, "role") in _ROLES:
                chat.message(message, pointer)
            else:
                transcript.skip(pointer, "is no message")
        speakers.flush()
        return transcript.trace(self.name)
