"""Writing spans into a transcript: what agents, models and tools did in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, time_of, written
from planproof.core.trace import Kind
from planproof.readers.toolkit.code_agent import facts_and_plan, thought_and_code
from planproof.readers.toolkit.nested_messages import Spoken
from planproof.readers.toolkit.span import Span
from planproof.readers.toolkit.span_dialect import Dialect
from planproof.readers.toolkit.span_scope import Hearing, Scope
from planproof.readers.toolkit.tool_calls import arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Transcript

TASK = "planproof.task"
PLAN = "planproof.plan"
"""Attributes by which any span may say what was asked, and what the plan is."""
_AGENT = "assistant"
# Longer code is no agent's, and would be searched through for each of its calls.
_LONGEST_CODE = 100_000
_NO_KINDS: Mapping[int, Kind] = {}


class SpanReading:
    """Reads spans in the order in which they began, parents first.

    `kinds` says of which model calls (by the `id()` of their span) the answers are notes.
    """

    def __init__(
        self,
        transcript: Transcript,
        dialects: Iterable[Dialect],
        kinds: Mapping[int, Kind] = _NO_KINDS,
    ) -> None:
        self._transcript = transcript
        self._dialects = tuple(dialects)
        self._kinds = dict(kinds)
        self._hearing = Hearing(transcript)
        self._scopes: dict[int, Scope] = {}
        self._drafts: dict[int, Draft] = {}
        self._answered: set[int] = set()

    def read(self, spans: Iterable[Span]) -> None:
        """Write all of them."""
        for span in spans:
            self._take(span)
        self._transcript.parent = None

    def _take(self, span: Span) -> None:
        above = span.parent
        if above is not None:
            span.agent = above if above.sort == "agent" else above.agent
            span.model = above if above.sort in ("model", "plan") else above.model
            span.around = self._drafts.get(id(above)) or above.around
        if TASK in span.attributes or PLAN in span.attributes:
            self._declared(span)
        for dialect in self._dialects:
            sort = dialect.sort_of(span)
            if sort is not None:
                break
        else:
            return
        span.sort = sort
        if not sort:
            return
        self._transcript.time = time_of(span.start)
        self._transcript.parent = span.around
        if sort == "tool":
            self._tool(span, dialect, self._scope(span.agent))
        elif sort == "model":
            self._model(span, dialect, self._scope(span.agent))
        elif sort == "agent":
            self._agent(span, dialect)
        elif sort == "plan":
            self._plan(span, dialect)

    def _declared(self, span: Span) -> None:
        """Take the task and the plan that attributes tell, whatever else the span is."""
        self._transcript.time = time_of(span.start)
        self._transcript.parent = span.around
        task, plan = span.attributes.get(TASK), span.attributes.get(PLAN)
        if isinstance(task, str) and task.strip():
            self._transcript.begin_turn()
            self._transcript.say(Kind.MESSAGE, task.strip(), span.pointer_to(TASK), "user")
        if is_list(plan):
            plan = "\n".join(f"{n}. {step}" for n, step in enumerate(map(written, plan), 1))
        if isinstance(plan, str) and plan.strip():
            self._transcript.begin_turn()
            told = [Spoken("text", "agent", plan, span.pointer_to(PLAN))]
            self._note(told, Kind.BOOKKEEPING, _AGENT)

    def _scope(self, agent: Span | None) -> Scope:
        return self._scopes.setdefault(id(agent), Scope())

    def _tool(self, span: Span, dialect: Dialect, scope: Scope) -> None:
        name = text_at(span.attributes, *dialect.tool_names) or span.name or "tool"
        name = name.removeprefix("execute_tool ")
        given = span.key_of(dialect.inputs)
        arguments, text = arguments_of(span.attributes[given] if given is not None else None)
        arguments = _unwrapped(arguments)
        outer = span.around
        if outer is not None and span.parent is not None and span.parent.sort == "tool":
            if outer.name == name and (arguments is None or arguments == outer.arguments):
                # The same call once more, as the client of the tool's server saw it.
                if outer.output_pointer is None:
                    span.answers(outer, dialect.outputs)
                return
        elif outer is not None and _is_in_code(outer, name, arguments):
            return
        scope.acted = True
        call_id = text_at(span.attributes, *dialect.call_ids)
        draft = scope.asked_for(name, call_id)
        if draft is None:
            draft = Draft(Kind.ACTION, span.place, name, self._actor(span.agent, dialect))
            draft.turn = self._turn_without_asking(span, scope)
            scope.recent.append(self._transcript.add(draft))
        if arguments or text or not (draft.arguments or draft.text):
            draft.pointer, draft.arguments, draft.text = span.place_of(given), arguments, text
        span.answers(draft, dialect.outputs)
        if call_id and draft.output_pointer is not None:
            scope.unanswered.pop(call_id, None)
        self._drafts[id(span)] = draft

    def _turn_without_asking(self, span: Span, scope: Scope) -> int:
        around_agent = span.agent.around if span.agent is not None else None
        if span.around is not None and span.around is not around_agent:
            return span.around.turn
        if not scope.asked:
            self._begin_turn(scope)
        return scope.turn

    def _begin_turn(self, scope: Scope) -> None:
        self._transcript.begin_turn()
        scope.begin(self._transcript.turn)

    def _model(self, span: Span, dialect: Dialect, scope: Scope) -> None:
        if span.model is not None and id(span.model) in self._answered:
            return  # the same answer, as another layer of the client saw it
        step = dialect.step_of(span)
        self._hearing.hear(dialect.prompt(span), scope, span, is_scaffold=step is not None)
        said = list(dialect.answer(span))
        if not said:
            return
        self._answered.add(id(span))
        scope.acted = True
        self._begin_turn(scope)
        actor = self._actor(span.agent, dialect)
        kind = self._kinds.get(id(span)) or self._kinds.get(id(span.parent))
        if kind is not None:
            self._note(said, kind, actor)
            return
        calls = [piece for piece in said if piece.call is not None]
        for piece in said:
            if piece.call is not None:
                draft = self._transcript.call(piece.call, piece.pointer, actor)
                scope.ask(draft, piece.call.id)
                if step is not None and len(calls) == 1:
                    step.answers(draft, dialect.outputs)
            elif piece.sort == "thought" or calls:
                self._transcript.say(Kind.REASONING, piece.text.strip(), piece.pointer, actor)
            elif piece.sort == "text" and not self._code(piece, step, dialect, scope, actor):
                # What is followed by more work inside the same span was not the answer.
                is_last = span.parent is None or span.parent.last is span
                is_thought = not is_last or piece.text.lstrip().startswith("Thought:")
                kind = Kind.REASONING if is_thought else Kind.MESSAGE
                scope.said = self._transcript.say(kind, piece.text.strip(), piece.pointer, actor)

    def _code(
        self, piece: Spoken, step: Span | None, dialect: Dialect, scope: Scope, actor: str
    ) -> bool:
        found = thought_and_code(piece.text)
        if found is None:
            return False
        thought, code = found
        self._transcript.say(Kind.REASONING, thought, piece.pointer, actor)
        draft = self._transcript.add(Draft(Kind.ACTION, piece.pointer, "python", actor, code))
        scope.recent.append(draft)
        if step is not None:
            self._drafts[id(step)] = draft
            step.answers(draft, dialect.outputs)
        return True

    def _plan(self, span: Span, dialect: Dialect) -> None:
        said = list(dialect.answer(span))
        if any(piece.sort == "text" for piece in said):
            self._answered.add(id(span))
            self._begin_turn(self._scope(span.agent))
            self._note(said, Kind.BOOKKEEPING, self._actor(span.agent, dialect))
        else:
            self._kinds[id(span)] = Kind.BOOKKEEPING  # the model call inside it tells the plan

    def _note(self, said: list[Spoken], kind: Kind, actor: str) -> None:
        for piece in said:
            facts, text = "", piece.text.strip()
            if kind is Kind.BOOKKEEPING and piece.sort == "text":
                facts, text = facts_and_plan(text)
                self._transcript.say(Kind.REASONING, facts, piece.pointer, actor)
            draft = self._transcript.say(kind, text, piece.pointer, actor)
            if draft is not None and kind is Kind.BOOKKEEPING:
                draft.name = "plan"

    def _agent(self, span: Span, dialect: Dialect) -> None:
        if span.agent is not None:
            if span.around is None or span.around is span.agent.around:
                self._called(span, dialect, self._scope(span.agent))
        elif span.around is None:
            inside = self._scope(span)
            task = dialect.task(span)
            if task is not None:
                self._hearing.tell(task, inside)
            if span.last is None:
                self._model(span, dialect, inside)

    def _called(self, span: Span, dialect: Dialect, scope: Scope) -> None:
        """Find the call by which one agent gave the word to another."""
        name = text_at(span.attributes, *dialect.agent_names) or span.name.removesuffix(".run")
        draft = scope.calling(name)
        if draft is None and scope.acted:
            self._begin_turn(scope)
            draft = Draft(Kind.ACTION, span.place, name, self._actor(span.agent, dialect))
            self._transcript.add(draft)
        if draft is not None:
            self._drafts[id(span)] = draft
            if draft.output_pointer is None:
                span.answers(draft, dialect.outputs)

    def _actor(self, agent: Span | None, dialect: Dialect) -> str:
        return (agent and text_at(agent.attributes, *dialect.agent_names)) or _AGENT


def _is_in_code(code: Draft, name: str, arguments: Json) -> bool:
    """Whether the code around it says just this call: then it is told already."""
    if code.name != "python" or len(code.text) > _LONGEST_CODE or f"{name}(" not in code.text:
        return False
    given = list(arguments.values()) if is_object(arguments) else []
    if is_list(given[0] if given else None):
        given = [*given[0], *given[1:]]
    return all(isinstance(value, str) and value in code.text for value in given)


def _unwrapped(arguments: Json) -> Json:
    if is_object(arguments) and is_object(arguments.get("kwargs")):
        if not arguments.get("args"):
            return arguments["kwargs"]
        return {"args": arguments["args"], **arguments["kwargs"]}
    return arguments
