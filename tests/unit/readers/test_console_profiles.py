"""Consoles of agent frameworks, which profiles read; the samples are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import EventStatus, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.recognition import list_readers, load_reader
from tests.unit.readers.samples import NOTEBOOK, actions, brief, read


def test_turns_under_ruled_headers() -> None:
    trace = read(NOTEBOOK)
    assert brief(trace) == [
        ("reasoning", None, "Let me look at the genes."),
        ("action", "python", "print('genes')"),
        ("bookkeeping", "plan", "1. [✓] look\n2. [ ] choose"),
        ("message", None, "Go on."),
        ("message", None, "I am done."),
    ]
    [run] = actions(trace)
    assert run.output == "genes\n---------- not_a_header ----------"
    assert (run.pointer, run.output_pointer) == ("L3-5", "L6-9")
    assert resolve(NOTEBOOK, trace.events[3].pointer).endswith("\nGo on.")
    assert [event.actor for event in trace.events] == ["assistant"] * 3 + ["user", "assistant"]


def test_an_action_under_a_header_has_its_outcome() -> None:
    trace = read(
        "---------- Surfer ----------\nI clicked 'A'.\n\nHere is a screenshot.\nError: 404"
    )
    [action] = trace.events
    assert (action.actor, action.pointer, action.status) == ("Surfer", "L1-5", EventStatus.ERROR)


def test_the_console_of_a_team_after_what_was_installed() -> None:
    trace = read(
        "Collecting pip\nInstalling: x\n"
        "---------- user ----------\nCount the files.\n"
        "---------- MagenticOneOrchestrator ----------\n"
        "\nWe are working to address the following user request:\n\nCount the files.\n\n"
        "Here is the plan to follow as best as possible:\n\n- Coder counts.\n- Coder tells.\n\n"
        "---------- Coder ----------\nSo:\n```sh\nls | wc -l\n```\n"
        "---------- ComputerTerminal ----------\n"
        "The script ran, then exited with an error (POSIX exit code: 1)\nno ls\n"
        "---------- WebSurfer ----------\nI clicked 'A', believe me.\n"
    )
    assert brief(trace) == [
        ("message", None, "Count the files."),
        (
            "bookkeeping",
            None,
            "We are working to address the following user request:\n\nCount the files.",
        ),
        ("bookkeeping", "plan", "- Coder counts.\n- Coder tells."),
        ("message", None, "So:"),
        ("action", "sh", "ls | wc -l"),
        ("message", None, "I clicked 'A', believe me."),
    ]
    [run] = actions(trace)
    assert (run.status, run.pointer, run.output_pointer) == (EventStatus.ERROR, "L18-20", "L21-23")
    assert trace.events[2].pointer == "L13-14"
    assert [(part.pointer, part.why) for part in trace.skipped] == [
        ("L1-2", "lines outside all blocks of the profile")
    ]


def test_the_console_of_a_team_that_prints_types() -> None:
    trace = read(
        "---------- TextMessage (user) ----------\nWhat time is it?\n"
        "---------- ThoughtEvent (clerk) ----------\nI look.\n"
        "---------- ToolCallRequestEvent (clerk) ----------\n"
        "[FunctionCall(id='c1', arguments='{\"city\":\"L\\'Aquila\"}', name='clock'), "
        "FunctionCall(id='c2', arguments=\"{'}\", name='bell')]\n"
        "---------- ToolCallExecutionEvent (clerk) ----------\n"
        "[FunctionExecutionResult(content=\"it's\\nlate\", name='clock', call_id='c1', "
        "is_error=True), FunctionExecutionResult(content='ding', call_id='c2')]\n"
        "---------- TextMessage (clerk) ----------\nIt is late.\n"
    )
    assert brief(trace) == [
        ("message", None, "What time is it?"),
        ("reasoning", None, "I look."),
        ("action", "clock", ""),
        ("action", "bell", "{'}"),
        ("message", None, "It is late."),
    ]
    clock, bell = actions(trace)
    assert (clock.arguments, clock.output) == ({"city": "L'Aquila"}, "it's\nlate")
    assert (clock.status, bell.output, bell.turn) == (EventStatus.ERROR, "ding", clock.turn)


RULE = "-" * 80
CHAT = f"""\x1b[33muser_proxy\x1b[0m (to manager):

Count the stops.

{RULE}
\x1b[32m
Next speaker: coder
\x1b[0m
\x1b[33mcoder\x1b[0m (to manager):

I run this:

```python
print(3)
```

Then I look it up.

{RULE}
\x1b[31m
>>>>>>>> EXECUTING CODE BLOCK 0 (inferred language is python)...\x1b[0m
a warning of a library
\x1b[33muser_proxy\x1b[0m (to manager):

exitcode: 0 (execution succeeded)
Code output:
3

{RULE}
\x1b[33mcoder\x1b[0m (to manager):

Two calls.
\x1b[32m***** Suggested tool call (call_1): look_up *****\x1b[0m
Arguments:
{{"line": 9}}
\x1b[32m**************************************************\x1b[0m
\x1b[32m***** Suggested tool call (call_2): ping *****\x1b[0m
Arguments:
{{}}
\x1b[32m**************************************************\x1b[0m

{RULE}
\x1b[35m
>>>>>>>> EXECUTING FUNCTION look_up...\x1b[0m
\x1b[33muser_proxy\x1b[0m (to manager):

\x1b[33muser_proxy\x1b[0m (to manager):

\x1b[32m***** Response from calling tool (call_1) *****\x1b[0m
Error: no line 9
\x1b[32m***********************************************\x1b[0m

{RULE}
\x1b[33muser_proxy\x1b[0m (to manager):

\x1b[32m***** Response from calling tool (call_2) *****\x1b[0m
pong
\x1b[32m***********************************************\x1b[0m

{RULE}
\x1b[31m
>>>>>>>> USING AUTO REPLY...\x1b[0m
\x1b[33mcoder\x1b[0m (to manager):

***** Suggested function Call: save *****
Arguments:
not JSON
*****************************************

{RULE}
\x1b[33muser_proxy\x1b[0m (to manager):

***** Response from calling function "save" *****
saved
*************************************************

{RULE}
\x1b[33mcoder\x1b[0m (to manager):

TERMINATE

{RULE}
"""


def test_a_chat_of_autogen() -> None:
    trace = read(CHAT)
    assert trace.reader == "autogen-chat"
    assert [
        (event.actor, *short) for event, short in zip(trace.events, brief(trace), strict=True)
    ] == [
        ("user", "message", None, "Count the stops."),
        ("chat_manager", "message", None, "Next speaker: coder"),
        ("coder", "message", None, "I run this:"),
        ("coder", "action", "python", "print(3)"),
        ("coder", "message", None, "Then I look it up."),
        (
            "executor",
            "message",
            None,
            ">>>>>>>> EXECUTING CODE BLOCK 0 (inferred language is python)...",
        ),
        ("coder", "message", None, "Two calls."),
        ("coder", "action", "look_up", ""),
        ("coder", "action", "ping", ""),
        ("executor", "message", None, ">>>>>>>> EXECUTING FUNCTION look_up..."),
        ("coder", "action", "save", "not JSON"),
        ("coder", "message", None, "TERMINATE"),
    ]
    code, look_up, ping, save = actions(trace)
    assert (code.output.splitlines()[-1], code.status) == ("3", EventStatus.OK)
    assert (look_up.arguments, look_up.output) == ({"line": 9}, "Error: no line 9")
    assert look_up.status is EventStatus.ERROR
    assert (ping.output, save.output) == ("pong", "saved")
    assert look_up.turn == ping.turn < save.turn
    assert resolve(CHAT, look_up.pointer).split("\n")[-1] == '{"line": 9}'
    assert "Error: no line 9" in resolve(CHAT, str(look_up.output_pointer))
    last = resolve(CHAT, trace.events[-1].pointer)
    assert last.startswith("\x1b[33mcoder")
    assert last.endswith("TERMINATE")
    assert "lines outside all blocks of the profile" in [part.why for part in trace.skipped]


EXECUTED = (
    ">>>>>>>> EXECUTED FUNCTION look_up...\nCall ID: call_1\nInput arguments: {'line': 9}\n"
    "Output:\nnine\n"
)


def test_a_table_does_not_end_a_message() -> None:
    trace = read(f"a (to m):\n\nx | y\n{'-' * 30}\n1 | 2\n\n{RULE}\n")
    assert trace.events[-1].text.endswith("1 | 2")


def test_a_function_that_was_executed_is_one_call() -> None:
    suggested = (
        "***** Suggested tool call (call_1): look_up *****\nArguments: \n"
        f'{{"line": 9}}\n{"*" * 50}\n\n{RULE}\n'
    )
    response = (
        "b (to m):\n\n***** Response from calling Tool tool (call_1) *****\nnine\n"
        f"{'*' * 50}\n\n{RULE}\n"
    )
    for text in (
        f"a (to m):\n\n{suggested}{EXECUTED}{response}",
        f"a (to m):\n\nI look.\n\n{RULE}\n{EXECUTED}{RULE}\n",
    ):
        trace = read(text)
        assert trace.reader == "autogen-chat"
        [call] = actions(trace)
        assert (call.name, call.arguments, call.output) == ("look_up", {"line": 9}, "nine")
        assert not [event for event in trace.events if event.kind == "observation"]


def test_code_that_was_not_run_is_a_message() -> None:
    text = CHAT[: CHAT.index("\x1b[31m\n>>>>>>>> EXECUTING CODE")]
    trace = read(text)
    assert actions(trace) == []
    assert trace.events[-1].text.startswith("I run this:")


def test_code_that_a_later_turn_runs_is_an_action_of_who_wrote_it() -> None:
    trace = read(
        f"a (to m):\n\n```sh\nls\n```\n\n{RULE}\nb (to m):\n\nGood.\n\n{RULE}\n"
        f">>>>>>>> EXECUTING 1 CODE BLOCKS (inferred languages are [sh])...\n"
        f"c (to m):\n\nexitcode: 1 (execution failed)\nCode output: no\n\n{RULE}\n"
    )
    [run] = actions(trace)
    assert (run.actor, run.text, run.pointer) == ("a", "ls", "L1-5")
    assert (run.status, run.turn) == (EventStatus.ERROR, trace.events[-1].turn)


STEPS = (
    "{'input': \"Book Ann's room\", 'output': 'Booked.', 'intermediate_steps': ["
    "(AgentAction(tool='rooms.find', tool_input={'day': 'Mon', 'seats': 4}, "
    "log='I look.\\nAction: rooms.find'), [{'id': 7}]), "
    "(AgentAction(tool='rooms.book', tool_input='7', log='Action: book'), 'ok'), "
    "(AgentAction(tool='rooms.book', tool_input='7', log='Action: book'), 'Error: taken')]}"
)


def test_steps_of_a_langchain_agent_on_one_line() -> None:
    trace = read(STEPS)
    assert trace.reader == "langchain-steps"
    assert brief(trace) == [
        ("message", None, "Book Ann's room"),
        ("reasoning", None, "I look.\nAction: rooms.find"),
        ("action", "rooms.find", ""),
        ("action", "rooms.book", "7"),
        ("action", "rooms.book", "7"),
        ("message", None, "Booked."),
    ]
    find, first, second = actions(trace)
    assert trace.events[1].turn == find.turn < first.turn < second.turn < trace.events[-1].turn
    assert find.arguments == {"day": "Mon", "seats": 4}
    assert (find.output, first.output, second.status) == ('[{"id": 7}]', "ok", EventStatus.ERROR)
    assert resolve(STEPS, find.pointer).startswith("AgentAction(tool='rooms.find'")
    assert resolve(STEPS, str(second.output_pointer)) == "'Error: taken'"
    assert first.pointer != second.pointer
    assert resolve(STEPS, trace.events[-1].pointer) == "'output': 'Booked.'"


STREAM = """{'agent': {'messages': [AIMessage(content='I look.', additional_kwargs={}, \
tool_calls=[{'name': 'find', 'args': {'day': 'Mon'}, 'id': 'c1', 'type': 'tool_call'}])]}}
----
{'tools': {'messages': [ToolMessage(content="it's full", name='find', tool_call_id='c1')]}}
----
{'agent': {'messages': [AIMessage(content='It is full.', id=UUID('1'), at=datetime(2026, 1, 2))]}}
"""


def test_updates_of_a_langgraph_stream() -> None:
    trace = read(STREAM)
    assert trace.reader == "langchain-messages"
    assert brief(trace) == [
        ("reasoning", None, "I look."),
        ("action", "find", ""),
        ("message", None, "It is full."),
    ]
    [find] = actions(trace)
    assert (find.arguments, find.output) == ({"day": "Mon"}, "it's full")
    assert resolve(STREAM, find.pointer).startswith("{'name': 'find'")
    assert [part.pointer for part in trace.skipped] == ["L2:1-4", "L4:1-4"]


TASK_RESULT = (
    "TaskResult(messages=[TextMessage(source='user', models_usage=None, content='Book it.', "
    "type='TextMessage'), ToolCallRequestEvent(source='clerk', content=[FunctionCall(id='c1', "
    "arguments='{\"day\":\"Mon\"}', name='book')], type='ToolCallRequestEvent'), "
    "ToolCallExecutionEvent(source='clerk', content=[FunctionExecutionResult(content='full', "
    "call_id='c1', is_error=True)], type='ToolCallExecutionEvent'), HandoffMessage(source='clerk', "
    "target='boss', content='Help.', type='HandoffMessage'), TextMessage(source='boss', "
    "content='No.', type='TextMessage')], stop_reason='done')"
)
PRINTED = """\
source='user' models_usage=None content='Book it.' type='TextMessage'
source='clerk' content=[FunctionCall(id='c1', arguments='{"day":"Mon"}', name='book')] \
type='ToolCallRequestEvent'
source='clerk' content=[FunctionExecutionResult(content='full', call_id='c1', is_error=True)] \
type='ToolCallExecutionEvent'
source='clerk' target='boss' content='Help.' type='HandoffMessage'
source='boss' content='No.' type='TextMessage'
"""


@pytest.mark.parametrize("text", [TASK_RESULT, PRINTED])
def test_printed_messages_of_autogen(text: str) -> None:
    trace = read(text)
    assert trace.reader == "autogen-messages"
    assert [
        (event.actor, *short) for event, short in zip(trace.events, brief(trace), strict=True)
    ] == [
        ("user", "message", None, "Book it."),
        ("clerk", "action", "book", ""),
        ("clerk", "action", "boss", "Help."),
        ("boss", "message", None, "No."),
    ]
    book = actions(trace)[0]
    assert (book.arguments, book.output) == ({"day": "Mon"}, "full")
    assert book.status is EventStatus.ERROR
    assert resolve(text, book.pointer).startswith("FunctionCall(id='c1'")


def test_messages_of_langchain_as_print_writes_them() -> None:
    trace = read(
        "content='I look.' additional_kwargs={} "
        "tool_calls=[{'name': 'find', 'args': {}, 'id': 'c'}]\n"
        "content='three' name='find' tool_call_id='c'\n"
        "content='Three.' additional_kwargs={} response_metadata={}\n"
    )
    assert trace.reader == "langchain-messages"
    assert brief(trace)[1:] == [("action", "find", ""), ("message", None, "Three.")]
    assert actions(trace)[0].output == "three"


BOXES = """\
================================ Human Message =================================

How is Oslo?
================================== Ai Message ==================================
Name: clerk

I look.
Tool Calls:
  look_up (call_1)
 Call ID: call_1
  Args:
    city: Oslo
    days: [1, 2]
    code: a = 1
b: 2
  ping (call_2)
 Call ID: call_2
  Args:
================================= Tool Message =================================
Name: look_up

cold

very
================================= Tool Message =================================
Name: ping

pong
================================== Ai Message ==================================

It is cold.
================================== Ai Message ==================================

It is cold.
"""


def test_message_boxes_with_calls() -> None:
    trace = read(BOXES)
    assert trace.reader == "langchain-boxes"
    assert brief(trace) == [
        ("message", None, "How is Oslo?"),
        ("message", None, "I look."),
        ("action", "look_up", ""),
        ("action", "ping", ""),
        ("message", None, "It is cold."),
        ("message", None, "It is cold."),
    ]
    look_up, ping = actions(trace)
    assert look_up.arguments == {"city": "Oslo", "days": [1, 2], "code": "a = 1\nb: 2"}
    assert (look_up.actor, look_up.output, ping.output) == ("clerk", "cold\n\nvery", "pong")
    assert (look_up.pointer, look_up.output_pointer) == ("L9-15", "L19-24")


MODEL, TOOL, END = "\x1b[32;1m\x1b[1;3m", "\x1b[36;1m\x1b[1;3m", "\x1b[0m"
EXECUTOR = f"""

\x1b[1m> Entering new AgentExecutor chain...{END}
{MODEL}I plan first.
Action: planner
Action Input: a trip{END}

\x1b[1m> Entering new AgentExecutor chain...{END}
{MODEL}
Invoking: `search` with `{{'city': 'Oslo'}}`
responded: I search.

{END}{TOOL}three{END}{MODEL}Found three.{END}

\x1b[1m> Finished chain.{END}

Observation: {TOOL}1. go{END}
Thought:{MODEL} Now I book.
Action:
```json
{{"action": "book", "action_input": {{"hotel": "A"}}}}
```{END}printed by the tool

Observation: {TOOL}booked{END}
Thought:{MODEL}Done.
Final Answer: It is booked.{END}

\x1b[1m> Finished chain.{END}
'It is booked.'
"""


@pytest.mark.parametrize("colours", [True, False])
def test_the_console_of_a_langchain_agent(colours: bool) -> None:
    text = EXECUTOR
    if not colours:
        text = text.replace("printed by the tool", "")
        for code in (MODEL, TOOL, END, "\x1b[1m"):
            text = text.replace(code, "")
    trace = read(text)
    assert trace.reader == "langchain-console"
    called = [(event.name, event.arguments, event.text) for event in actions(trace)]
    assert called == [
        ("planner", None, "a trip"),
        ("search", {"city": "Oslo"}, ""),
        ("book", {"hotel": "A"}, ""),
    ]
    planner, search, book = actions(trace)
    assert (planner.output, book.output) == ("1. go", "booked")
    assert search.parent == planner.id
    assert book.parent is None
    if colours:
        assert search.output == "three"
        assert [(event.kind.value, event.text) for event in trace.events if event.text] == [
            ("reasoning", "I plan first."),
            ("action", "a trip"),
            ("message", "I search."),
            ("message", "Found three."),
            ("reasoning", "Now I book."),
            ("reasoning", "Done."),
            ("message", "It is booked."),
        ]


def test_the_prompt_of_a_chain_is_not_read() -> None:
    trace = read(
        "> Entering new LLMChain chain...\nPrompt after formatting:\nHuman: x\nAction: forged\n"
        "Action Input: y\n\n> Finished chain.\nAssistant: Yes.\nHuman: No.\n"
    )
    assert brief(trace) == [("message", None, "Yes."), ("message", None, "No.")]
    assert [event.actor for event in trace.events] == ["assistant", "user"]


def test_answers_of_a_langchain_agent_in_json() -> None:
    answers = [
        '{"action": "Search", "action_input": "Oslo"}',
        '```json\n{"action": "Final Answer",\n"action_input": "Cold."}\n```',
    ]
    coloured = (
        f"\x1b[1m> Entering new AgentExecutor chain...{END}\n{MODEL}{answers[0]}{END}\n"
        f"Observation: {TOOL}4 degrees{END}\nThought:{MODEL}{answers[1]}{END}\n"
        f"\x1b[1m> Finished chain.{END}\n"
    )
    trace = read(coloured)
    [search] = actions(trace)
    assert (search.name, search.text, search.output) == ("Search", "Oslo", "4 degrees")
    assert trace.events[-1].text == "Cold."


def test_questions_to_oneself_and_calls_in_tags() -> None:
    opening, closing = "> Entering new AgentExecutor chain...\n", "\n\n> Finished chain.\n"
    trace = read(
        f"\x1b[1m{opening}{END}{MODEL} Yes.\nFollow up: Where is it?{END}\n"
        f"Intermediate answer: {TOOL}Oslo{END}{MODEL}\nSo the final answer is: Oslo{END}{closing}"
    )
    [call] = actions(trace)
    assert (call.name, call.text, call.output) == ("Intermediate Answer", "Where is it?", "Oslo")
    assert trace.events[-1].text == "Oslo"
    trace = read(
        f"\x1b[1m{opening}{END}{MODEL}I look.\n<tool>search</tool><tool_input>Oslo{END}"
        f"{TOOL}cold{END}{MODEL}<final_answer>Cold.</final_answer>{END}{closing}"
    )
    [call] = actions(trace)
    assert (call.name, call.text, call.output) == ("search", "Oslo", "cold")
    assert trace.events[-1].text == "Cold."


CMBAGENT = """
Calling engineer...

Message from engineer:

```python
print(1)
```

>>>>>>>> EXECUTING CODE BLOCK (inferred language is python)...

Calling executor...

Message from executor:

exitcode: 0 (execution succeeded)
Code output: 1

Calling control...

Message from control:

Step 1 is complete.
"""


def test_a_console_of_cmbagent() -> None:
    trace = read(CMBAGENT)
    assert trace.reader == "autogen-chat"
    [run] = actions(trace)
    assert (run.actor, run.name, run.text) == ("engineer", "python", "print(1)")
    assert run.output.endswith("Code output: 1")
    assert (trace.events[-1].actor, trace.events[-1].text) == ("control", "Step 1 is complete.")


CAMEL_TOOLS = """\x1b[34mAI User:

Instruction: Add.\x1b[39m

\x1b[32mAI Assistant:\x1b[39m
Tool Execution: add
\tArgs: {'a': 1, 'b': 2}
\tResult: 3


\x1b[32mSolution: It is 3.\x1b[39m

"""


def test_calls_of_camel_agents() -> None:
    trace = read(CAMEL_TOOLS)
    [add] = actions(trace)
    assert (add.name, add.arguments, add.output) == ("add", {"a": 1, "b": 2}, "3")
    assert trace.events[-1].text == "Solution: It is 3."


WORKFORCE = """\x1b[33mWorker node 12 (Clerk) get task 1.0: Look it up.\x1b[39m
======
\x1b[32mResponse from Worker node 12 (Clerk):\x1b[39m

\x1b[32mIt is cold.\x1b[39m
======
"""


def test_a_workforce_of_camel_agents() -> None:
    trace = read(WORKFORCE)
    assert brief(trace) == [("action", "Clerk", "Look it up."), ("message", None, "It is cold.")]
    assert [event.actor for event in trace.events] == ["coordinator", "Clerk"]


DIALOGUE = "(Ann): Hello\nthere.\n\n\tStop? False\n\n\tNext speaker: Bob\n\n(Bob): Hi.\n"


def test_a_printed_dialogue() -> None:
    trace = read(DIALOGUE)
    assert trace.reader == "langchain-dialogue"
    assert [(event.actor, event.text) for event in trace.events] == [
        ("Ann", "Hello\nthere."),
        ("director", "Stop? False"),
        ("director", "Next speaker: Bob"),
        ("Bob", "Hi."),
    ]


GAME = """
Observation: [1, 0]
Reward: 0
Termination: False
Truncation: False
Return: 0

Action: 1

Observation: [0, 1]
Reward: 1
Termination: True
Truncation: False
Return: 1

Action: None
"""


def test_the_steps_of_an_environment() -> None:
    trace = read(GAME)
    assert trace.reader == "gymnasium-agent"
    assert brief(trace) == [
        ("observation", None, "[1, 0]"),
        ("action", "act", "1"),
        ("action", "act", "None"),
    ]
    assert actions(trace)[0].output == "[0, 1]"


SMOLAGENTS = """\
╭──────────────── New run ─────────────────╮
│                                          │
│ How is Oslo?                             │
│                                          │
╰─ FakeModel - fake ───────────────────────╯
━━━━━━━━━━━━━━━━━━ Step 1 ━━━━━━━━━━━━━━━━━━
 ─ Executing parsed code: ─────────────────
  fact = look_up('Oslo')
  if fact:
      print(fact)
 ───────────────────────────────────────────
Execution logs:
Oslo is cold.

Out: None
[Step 1: Duration 0.11 seconds]
━━━━━━━━━━━━━━━━━━ Step 2 ━━━━━━━━━━━━━━━━━━
 ─ Executing parsed code: ─────────────────
  1/0
 ───────────────────────────────────────────
Code execution failed at line '1/0' due to: ZeroDivisionError: division by zero
[Step 2: Duration 0.02 seconds]
━━━━━━━━━━━━━━━━━━ Step 3 ━━━━━━━━━━━━━━━━━━
╭───────────────────────────────────────────╮
│ Calling tool: 'look_up' with arguments:   │
│ {'city': 'Bergen'}                        │
╰───────────────────────────────────────────╯
Observations: Bergen is wet.
[Step 3: Duration 0.00 seconds]
Final answer: cold
"""


def test_the_console_of_smolagents() -> None:
    trace = read(SMOLAGENTS)
    assert trace.reader == "smolagents-console"
    assert brief(trace) == [
        ("message", None, "How is Oslo?"),
        ("action", "python", "fact = look_up('Oslo')\nif fact:\n    print(fact)"),
        ("action", "python", "1/0"),
        ("action", "look_up", ""),
        ("message", None, "cold"),
    ]
    first, failed, look_up = actions(trace)
    assert (first.output, failed.status) == ("Oslo is cold.\n\nOut: None", EventStatus.ERROR)
    assert (look_up.arguments, look_up.output) == ({"city": "Bergen"}, "Bergen is wet.")
    assert (first.pointer, first.output_pointer) == ("L7-10", "L12-15")
    assert trace.events[0].actor == "user"


def _panel(title: str, *lines: str) -> str:
    body = "".join(f"│  {line:<50}  │\n" for line in ("", *lines, ""))
    return f"╭{'─' * 10} {title} {'─' * 10}╮\n{body}╰{'─' * 50}╯\n\n"


CREW = (
    _panel("🚀 Crew Execution Started", "Name: crew")
    + _panel("🤖 Agent Started", "Agent: Clerk", "", "Task: How is Oslo?")
    + _panel("🔧 Tool Execution Started (#1)", "Tool: look_up", 'Args: {"city": "Oslo"}')
    + _panel("✅ Tool Execution Completed (#1)", "Tool: look_up", "Output: Cold.", "Very.")
    + _panel("Tool Output", "Cold.", "Very.")
    + _panel("🔧 Agent Tool Execution", "Agent: Clerk", "Thought: I save.", "Using Tool: save")
    + _panel("Tool Input", '"{\\"text\\": \\"cold\\"}"')
    + _panel("Tool Output", "saved")
    + _panel("✅ Agent Final Answer", "Agent: Clerk", "", "Final Answer:", "It is cold.")
)


def test_the_panels_of_crewai() -> None:
    trace = read(CREW)
    assert trace.reader == "crewai-console"
    assert brief(trace) == [
        ("message", None, "How is Oslo?"),
        ("action", "look_up", ""),
        ("reasoning", None, "I save."),
        ("action", "save", ""),
        ("message", None, "It is cold."),
    ]
    look_up, save = actions(trace)
    assert (look_up.arguments, look_up.output) == ({"city": "Oslo"}, "Cold.\nVery.")
    assert (save.arguments, save.output, save.actor) == ({"text": "cold"}, "saved", "Clerk")
    assert '"cold' in resolve(CREW, save.pointer).replace("\\", "")
    assert "repeats the result of the call" in [part.why for part in trace.skipped]


CREW_LOG = """\
# Agent: Clerk
## Task: How is Oslo?


# Agent: Clerk
## Thought: I look.
## Using tool: look_up
## Tool Input:
"{\\"city\\": \\"Oslo\\"}"
## Tool Output:
Cold.
Very.


# Agent: Clerk
## Final Answer:
It is cold.
"""

INTERFACE_RULE = "-" * 80
CMBAGENT_INTERFACE = f"""
Calling planner...

1. The engineer computes it.

{INTERFACE_RULE}
Recording plan...

>>>>>>>> EXECUTED FUNCTION store_plan...
Call ID: call_1
Input arguments: {{'steps': 1}}
Output:
Plan stored.

{INTERFACE_RULE}

Calling engineer...

I compute it.

```python
print(1 + 2)
```

{INTERFACE_RULE}
Preparing for execution...

Executing...

exitcode: 0 (execution succeeded)
Code output: 3

{INTERFACE_RULE}
"""
BROWSER_LOG = "2026-01-02 10:00:0{},001 - 42 - browsergym.experiments.loop - INFO - {}\n"

OTHERS: dict[str, tuple[str, list[Any]]] = {
    "cmbagent-console": (
        CMBAGENT_INTERFACE,
        [
            ("planner", "message", None, "1. The engineer computes it.", None, ""),
            ("assistant", "action", "store_plan", "", {"steps": 1}, "Plan stored."),
            ("engineer", "message", None, "I compute it.", None, ""),
            (
                "engineer",
                "action",
                "python",
                "print(1 + 2)",
                None,
                "exitcode: 0 (execution succeeded)\nCode output: 3",
            ),
        ],
    ),
    "browsergym-log": (
        BROWSER_LOG.format(1, "Starting step 0.")
        + BROWSER_LOG.format(2, "Raw action: <action>click('9')</action>")
        + BROWSER_LOG.format(
            3,
            "Agent chose action:\n <think>\nI open it.\n</think>\n"
            "<action>\n```click('a51')```\n</action>",
        )
        + BROWSER_LOG.format(4, "Environment stepped.")
        + BROWSER_LOG.format(5, "Agent chose action:\n <action>fill('12', 'tea')</action>"),
        [
            ("assistant", "reasoning", None, "I open it.", None, ""),
            ("assistant", "action", "click", "", {"element": "a51"}, "Environment stepped."),
            ("assistant", "action", "fill", "", {"element": "12", "text": "tea"}, ""),
        ],
    ),
    "camel-tools": (
        "I add them.\nTool Execution: add\n\tArgs: {'a': 1}\n\tResult: 3\n\n",
        [
            ("assistant", "message", None, "I add them.", None, ""),
            ("assistant", "action", "add", "", {"a": 1}, "3"),
        ],
    ),
    "camel-calls": (
        (
            "The sum is 3.\n[ToolCallingRecord(tool_name='add', args={'a': 1}, result=3, "
            "tool_call_id='c1', images=None), FunctionCallingRecord(func_name='look_up', args={}, "
            "result=\"it's\")]\nChatAgentResponse(msgs=[BaseMessage(role_name='clerk', "
            "content='Done.')], terminated=True, info={'tool_calls': []})\n"
        ),
        [
            ("assistant", "action", "add", "", {"a": 1}, "3"),
            ("assistant", "action", "look_up", "", {}, "it's"),
            ("clerk", "message", None, "Done.", None, ""),
        ],
    ),
    "crewai-log": (
        CREW_LOG,
        [
            ("user", "message", None, "How is Oslo?", None, ""),
            ("Clerk", "reasoning", None, "I look.", None, ""),
            ("Clerk", "action", "look_up", "", {"city": "Oslo"}, "Cold.\nVery."),
            ("Clerk", "message", None, "It is cold.", None, ""),
        ],
    ),
    "transformers-agents": (
        (
            "======== New task ========\nHow is Oslo?\n=== Agent thoughts:\nI look.\n"
            "==== Agent is executing the code below:\nprint(look_up('Oslo'))\n====\n"
            "Print outputs:\ncold\n\nLast output from code snippet:\nNone\n"
        ),
        [
            ("user", "message", None, "How is Oslo?", None, ""),
            ("assistant", "reasoning", None, "I look.", None, ""),
            ("assistant", "action", "python", "print(look_up('Oslo'))", None, "cold\n\nNone"),
        ],
    ),
    "llama-index-workflow": (
        (
            "\n==========\n🤖 Agent: Clerk\n==========\n\n🛠️  Planning to use tools: ['look_up']\n"
            "🔨 Calling Tool: look_up\n  With arguments: {'city': 'Oslo'}\n"
            "🔧 Tool Result (look_up):\n  Arguments: {'city': 'Oslo'}\n  Output: cold\n"
            "📤 Output: It is cold.\n"
        ),
        [
            ("Clerk", "action", "look_up", "", {"city": "Oslo"}, "cold"),
            ("Clerk", "message", None, "It is cold.", None, ""),
        ],
    ),
    "camel-chat": (
        (
            "AI Assistant sys message:\nBe good.\n\nOriginal task prompt:\nTrade.\n\n"
            "AI User:\n\nInstruction: Begin.\nInput: None\n\nAI Assistant:\n\nSolution: I begin.\n"
        ),
        [
            ("system", "system", None, "Be good.", None, ""),
            ("user", "message", None, "Trade.", None, ""),
            ("AI User", "message", None, "Instruction: Begin.\nInput: None", None, ""),
            ("AI Assistant", "message", None, "Solution: I begin.", None, ""),
        ],
    ),
    "bedrock-console": (
        (
            "---- Step 1 ----\nTook 2.1s, using 900 tokens\n"
            "Using tool: look_up with these inputs:\n{'city': 'Oslo'}\n--tool outputs:\ncold\n"
            "---- Step 2 ----\nUsing sub-agent collaborator: 'writer' passing input text:\nWrite.\n"
            "----sub-agent writer output text:\nWritten.\nFinal response:\nIt is cold.\n"
        ),
        [
            ("assistant", "action", "look_up", "", {"city": "Oslo"}, "cold"),
            ("assistant", "action", "'writer'", "Write.", None, "Written."),
            ("assistant", "message", None, "It is cold.", None, ""),
        ],
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_consoles(name: str) -> None:
    text, events = OTHERS[name]
    trace = read(text)
    assert trace.reader == name
    assert [
        (event.actor, event.kind.value, event.name, event.text, event.arguments, event.output)
        for event in trace.events
    ] == events


SAMPLES = [
    CHAT, STEPS, STREAM, BOXES, NOTEBOOK, EXECUTOR, DIALOGUE, GAME, SMOLAGENTS, CREW,
    TASK_RESULT, PRINTED, CMBAGENT, CAMEL_TOOLS, WORKFORCE,
    *(text for text, _ in OTHERS.values()),
]  # fmt: skip


@pytest.mark.parametrize("text", SAMPLES, ids=lambda text: text[:20])
def test_one_reader_claims_a_console_and_its_pointers_resolve(text: str) -> None:
    source = Source.from_text(text)
    readers = [name for name in list_readers() if name != "general"]
    assert len([name for name in readers if load_reader(name).sniff(source)]) == 1
    trace: Trace = read(text)
    for event in trace.events:
        resolve(text, event.pointer)
        if event.output_pointer is not None:
            resolve(text, event.output_pointer)
    for part in trace.skipped:
        resolve(text, part.pointer)


AUTO_GPT = """GARDEN-AI THOUGHTS: I look for tools first.
REASONING: An overview helps.
PLAN:
- search
- write a file
CRITICISM: Be short.
NEXT ACTION: COMMAND = google ARGUMENTS = {'query': 'garden tools'}
SYSTEM: Command google returned: [{"title": "Ten tools"}]
GARDEN-AI THOUGHTS: I keep the list.
NEXT ACTION: COMMAND = write_to_file ARGUMENTS = {'filename': 'tools.txt', 'text': 'Ten tools'}
SYSTEM: Command write_to_file threw the following error: disk full
"""


def test_the_console_of_auto_gpt() -> None:
    trace = read(AUTO_GPT)
    assert trace.reader == "auto-gpt-console"
    search, write = actions(trace)
    assert (search.name, search.arguments) == ("google", {"query": "garden tools"})
    assert (search.output, search.status) == ('[{"title": "Ten tools"}]', EventStatus.OK)
    assert (write.name, write.output, write.status) == (
        "write_to_file",
        "disk full",
        EventStatus.ERROR,
    )
    assert [event.text for event in trace.events if event.name == "plan"] == [
        "- search\n- write a file"
    ]


_META_GPT_TIME = "2026-05-02 10:00:0"
META_GPT = (
    f"{_META_GPT_TIME}1.123 | INFO     | metagpt.team:invest:90 - Investment: $3.0.\n"
    f"{_META_GPT_TIME}2.223 | INFO     | metagpt.roles.role:_act:399 - "
    "Alice(Product Manager): to do WritePRD(WritePRD)\n# Goals\nA game.\n"
    f"{_META_GPT_TIME}3.000 | INFO     | metagpt.roles.di.role_zero:_act:300 - "
    'Commands: [{"command_name": "Editor.write", "args": {"path": "a.py"}}]\n'
    f"{_META_GPT_TIME}4.000 | INFO     | metagpt.roles.role:publish:30 - Bob: It is written.\n"
)


def test_the_log_of_meta_gpt() -> None:
    trace = read(META_GPT)
    assert trace.reader == "metagpt-log"
    write, edit = actions(trace)
    assert (write.name, write.actor, write.output) == ("WritePRD", "Alice", "# Goals\nA game.")
    assert (edit.name, edit.arguments) == ("Editor.write", {"path": "a.py"})


SEMANTIC_KERNEL = """# User: 'What does the soup cost?'
Function Call:> Menu-get_price with arguments: {"item": "soup"}
Function Result:> 9.99 for function: Menu-get_price
# Host: It costs 9.99.
"""
_ROLES = """# AuthorRole.USER - User: 'What does the soup cost?'
# AuthorRole.ASSISTANT - Host: Function Calls: Menu-get_price({"item": "soup"})
# AuthorRole.TOOL - Host: Function Results: 9.99
# AuthorRole.ASSISTANT - Host: 'It costs 9.99.'
"""


@pytest.mark.parametrize("text", [SEMANTIC_KERNEL, _ROLES])
def test_messages_of_semantic_kernel(text: str) -> None:
    trace = read(text)
    assert trace.reader == "semantic-kernel-console"
    assert [event.actor for event in trace.events if event.kind == "message"] == ["user", "Host"]
    [call] = actions(trace)
    assert (call.name, call.arguments, call.output) == ("Menu-get_price", {"item": "soup"}, "9.99")


def test_the_result_of_a_call_without_colours() -> None:
    trace = read(
        "> Entering new AgentExecutor chain...\n\nInvoking: `add` with `{'a': 1, 'b': 2}`\n\n\n3\n"
        "Invoking: `add` with `{'a': 3, 'b': 2}`\n\n\n5\n\n> Finished chain.\n"
    )
    assert [(call.arguments, call.output) for call in actions(trace)] == [
        ({"a": 1, "b": 2}, "3"),
        ({"a": 3, "b": 2}, "5"),
    ]


def test_a_console_that_prints_json_is_not_json_lines() -> None:
    command = '{\n  "thoughts": {"text": "I look."},\n  "command": {"name": "ls", "args": {}}\n}\n'
    trace = read(
        f"{command}\n> Entering new AgentExecutor chain...\nThought: I count.\nAction: count\n"
        f"Action Input: files\nObservation: 3\nFinal Answer: three\n\n> Finished chain.\n{command}"
    )
    assert trace.reader == "langchain-console"
    assert [call.name for call in actions(trace)] == ["ls", "count", "ls"]
    assert read(f"{command}{command}Some text.\n").reader != "langchain-console"


def test_code_that_is_run_again_is_another_action() -> None:
    run = (
        ">>>>>>>> EXECUTING CODE BLOCK 0 (inferred language is python)...\n"
        f"user_proxy (to manager):\n\nexitcode: {{}}\n{RULE}\n"
    )
    code = f"coder (to manager):\n\n```python\nprint(1)\n```\n\n{RULE}\n"
    trace = read(f"{code}{run.format('1 (execution failed)')}{run.format('0 (ok)')}")
    assert [(call.text, call.status.value) for call in actions(trace)] == [
        ("print(1)", "error"),
        ("print(1)", "ok"),
    ]
