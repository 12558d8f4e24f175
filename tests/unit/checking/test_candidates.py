"""The agent's own events, ready to be compared."""

from __future__ import annotations

from planproof.checking.candidates import build_candidates
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary
from tests.replacement import replace
from tests.unit.checking.alignment_cases import call, make_candidates, says, thinks


def test_users_and_systems_are_left_out() -> None:
    system = replace(says("Be brief."), kind=Kind.SYSTEM)
    found = make_candidates(says("Hello", actor="user"), system, call("read_file"))
    assert [(unit.position, unit.event.name) for unit in found] == [(2, "read_file")]


def test_words_alone_are_said() -> None:
    assert [unit.is_text_only for unit in make_candidates(says("Hi"), thinks("So"), call("x"))] == [
        True,
        True,
        False,
    ]


def test_a_unit_has_the_words_of_its_call_and_of_its_tool() -> None:
    (unit,) = make_candidates(call("read_file", path="notes.txt", output="Dear Ann"))
    assert {"read", "file", "path", "note"} <= unit.terms
    assert "ann" not in unit.terms
    assert {"dear", "ann"} <= unit.output_terms
    assert unit.call_text == "read_file path: notes.txt"
    assert unit.output_text == "dear ann"


def test_of_a_long_call_only_the_beginning_is_read_its_name_included() -> None:
    before = len("do_it code: ")
    (whole,) = make_candidates(call("do_it", code="-" * (20_000 - before - len("zebra")) + "zebra"))
    assert "zebra" in whole.terms
    (cut,) = make_candidates(call("do_it", code="-" * (20_001 - before - len("zebra")) + "zebra"))
    assert "zebra" not in cut.terms


def test_texts_are_folded_once() -> None:
    (unit,) = make_candidates(call("read_file", path="A", output="B  C"))
    assert unit.call_text is unit.call_text
    assert unit.output_text is unit.output_text


def test_a_command_adds_what_it_is_known_to_do() -> None:
    (unit,) = make_candidates(call("bash", command="rm a"))
    assert "delet" in unit.terms
    assert "remove" in unit.action_types


def test_words_add_no_commands() -> None:
    assert "remove" not in make_candidates(says("rm a"))[0].action_types


def test_who_did_it_is_among_the_words() -> None:
    coder, nobody = make_candidates(says("x", actor="Coder"), says("x", actor="agent"))
    assert "coder" in coder.terms
    assert "agent" not in nobody.terms


def test_like_events_share_one_signature() -> None:
    one, two, other = make_candidates(
        call("read", path="a"), call("read", path="b"), call("write", path="a")
    )
    assert one.signature is two.signature
    assert one.signature is not other.signature


def test_messages_that_ask_have_another_signature() -> None:
    asks, tells = make_candidates(says("Which one?"), says("That one."))
    assert "ask" in asks.action_types
    assert "ask" not in tells.action_types


def test_a_closing_call_is_known_by_its_name() -> None:
    events = (call("submit"), call("wave_goodbye"))
    declared = Vocabulary().with_declared(closing=frozenset({"wave_goodbye"}))
    assert [unit.is_closing for unit in make_candidates(*events)] == [True, False]
    assert [unit.is_closing for unit in build_candidates(Trace(events), declared)] == [True, True]


def test_a_long_message_is_read_by_passages() -> None:
    paragraphs = [f"{word} " * 40 for word in ("alpha", "beta", "gamma", "delta")]
    found = make_candidates(says("\n".join(paragraphs)))
    assert len(found) == 4
    assert {unit.position for unit in found} == {0}
    assert "alpha" in found[0].terms
    assert "alpha" not in found[-1].terms


def test_passages_are_no_more_than_a_dozen_and_none_is_empty() -> None:
    assert len(make_candidates(says("\n".join("word " * 60 for _ in range(40))))) == 12
    assert len(make_candidates(says(" " * 700 + "\n" + "word " * 80))) == 1
