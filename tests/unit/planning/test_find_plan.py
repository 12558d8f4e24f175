"""Finding the plan that was declared in a trace."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.core.plan import Origin
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_search import DeclarationKind, Declarer, PlanSearch, SearchedCounts

_LIST = "1. Read the file\n2. Fix the bug\n3. Run the tests"
_STEPS = ["Read the file", "Fix the bug", "Run the tests"]


def _trace(*events: dict[str, Any]) -> Trace:
    made: list[Event] = []
    for number, event in enumerate(events, 1):
        fields: dict[str, Any] = {"turn": number, **event}
        made.append(Event(id=f"e{number}", pointer=f"/{number - 1}", **fields))
    return Trace(tuple(made))


def _find_plan(*events: dict[str, Any]) -> PlanSearch:
    return find_declared_plan(_trace(*events))


def _user(text: str) -> dict[str, Any]:
    return {"kind": Kind.MESSAGE, "actor": "user", "text": text}


def _says(text: str, actor: str = "assistant") -> dict[str, Any]:
    return {"kind": Kind.MESSAGE, "actor": actor, "text": text}


def _calls(name: str, **arguments: Any) -> dict[str, Any]:
    return {"kind": Kind.ACTION, "actor": "assistant", "name": name, "arguments": arguments}


def _todos(*texts: str, **more: Any) -> dict[str, Any]:
    todos = [{"content": text, "status": "pending"} for text in texts]
    return {
        "kind": Kind.BOOKKEEPING,
        "name": "TodoWrite",
        "arguments": {"todos": todos},
        **more,
    }


def _exit_plan(plan: str, output: str = "", status: EventStatus = EventStatus.OK) -> dict[str, Any]:
    return {
        "kind": Kind.BOOKKEEPING,
        "name": "ExitPlanMode",
        "arguments": {"plan": plan},
        "output": output,
        "status": status,
    }


def _steps(located: PlanSearch) -> list[str]:
    assert located.plan is not None
    return [step.text for step in located.plan.steps]


ACTS = _calls("read_file", path="a.py")
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("event", "sort", "by"),
    [
        (_todos(*_STEPS), DeclarationKind.TODO_LIST, Declarer.AGENT),
        (
            {
                "kind": Kind.BOOKKEEPING,
                "name": "update_plan",
                "arguments": {"plan": [{"step": text, "status": "pending"} for text in _STEPS]},
            },
            DeclarationKind.TODO_LIST,
            Declarer.AGENT,
        ),
        (
            {
                "kind": Kind.BOOKKEEPING,
                "name": "manage_todo_list",
                "arguments": {
                    "operation": "write",
                    "todoList": [{"id": n, "title": t} for n, t in enumerate(_STEPS, 1)],
                },
            },
            DeclarationKind.TODO_LIST,
            Declarer.AGENT,
        ),
        (
            _calls("create_task_plan", goal="x", steps=_STEPS),
            DeclarationKind.TODO_LIST,
            Declarer.AGENT,
        ),
        (_exit_plan(f"## Plan\n{_LIST}"), DeclarationKind.PLAN_MODE, Declarer.AGENT),
        (
            {"kind": Kind.BOOKKEEPING, "name": "plan", "text": f"{_LIST}\n<end_plan>"},
            DeclarationKind.PLANNING_STEP,
            Declarer.AGENT,
        ),
        (
            {
                "kind": Kind.BOOKKEEPING,
                "name": "plan",
                "actor": "Orchestrator",
                "text": "Facts:\n- The bug is known.\n\nHere is the plan to follow as best as "
                f"possible:\n\n{_LIST}\n\nThis plan is short.",
            },
            DeclarationKind.PLANNING_STEP,
            Declarer.PLANNER,
        ),
        (
            _says(
                '{"title": "Fix", "thought": "...", "steps": [{"title": "Read the file"}, '
                '{"title": "Fix the bug"}, {"title": "Run the tests"}]}',
                "planner",
            ),
            DeclarationKind.JSON_PLAN,
            Declarer.PLANNER,
        ),
        (
            _says(f"Here is my plan:\n\n{_LIST}\n\nLet me begin."),
            DeclarationKind.ANNOUNCED_LIST,
            Declarer.AGENT,
        ),
        (
            _says(f"To do this, we need to follow a series of steps:\n\n{_LIST}"),
            DeclarationKind.ANNOUNCED_LIST,
            Declarer.AGENT,
        ),
        (
            _says(f"I will try an alternative approach:\n\n{_LIST}"),
            DeclarationKind.ANNOUNCED_LIST,
            Declarer.AGENT,
        ),
        (
            {"kind": Kind.REASONING, "actor": "assistant", "text": _LIST},
            DeclarationKind.ANNOUNCED_LIST,
            Declarer.AGENT,
        ),
        (
            _says("1. [ ] Read the file\n2. [ ] Fix the bug\n3. [ ] Run the tests"),
            DeclarationKind.CHECKLIST,
            Declarer.AGENT,
        ),
        (
            _says(
                "You are given a task and a plan from your manager.\n\n## Plan for solving the "
                f"task\n{_LIST}\n\n## Output format\n- a patch",
                "Code_Expert",
            ),
            DeclarationKind.ANNOUNCED_LIST,
            Declarer.PLANNER,
        ),
        (
            {"kind": Kind.SYSTEM, "text": f"You fix bugs. Follow these steps:\n{_LIST}"},
            DeclarationKind.PRESCRIBED_STEPS,
            Declarer.SCAFFOLD,
        ),
        (
            _user(f"<issue>\nIt fails.\n</issue>\nFollow these steps to resolve it:\n{_LIST}"),
            DeclarationKind.PRESCRIBED_STEPS,
            Declarer.SCAFFOLD,
        ),
        (
            _user(
                f"Advice from your manager.\n\n## Plan for solving the task\n{_LIST}\n\n## Notes"
            ),
            DeclarationKind.PRESCRIBED_STEPS,
            Declarer.PLANNER,
        ),
        (_user(_LIST), DeclarationKind.REQUESTED_STEPS, Declarer.USER),
        (
            _user("Read the file and then fix the bug. Finally, run the tests."),
            DeclarationKind.REQUESTED_STEPS,
            Declarer.USER,
        ),
    ],
)
def test_every_sort_of_declaration_is_found(
    event: dict[str, Any], sort: DeclarationKind, by: Declarer
) -> None:
    located = _find_plan(_user("It fails."), event, ACTS)
    assert located.declaration is not None
    assert _steps(located) == _STEPS
    assert located.declaration.sort is sort
    assert located.declaration.declared_by is by
    assert located.declaration.before_acting
    assert (located.declaration.event, located.declaration.pointer) == ("e2", "/1")
    assert located.declaration.plan.origin is Origin.DECLARED


@pytest.mark.parametrize(
    "text",
    [
        "Please provide the following details:\n1. Your name\n2. Your order number",
        "Here are your options:\n1. Cancel the order\n2. Return the items",
        "You can follow these steps to reset it:\n1. Open the settings\n2. Press reset",
        "These are the steps I have taken:\n1. Read the file\n2. Fixed the bug",
        "The facts:\n1. The dog genome was mapped in 2004.\n2. It was updated.",
        "I can speak to our approach:\n1. Safety: it comes first.\n2. Values: they are written.",
        "Let me look at both files:\n1. `a.py` defines the levels.\n2. `b.py` has the bug.",
        "We will need the following:\n1. Two eggs\n2. Flour\n3. A bowl",
        "It works now.",
    ],
)
def test_no_plan_is_made_of_other_lists(text: str) -> None:
    assert _find_plan(_user("Help me."), _says(text), ACTS).declaration is None


@pytest.mark.parametrize(
    "text",
    [
        "Rules:\n1. Never delete files\n2. Always ask first",
        "If the build fails, follow these steps:\n1. Clean the folder\n2. Build again",
        "What is the capital of France?",
        "Hi, I want to cancel my order and then get a refund.",
    ],
)
def test_no_plan_is_made_of_other_requests(text: str) -> None:
    assert _find_plan(_user(text), ACTS).declaration is None


def test_nothing_found_says_what_was_looked_at() -> None:
    located = _find_plan(_user("Fix it."), _says("I fix it."), ACTS, ACTS)
    assert located.plan is None
    assert located.searched == SearchedCounts(prompts=1, messages=1, notes=0, calls=2)


def test_a_plan_after_acting_is_said_to_be_late() -> None:
    located = _find_plan(_user("Fix it."), ACTS, _todos(*_STEPS))
    assert located.declaration is not None
    assert not located.declaration.before_acting


def test_a_list_noted_together_with_the_first_call_is_not_late() -> None:
    together = {"turn": 2}
    located = _find_plan(_user("Fix it."), {**ACTS, **together}, {**_todos(*_STEPS), **together})
    assert located.declaration is not None
    assert located.declaration.before_acting


def test_handing_over_to_a_planner_is_not_acting() -> None:
    plan = _says('{"steps": [{"title": "A"}, {"title": "B"}]}', "planner")
    located = _find_plan(_user("Fix it."), _calls("handoff_to_planner", task="Fix it"), plan, ACTS)
    assert located.declaration is not None
    assert located.declaration.before_acting


def test_the_agents_own_plan_goes_before_the_scaffolds_and_the_users() -> None:
    scaffold = {"kind": Kind.SYSTEM, "text": "Follow these steps:\n1. Look around\n2. Report"}
    user = _user("1. Open the door\n2. Close the door")
    assert _steps(_find_plan(scaffold, user, _todos(*_STEPS), ACTS)) == _STEPS
    assert _steps(_find_plan(user, scaffold, ACTS)) == ["Look around", "Report"]
    assert _steps(_find_plan(scaffold, user, ACTS, _todos(*_STEPS))) == ["Look around", "Report"]
    assert _steps(_find_plan(user, ACTS, _todos(*_STEPS))) == _STEPS


def test_the_list_of_a_sub_agent_is_not_the_plan_of_the_run() -> None:
    located = _find_plan(
        _user("Fix it."),
        _calls("Task", prompt="look"),
        _todos("Look here", "Look there", parent="e2"),
    )
    assert located.declaration is None


def test_replans_say_what_was_added_dropped_and_renamed() -> None:
    located = _find_plan(
        _todos(*_STEPS),
        ACTS,
        _todos(*_STEPS),
        _todos("Read the file", "Fix the bug in a.py", "Write a note"),
    )
    assert _steps(located) == _STEPS
    (replan,) = located.replans
    assert replan.event == "e4"
    assert replan.added == ("Write a note",)
    assert replan.dropped == ("Run the tests",)
    assert replan.renamed == (("Fix the bug", "Fix the bug in a.py"),)


def test_a_list_that_goes_on_from_a_later_number_drops_none_of_the_earlier() -> None:
    def noted(text: str) -> dict[str, Any]:
        return {"kind": Kind.BOOKKEEPING, "name": "plan", "text": text}

    located = _find_plan(
        noted("1. [ ] Read the file\n2. [ ] Fix the bug\n3. [ ] Run the tests"),
        ACTS,
        noted("2. [✓] Fix the bug (done)\n3. [ ] Run the tests"),
        noted("3. [ ] Run the tests\n4. [ ] Write a note"),
    )
    assert _steps(located) == _STEPS
    (replan,) = located.replans
    assert (replan.event, replan.added, replan.dropped) == ("e4", ("Write a note",), ())


def test_tasks_created_one_by_one_are_one_plan() -> None:
    created = [
        {"kind": Kind.BOOKKEEPING, "name": "TaskCreate", "arguments": {"subject": text}}
        for text in _STEPS
    ]
    located = _find_plan(_user("Fix it."), *created, ACTS)
    assert _steps(located) == _STEPS
    assert located.replans == ()


def test_a_rejected_plan_is_not_in_force() -> None:
    located = _find_plan(
        _user("1. Fix it\n2. Ship it"), _exit_plan(_LIST, REFUSAL, EventStatus.ERROR)
    )
    assert located.declaration is None
    (rejection,) = located.rejected
    assert rejection.rejected_at == "e2"
    assert [step.text for step in rejection.declaration.plan.steps] == _STEPS


def test_a_plan_that_was_interrupted_gives_way_to_the_next() -> None:
    located = _find_plan(
        _todos("Delete everything", "Leave"),
        _user("[Request interrupted by user for tool use]"),
        _todos(*_STEPS),
        ACTS,
    )
    assert _steps(located) == _STEPS
    assert [rejection.rejected_at for rejection in located.rejected] == ["e2"]


def test_what_is_indented_under_an_item_belongs_to_it() -> None:
    text = "Here is the plan:\n\n1. **Look**:\n   - in a.py\n   - in b.py\n\n2. **Report**\n\nDone."
    located = _find_plan(_says(text), ACTS)
    assert _steps(located) == ["**Look**:\n   - in a.py\n   - in b.py", "**Report**"]


def test_printed_numbers_are_kept() -> None:
    located = _find_plan(_says("0. [ ] Look\n1. [→] Write\n2. [ ] Check"), ACTS)
    assert located.plan is not None
    assert [step.number for step in located.plan.steps] == ["0", "1", "2"]
