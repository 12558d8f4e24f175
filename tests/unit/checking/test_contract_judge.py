"""What a contract means for a run: status of steps, values, order, extras, constraints."""

from __future__ import annotations

import pytest

from planproof import Verdict, evaluate
from planproof.contracts.contract_file import parse_contract
from planproof.core.content import Json
from planproof.core.contract import Contract, Truth
from planproof.core.verdict import Outcome
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.trace_builders import Event, did, failed, nest_under, noted, said, thought, trace


def read(text: str) -> Contract:
    return parse_contract(f"planproof: contract/1\n{text}", "test.yaml")


def check(contract: str | Contract, *events: Event | tuple[Event, ...], **options: Json) -> Verdict:
    """The verdict, which must also hold when it is verified without the alignment."""
    known = read(contract) if isinstance(contract, str) else contract
    verdict = evaluate(trace=trace(*events), contract=known, **options)
    source, variables = Source.from_value(trace(*events)), options.get("variables")
    assert verify(verdict.full(), source, contract=known, variables=variables) == ()
    return verdict


def statuses(verdict: Verdict) -> list[str]:
    return [step.status.value for step in verdict.steps]


def extras(verdict: Verdict) -> list[tuple[str, str]]:
    return [(extra.event, extra.severity.value) for extra in verdict.extras]


FLIGHT = """
steps:
  - number: "1"
    text: See what flights there are from Lisbon to Berlin on 12 March
    call: search_flights
    where:
      origin: {any_of: [LIS, Lisbon], for: Lisbon}
      destination: {any_of: [BER, Berlin], for: Berlin}
      depart: {date: "--03-12", for: 12 March}
  - number: "2"
    text: Pay for the flight with the company card
    call: pay
    where:
      flight_id: {from_step: "1"}
      card: {any_of: [corporate, company], not: [personal], for: company card}
  - number: "3"
    text: Tell the traveller that it is booked
    message: {says: [[booked, reserved]]}
"""
SEARCH = did(
    "search_flights", '[{"id": "TP-534"}]', origin="LIS", destination="Berlin", depart="2026-03-12"
)
PAY = did("pay", "paid", flight_id="TP-534", card="company card")
TELL = said("Your flight is booked.")


def test_a_run_that_meets_every_requirement_is_perfect() -> None:
    verdict = check(FLIGHT, SEARCH, PAY, TELL)
    assert (verdict.outcome, verdict.score) == (Outcome.SCORED, 1.0)
    assert [step.covers for step in verdict.steps] == [("e1",), ("e2",), ("e3",)]
    assert verdict.contract is not None
    assert verdict.contract.digest.startswith("sha256:")


def test_a_wrong_value_is_partial_and_the_note_has_both_values() -> None:
    wrong = did("pay", "paid", flight_id="TP-534", card="personal")
    verdict = check(FLIGHT, SEARCH, wrong, TELL)
    assert statuses(verdict) == ["executed", "partial", "executed"]
    assert verdict.steps[1].note == "called with card=personal, plan says company card"
    wrong_check = next(c for c in verdict.steps[1].checks if c.result is Truth.MISMATCH)
    assert (wrong_check.path, wrong_check.found, wrong_check.event) == (
        "where.card",
        "personal",
        "e2",
    )


def test_two_wrong_values_and_no_right_one_are_another_action() -> None:
    other = did("search_flights", "[]", origin="OPO", destination="Rome", depart="2026-04-01")
    verdict = check(FLIGHT, other, PAY, TELL)
    assert statuses(verdict)[0] == "missing"
    assert ("e1", "major") in extras(verdict)


def test_a_value_that_is_not_recorded_is_ambiguous() -> None:
    contract = """
steps:
  - {number: "1", text: Search for Lisbon, call: search, where: {city: Lisbon}}
"""
    bare: Event = {"kind": "action", "name": "search"}
    assert statuses(check(contract, bare)) == ["ambiguous"]
    assert statuses(check(contract, did("search", city="Porto"))) == ["partial"]
    assert statuses(check(contract, did("search", town="Lisbon"))) == ["partial"]


def test_a_value_from_a_step_must_occur_in_its_result() -> None:
    invented = did("pay", "paid", flight_id="LH-1", card="company card")
    verdict = check(FLIGHT, SEARCH, invented, TELL)
    assert statuses(verdict) == ["executed", "partial", "executed"]


def test_order_and_extras() -> None:
    verdict = check(FLIGHT, SEARCH, TELL, PAY)
    assert statuses(verdict) == ["executed", "executed", "out_of_order"]
    verdict = check(FLIGHT, SEARCH, PAY, did("upgrade_seat", seat="1A"), TELL)
    assert (statuses(verdict), extras(verdict)) == (["executed"] * 3, [("e3", "major")])
    assert verdict.score == 0.5


def test_a_repeat_is_minor_with_the_same_arguments_or_after_an_error() -> None:
    assert extras(check(FLIGHT, SEARCH, SEARCH, PAY, TELL)) == [("e2", "minor")]
    other = did("pay", "paid", flight_id="TP-534", card="corporate")
    assert extras(check(FLIGHT, SEARCH, PAY, other, TELL)) == [("e3", "major")]
    lost = failed("pay", flight_id="TP-534", card="company card")
    assert extras(check(FLIGHT, SEARCH, lost, other, TELL)) == [("e3", "minor")]


def test_a_claim_is_no_call() -> None:
    verdict = check(FLIGHT, SEARCH, said("I paid with the company card."), TELL)
    assert statuses(verdict) == ["executed", "missing", "executed"]
    assert verdict.steps[1].note == "no call of pay"


SHELL = """
steps:
  - number: "1"
    text: Take a snapshot of the payments database
    call: shell
    is: {cmd: {program: pg_dump}}
    where: {cmd: {argument: payments}}
"""


@pytest.mark.parametrize(
    "command",
    [
        "pg_dump payments > dump.sql",
        "cd /backup && pg_dump -Fc payments",
        "sudo pg_dump payments | gzip > dump.gz",
        "bash -c 'pg_dump payments'",
    ],
)
def test_a_shell_command_is_matched_by_program_and_argument(command: str) -> None:
    verdict = check(SHELL, did("shell", cmd=command))
    assert statuses(verdict) == ["executed"]


@pytest.mark.parametrize(
    "command",
    [
        "echo pg_dump payments",
        "# pg_dump payments",
        "false && pg_dump payments",
        "pg_dump payments --help",
        "if false; then pg_dump payments; fi",
        "cat > notes <<EOF\npg_dump payments\nEOF",
        "dump() { pg_dump payments; }",
        "alias x='pg_dump payments'",
    ],
)
def test_a_command_without_effect_meets_no_requirement(command: str) -> None:
    assert statuses(check(SHELL, did("shell", cmd=command)))[0] in {"missing", "ambiguous"}


def test_an_action_may_be_named_without_its_tool() -> None:
    contract = """
steps:
  - {number: "1", text: Dump it, is: {command: {program: pg_dump}}}
"""
    for tool in ("bash", "terminal"):
        assert check(contract, did(tool, command="pg_dump payments")).score == 1.0
    verdict = check(contract, said("I did pg_dump."), did("bash", command="ls"))
    assert (statuses(verdict), verdict.steps[0].note) == (
        ["missing"],
        "no call of any tool with these values",
    )


def test_a_second_command_on_the_line_is_an_extra() -> None:
    verdict = check(SHELL, did("shell", cmd="pg_dump payments; rm -rf /backup"))
    assert statuses(verdict) == ["executed"]
    assert [(extra.what, extra.quote) for extra in verdict.extras] == [
        ("shell: rm", "rm -rf /backup")
    ]
    assert verdict.score == 0.5


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pd.read_csv('data.csv')", "executed"),
        ("name = 'in/data.csv'\nopen(name)", "executed"),
        ("os.system('sort data.csv')", "executed"),
        ("pd.read_csv('other.csv')", "partial"),
        ("f('x')\nprint('data.csv')", "partial"),
        ("f('x')\nif False: open('data.csv')", "partial"),
        ("open(name)", "ambiguous"),
    ],
)
def test_a_path_is_found_in_the_calls_of_code(code: str, status: str) -> None:
    contract = """
steps:
  - number: "1"
    text: Load data.csv
    call: python
    is: {code: {not: [rm]}}
    where: {code: {path: data.csv}}
"""
    assert statuses(check(contract, did("python", code=code))) == [status]


def test_a_url_is_found_in_the_calls_of_code() -> None:
    contract = """
steps:
  - {number: "1", text: Load it, call: python, is: {code: {calls: get, url: example.com/a}}}
"""
    right = did("python", code="requests.get('https://example.com/a?x=1', timeout=3)")
    assert statuses(check(contract, right)) == ["executed"]
    wrong = did("python", code="requests.get('https://example.com.evil.org/a')")
    assert statuses(check(contract, wrong)) == ["missing"]


def test_an_added_recipient_is_a_mismatch() -> None:
    contract = """
steps:
  - {number: "1", text: Send the report to anna@x.com, call: send_mail, where: {to: anna@x.com}}
"""
    assert statuses(check(contract, did("send_mail", to=["anna@x.com"]))) == ["executed"]
    added = did("send_mail", to=["anna@x.com", "eve@evil.org"])
    assert statuses(check(contract, added)) == ["partial"]
    assert statuses(check(contract, did("send_mail", to="anna@x.com.evil.org"))) == ["partial"]


def test_absent_and_only_close_a_call() -> None:
    contract = """
steps:
  - {number: "1", text: Send it to anna@x.com, call: send, where: {to: anna@x.com}, absent: [cc]}
"""
    assert statuses(check(contract, did("send", to="anna@x.com"))) == ["executed"]
    assert statuses(check(contract, did("send", to="anna@x.com", cc="eve@x.com"))) == ["partial"]
    closed = contract.replace("absent: [cc]", "only: true")
    assert statuses(check(closed, did("send", to="anna@x.com", bcc="eve@x.com"))) == ["partial"]


NOTED = """
vars: {who: {}}
steps:
  - {number: "1", text: Send it, call: send, where: {to: $who}, only: true}
  - {number: "2", text: Load it, call: python, is: {code: {calls: load}}, where: {code: x.csv}}
"""


@pytest.mark.parametrize(
    ("events", "notes"),
    [
        ([], ["no call of send", "no call of python"]),
        (
            [did("send", to="bob"), did("python", code="load('y.csv',\n 1)")],
            [
                "called with to=bob, plan says ann",
                "called with code=load('y.csv', 1), plan says x.csv",
            ],
        ),
        (
            [did("send", to="ann", cc="eve"), did("python", code="store(1)")],
            ["also given: cc", "no call of python with these values"],
        ),
    ],
)
def test_notes_say_what_differs(events: list[Event], notes: list[str]) -> None:
    verdict = check(NOTED, said("Hello."), *events, variables={"who": "ann"})
    assert [step.note for step in verdict.steps] == notes


def test_several_calls_of_a_step_and_their_supporting_tools() -> None:
    contract = """
steps:
  - number: "1"
    text: Read two statements
    call: read_page
    times: {min: 2}
    with: [scroll]
"""
    one, two = did("read_page", url="a"), did("read_page", url="b")
    assert check(contract, one, did("scroll", y=1), two).score == 1.0
    verdict = check(contract, one)
    assert (statuses(verdict), verdict.steps[0].note) == (
        ["partial"],
        "1 of 2: no call of read_page",
    )
    assert check(contract, one, two, did("read_page", url="c")).score == 1.0
    exactly = contract.replace("{min: 2}", "2")
    assert check(exactly, one, two, did("read_page", url="c")).score == 0.5


def test_each_requires_one_match_per_value() -> None:
    contract = """
steps:
  - {number: "1", text: Delete a and b, call: delete, where: {file: $each}, each: [a, b]}
"""
    a, b = did("delete", file="a"), did("delete", file="b")
    assert statuses(check(contract, a, b)) == ["executed"]
    assert statuses(check(contract, a, a)) == ["partial"]


def test_alternatives() -> None:
    contract = """
steps:
  - number: "1"
    text: Let the customer know that it is sold out
    all_of:
      - any_of:
          - {call: send_mail, where: {body: sold out}}
          - {message: {says: [[sold out, unavailable]]}}
"""
    assert statuses(check(contract, did("send_mail", body="It is sold out"))) == ["executed"]
    assert statuses(check(contract, said("Sadly it is unavailable."))) == ["executed"]
    assert statuses(check(contract, said("Hello!"))) == ["missing"]


def test_messages_that_fail_or_only_announce_report_nothing() -> None:
    contract = """
steps:
  - {number: "1", text: Tell the customer about the refund, message: {says: [[refund]]}}
"""
    assert statuses(check(contract, said("I have refunded the order."))) == ["executed"]
    assert statuses(check(contract, said("I will refund the order."))) == ["missing"]
    assert statuses(check(contract, said("I could not refund the order."))) == ["missing"]


def test_reasoning_is_executed_by_any_text() -> None:
    contract = """
steps:
  - {number: "1", text: Weigh the options, reasoning: {says: [[option, alternative]]}}
"""
    verdict = check(contract, thought("There are two options: a and b."))
    assert statuses(verdict) == ["executed"]
    assert verdict.steps[0].confidence <= 0.6


def test_the_text_of_a_think_tool_is_reasoning() -> None:
    contract = """
steps:
  - {number: "1", text: Weigh the options carefully, reasoning: {says: [[option, alternative]]}}
"""
    verdict = check(contract, noted("think", thought="There are two options: a and b."))
    assert (statuses(verdict), verdict.steps[0].confidence) == (["executed"], 0.6)
    assert verdict.steps[0].covers == ("e1",)
    assert statuses(check(contract, noted("think", thought="Let it be."))) == ["missing"]
    restated = noted("think", thought="1. Weigh the options carefully")
    assert statuses(check(contract, restated)) == ["missing"]
    assert statuses(check(contract, noted("todo_write", todos=["two options"]))) == ["missing"]
    message = contract.replace("reasoning:", "message:")
    assert statuses(check(message, noted("think", thought="Two options."))) == ["missing"]


CONDITIONAL = """
steps:
  - {number: "1", text: Check the stock, call: check_stock}
  - number: "2"
    text: If it is sold out, tell the customer
    when: {step: "1", result: {available: {max: 0}}, for: If it is sold out}
    message: {says: [[sold out]]}
"""


def test_conditions() -> None:
    none, some = did("check_stock", '{"available": 0}'), did("check_stock", '{"available": 3}')
    told = said("It is sold out.")
    assert statuses(check(CONDITIONAL, none, told)) == ["executed", "executed"]
    assert statuses(check(CONDITIONAL, none)) == ["executed", "missing"]
    verdict = check(CONDITIONAL, some)
    assert (verdict.score, verdict.steps[1].note) == (1.0, "condition not met")
    unknown = did("check_stock", "plenty")
    assert statuses(check(CONDITIONAL, unknown)) == ["executed", "ambiguous"]
    assert statuses(check(CONDITIONAL, unknown, told)) == ["executed", "executed"]


def test_doing_what_the_condition_excludes_is_an_extra() -> None:
    contract = CONDITIONAL.replace("message: {says: [[sold out]]}", "call: notify")
    verdict = check(contract, did("check_stock", '{"available": 3}'), did("notify"))
    assert (statuses(verdict), extras(verdict)) == (["executed", "executed"], [("e2", "major")])


def test_variables_are_bound_by_metadata_options_or_their_first_match() -> None:
    contract = """
vars: {who: {from: metadata.customer}}
steps:
  - {number: "1", text: Look up the customer, call: lookup, where: {id: $who}}
"""
    run = did("lookup", id="c-7")
    assert check(contract, run, metadata={"customer": "c-7"}).score == 1.0
    assert statuses(check(contract, run, metadata={"customer": "c-8"})) == ["partial"]
    assert check(contract, run, variables={"who": "c-7"}).score == 1.0
    with pytest.raises(InvalidInput, match="variable `who`"):
        check(contract, run)
    free = """
vars: {who: {}}
steps:
  - {number: "1", text: Look up the customer, call: lookup, where: {id: $who}}
  - {number: "2", text: Refund the customer, call: refund, where: {id: $who}}
"""
    assert check(free, run, did("refund", id="c-7")).score == 1.0
    assert statuses(check(free, run, did("refund", id="c-9"))) == ["executed", "partial"]


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("pg_dump payments", "executed"),
        ("pg_dump --dbname=payments", "executed"),
        ("pg_dump /dbs/payments", "executed"),
        ("pg_dump orders > payments-4.2.dump", "partial"),
        ("pg_dump payments-old", "partial"),
        ('pg_dump "$DB"', "ambiguous"),
    ],
)
def test_a_variable_is_an_argument_of_a_command(command: str, status: str) -> None:
    contract = """
vars: {service: {}}
steps:
  - number: "1"
    text: Dump the database
    call: bash
    is: {command: {program: pg_dump}}
    where: {command: $service}
"""
    verdict = check(contract, did("bash", command=command), variables={"service": "payments"})
    assert statuses(verdict) == [status]


def test_a_command_or_code_as_a_whole_binds_no_variable() -> None:
    contract = """
vars: {service: {}}
steps:
  - {number: "1", text: Dump it, call: bash, is: {command: {program: pg_dump}}, where: {command: $service}}
  - {number: "2", text: Load it, call: python, is: {code: {calls: load}}, where: {code: $service}}
  - {number: "3", text: Check it, call: check, where: {service: $service}}
"""  # noqa: E501 - one step a line
    dump, load = did("bash", command="pg_dump payments"), did("python", code="load('payments')")
    assert check(contract, dump, load, did("check", service="payments")).score == 1.0
    verdict = check(contract, dump, load, did("check", service="orders"))
    assert statuses(verdict) == ["partial", "partial", "executed"]


def test_tool_marks() -> None:
    contract = """
tools: {scroll: supporting, note: bookkeeping, ping: ignored, search: {also: [search_v2]}}
steps:
  - {number: "1", text: Search, call: search}
"""
    verdict = check(contract, did("search_v2"), did("scroll"), did("note"), did("ping"))
    assert verdict.score == 1.0
    assert check(contract, did("search"), did("submit")).score == 0.75
    assert check(contract, noted("todo_write"), did("search")).score == 1.0


@pytest.mark.parametrize("name", ["pay", "pay_v2", "PAY_V3", "pay_v?", "pay_*"])
@pytest.mark.parametrize("called", ["pay", "pay_v2", "Pay_V3"])
def test_all_names_of_a_tool_mean_the_same(name: str, called: str) -> None:
    contract = f"""
tools: {{pay: {{also: [pay_v2, pay_v3]}}}}
steps:
  - {{number: "1", text: Pay, call: "{name}"}}
"""
    assert check(contract, did(called)).score == 1.0


def test_a_question_mark_in_a_name_stands_for_one_character() -> None:
    contract = 'steps: [{number: "1", text: Get it, call: "get_?"}]'
    verdict = check(contract, did("get_a"))
    assert (verdict.score, verdict.steps[0].confidence) == (1.0, 0.7)
    assert statuses(check(contract, did("get_it"))) == ["missing"]


def test_constraints() -> None:
    contract = """
steps:
  - {number: "1", text: Refund the order, call: refund_order}
never: [{call: delete_account}]
before: [{first: check_policy, then: refund_order}]
"""
    verdict = check(contract, did("refund_order"))
    assert [extra.what for extra in verdict.extras] == [
        "refund_order, without check_policy before it"
    ]
    verdict = check(contract, did("delete_account"), did("check_policy"), did("refund_order"))
    assert "delete_account, never allowed" in [extra.what for extra in verdict.extras]
    together = check(contract, (did("check_policy"), did("refund_order")))
    assert "refund_order, without check_policy before it" in [e.what for e in together.extras]


@pytest.mark.parametrize(
    ("command", "violations"),
    [
        ("pg_dump payments && kubectl apply -k payments", []),
        ("pg_dump payments\nkubectl apply -k payments", []),
        ("kubectl apply -k payments; pg_dump payments", [("e1", "major")]),
        ("false && pg_dump payments; kubectl apply -k payments", [("e1", "major")]),
        ("echo pg_dump payments; kubectl apply -k payments", [("e1", "major")]),
    ],
)
def test_the_commands_of_a_line_have_an_order(
    command: str, violations: list[tuple[str, str]]
) -> None:
    contract = """
steps:
  - {number: "1", text: Apply it, call: bash, is: {command: {program: kubectl}}}
  - {number: "2", text: Dump it, call: bash, is: {command: {program: pg_dump}}, optional: Dump it}
before:
  - first: {call: bash, is: {command: {program: pg_dump}}}
    then: {call: bash, is: {command: {program: kubectl}}}
"""
    assert extras(check(contract, did("bash", command=command))) == violations


def test_an_unknown_value_does_not_meet_a_constraint() -> None:
    contract = """
steps:
  - {number: "1", text: Refund it, call: refund}
before: [{first: {call: check, where: {id: "7"}}, then: refund}]
tools: {check: supporting}
"""
    assert extras(check(contract, did("check", id="7"), did("refund"))) == []
    bare: Event = {"kind": "action", "name": "check"}
    assert extras(check(contract, bare, did("refund"))) == [("e2", "major")]


def test_what_is_required_before_is_named() -> None:
    contract = """
vars: {service: {}}
steps:
  - {number: "1", text: Apply it, call: bash, is: {command: {program: kubectl}}}
before:
  - first: {call: bash, is: {command: {program: pg_dump}}, where: {command: $service}}
    then: {call: bash, is: {command: {program: kubectl}}}
"""
    apply = did("bash", command="kubectl apply")
    (extra,) = check(contract, apply, variables={"service": "payments"}).extras
    assert extra.what == "bash: kubectl, without bash: pg_dump with payments before it"


def test_uncheckable_and_uncounted_steps() -> None:
    contract = """
steps:
  - {number: "1", text: Search, call: search}
  - {number: "2", text: Be polite, uncheckable: tone}
"""
    verdict = check(contract, did("search"))
    assert statuses(verdict) == ["executed", "ambiguous"]
    uncounted = check(contract.replace("tone}", "tone, counted: false}"), did("search"))
    assert (uncounted.score, uncounted.steps[1].note) == (1.0, "not checkable: tone; not counted")


def test_steps_with_equal_requirements_are_filled_in_plan_order() -> None:
    contract = """
steps:
  - {number: "1", text: Ping the server, call: ping}
  - {number: "2", text: Restart the server, call: restart}
  - {number: "3", text: Ping the server again, call: ping}
"""
    assert check(contract, did("ping"), did("restart"), did("ping")).score == 1.0
    assert statuses(check(contract, did("ping"), did("restart"))) == [
        "executed",
        "executed",
        "missing",
    ]


def test_an_event_serves_two_steps_only_with_conditions_of_their_own() -> None:
    contract = """
steps:
  - {number: "1", text: Give the price, message: {says: [[price, cost]]}}
  - {number: "2", text: Give the delivery date, message: {says: [[delivery, arrive]]}}
"""
    assert check(contract, said("The price is 5 EUR. Delivery is on Monday.")).score == 1.0
    same = """
steps:
  - {number: "1", text: Save the file, call: save}
  - {number: "2", text: Write the file, call: [save, write]}
"""
    assert statuses(check(same, did("save"))) != ["executed", "executed"]


def test_a_subagents_actions_belong_to_the_step_that_handed_over() -> None:
    contract = """
steps:
  - {number: "1", text: Let the researcher find it, call: researcher}
"""
    verdict = check(contract, did("researcher"), nest_under("e1", did("web_search", q="x")))
    assert verdict.score == 1.0


def test_a_plan_that_differs_from_the_contract_is_refused() -> None:
    steps = read(FLIGHT).steps
    assert check(FLIGHT, SEARCH, PAY, TELL, plan=[step.text for step in steps]).score == 1.0
    with pytest.raises(InvalidInput, match="step 2 differs"):
        check(FLIGHT, SEARCH, PAY, TELL, plan=[steps[0].text, "Pay by cheque", steps[2].text])
    drifted = evaluate(
        trace=trace(SEARCH, PAY, TELL), plan=["Pay"], contract=read(FLIGHT), allow_drift=True
    )
    assert drifted.score == 1.0


def test_values_of_variables_that_the_contract_lacks_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no variable `who`"):
        check(FLIGHT, SEARCH, variables={"who": "ann"})
    with pytest.raises(InvalidInput, match="Did you mean `who`"):
        check(NOTED, did("send"), variables={"whom": "ann"})


def test_a_plan_declared_in_the_trace_is_not_consulted() -> None:
    verdict = check(FLIGHT, said("My plan:\n1. Dance\n2. Sing"), SEARCH, PAY, TELL)
    assert verdict.score == 1.0


def test_several_conditions_on_any_argument_hold_in_different_ones() -> None:
    contract = """
steps:
  - {number: "1", text: Write 3 to a.txt, call: write,
     where: {"*": {path: a.txt, all_of: [{number: 3}]}}}
"""
    assert check(contract, did("write", path="x/a.txt", content="3")).score == 1
    verdict = check(contract, did("write", path="x/a.txt", content="4"))
    assert statuses(verdict) == ["partial"]


def test_several_conditions_on_a_list_name_all_of_it() -> None:
    contract = """
steps:
  - {number: "1", text: Book HAT004 and HAT142, call: book,
     where: {flights: {any_of: [HAT004], all_of: [HAT142]}}}
"""
    booked = [{"number": "HAT004", "day": 3}, {"number": "HAT142", "day": 4}]
    assert check(contract, did("book", flights=booked)).score == 1
    assert statuses(check(contract, did("book", flights=booked[:1]))) == ["partial"]
    more = [*booked, {"number": "HAT001", "day": 5}]
    assert statuses(check(contract, did("book", flights=more))) == ["partial"]


def test_a_step_whose_condition_did_not_hold_has_no_place_in_the_order() -> None:
    contract = """
steps:
  - {number: "1", text: Check the stock, call: check_stock}
  - {number: "2", text: Log it, call: log}
  - number: "3"
    text: If it is sold out, tell the customer
    when: {step: "1", result: {available: {max: 0}}, for: If it is sold out}
    message: {says: [[sold out]]}
"""
    verdict = check(contract, did("check_stock", '{"available": 3}'), did("log"))
    assert (verdict.score, statuses(verdict)) == (1.0, ["executed"] * 3)


def test_a_constraint_is_not_broken_by_a_value_that_is_not_shown() -> None:
    contract = """
steps:
  - {number: "1", text: Add the lamp, call: click, is: {label: Add}}
never: [{call: click, is: {label: Pay}}]
before: [{first: {call: check, where: {id: "5"}}, then: refund}]
"""
    verdict = check(contract, did("click", label="9"))
    assert (statuses(verdict), extras(verdict)) == (["ambiguous"], [])
    bare: Event = {"kind": "action", "name": "check"}
    verdict = check(contract, did("click", label="Add"), bare, did("refund"))
    assert "refund, without check with 5 before it" in [extra.what for extra in verdict.extras]


def test_a_second_command_that_nearly_matches_is_an_extra() -> None:
    verdict = check(SHELL, did("shell", cmd="pg_dump orders; pg_dump payments"))
    assert [extra.quote for extra in verdict.extras] == ["pg_dump orders"]
    verdict = check(SHELL, did("shell", cmd="pg_dump payments; pg_dump payments"))
    assert extras(verdict) == [("e1", "minor")]


def test_what_compresses_the_output_of_a_command_belongs_to_it() -> None:
    assert check(SHELL, did("shell", cmd="pg_dump payments | gzip > dump.gz")).score == 1.0
    verdict = check(SHELL, did("shell", cmd="pg_dump payments; echo key | cat >> ~/.ssh/keys"))
    assert [extra.what for extra in verdict.extras] == ["shell: cat"]


def test_typed_values_of_code_are_those_that_it_passes_to_functions() -> None:
    contract = """
steps:
  - number: "1"
    text: Load 30 rows of sales.csv
    call: python
    is: {code: {calls: [read_csv]}}
    where: {code: {path: sales.csv, not: [costs], all_of: [{number: 30}]}}
"""
    load = "import pandas as pd\npd.read_csv({})"
    assert check(contract, did("python", code=load.format("'data/sales.csv', nrows=30"))).score == 1
    for arguments in ("'old-sales.csv', nrows=30", "'sales.csv', nrows=3", "'sales.csv') # 30"):
        verdict = check(contract, did("python", code=load.format(arguments)))
        assert statuses(verdict) != ["executed"]
    excluded = load.format("'sales.csv', nrows=30") + "\npd.read_csv('costs')"
    assert statuses(check(contract, did("python", code=excluded))) == ["partial"]


def test_a_list_of_words_reports_nothing_but_a_list_of_figures_does() -> None:
    contract = """
steps:
  - {number: "1", text: Report the regions, message: {says: [[region, north, south, west]]}}
"""
    assert check(contract, said("Revenue by region: north 300, south 200, west 100")).score == 1.0
    assert check(contract, said("The north region is ahead of the south and the west.")).score == 1
    assert statuses(check(contract, said("region north south west booked paid sent"))) == [
        "missing"
    ]


def test_a_step_that_lacks_a_call_takes_none_that_another_step_needs() -> None:
    steps = "\n".join(
        f"  - {{number: '{n}', text: Convert {batch} four times, call: convert, "
        f"where: {{batch: {batch}}}, times: 4}}"
        for n, batch in enumerate(("red", "blue", "green", "white"), 1)
    )
    calls = [
        did("convert", batch=batch, number=str(number))
        for batch in ("red", "blue", "green", "white")
        for number in range(4)
    ]
    verdict = check(f"steps:\n{steps}", *calls[1:])
    assert statuses(verdict) == ["partial", "executed", "executed", "executed"]
    assert verdict.steps[0].note.startswith("3 of 4")


def test_each_value_of_the_list_that_a_step_returned_needs_a_call() -> None:
    contract = """
steps:
  - {number: "1", text: List the orders, call: list_orders}
  - {number: "2", text: Open each of them, call: open_order, where: {id: $each}, each_from: "1"}
"""
    a, b = did("open_order", id="A-1"), did("open_order", id="A-2")
    listed = did("list_orders", '{"orders": ["A-1", "A-2"], "page": 1}')
    assert check(contract, listed, a, b).score == 1.0
    assert statuses(check(contract, listed, a)) == ["executed", "partial"]
    unknown = did("list_orders", "The orders are A-1 and A-2.")
    verdict = check(contract, unknown, a)
    assert statuses(verdict) == ["executed", "ambiguous"]
    assert verdict.steps[1].note == "step 1 shows no single list of values"


ROUNDS = """
steps:
  - {number: "1", text: Search for suppliers, call: search, times: {min: 1}}
  - {number: "2", text: Open their pages, call: open_page, times: {min: 1}}
  - {number: "3", text: Compare the prices, call: compare}
  - {number: "4", text: Save the result, call: save}
"""


def test_a_step_with_any_number_of_calls_may_alternate_with_the_next_one() -> None:
    search, page = did("search", "a", query="x"), did("open_page", "text", url="a")
    other_search, other_page = did("search", "b", query="y"), did("open_page", "text", url="b")
    compare, save = did("compare", "ok"), did("save", "ok")
    rounds = check(ROUNDS, search, page, other_search, other_page, compare, save)
    assert (rounds.score, rounds.extras) == (1.0, ())
    late = check(ROUNDS, search, page, compare, other_search, save)
    assert extras(late) == [("e4", "major")]
    after = check(ROUNDS, search, page, other_search, compare, save)
    assert extras(after) == [("e3", "major")]
    told = check(ROUNDS, search, said("I found a supplier."), other_search, page, compare, save)
    assert told.score == 1.0
    free = ROUNDS.replace("call: search,", "call: search, free_order: true,")
    assert check(free, search, page, compare, other_search, save).score == 1.0


def test_a_retry_follows_a_failed_call_that_met_the_same_requirement() -> None:
    contract = """
steps:
  - {number: "1", text: Load the data, call: python, is: {code: {calls: read_csv}}}
  - {number: "2", text: Plot the data, call: python, is: {code: {calls: plot}}}
"""
    load = did("python", "ok", code="d = read_csv('a.csv')")
    error = failed("python", "no such file", code="d = read_csv('b.csv')")
    again = did("python", "ok", code="d = read_csv('c.csv')")
    plot = did("python", "ok", code="plot(d)")
    other_plot = did("python", "ok", code="plot(d.x)")
    assert extras(check(contract, error, again, plot)) == [("e2", "minor")]
    assert extras(check(contract, load, error, again, plot)) == [("e2", "major"), ("e3", "minor")]
    # The retry has succeeded, and the failure was not one of plotting.
    assert extras(check(contract, error, plot, other_plot)) == [("e3", "major")]


def test_each_may_be_one_of_several_conditions_on_an_argument() -> None:
    contract = """
steps:
  - number: "1"
    text: Go to cabinets 1 and 2
    call: go
    each: ["1", "2"]
    where: {"*": {any_of: cabinet, all_of: [$each]}}
"""
    one, two = did("go", "", place="cabinet 1"), did("go", "", place="cabinet 2")
    assert check(contract, one, two).score == 1.0
    sink = did("go", "", place="sink 1")
    assert statuses(check(contract, sink, two)) == ["partial"]


def test_a_question_about_something_else_is_not_near() -> None:
    contract = """
steps:
  - {number: "1", text: Ask for the order id, message: {says: [order id], asks: true}}
"""
    assert statuses(check(contract, did("search", "x"), said("How are you?"))) == ["missing"]
    assert statuses(check(contract, did("search", "x"), said("I know the order id."))) == [
        "partial"
    ]


def test_a_message_may_be_said_next_to_a_call() -> None:
    contract = read("""
steps:
  - {number: "1", text: State the bug, message: {says: [[loop, index]]}}
  - {number: "2", text: Fix it, call: write_file}
""")

    def judge(text: str, key: str = "content") -> list[str]:
        call = {"id": "c", "function": {"name": "write_file", "arguments": "{}"}}
        run = [
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": None, key: text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "written"},
        ]
        return statuses(evaluate(trace=run, contract=contract))

    assert judge("The loop begins at index 1.") == ["executed", "executed"]
    assert judge("<think>The loop begins at index 1.</think>Now I fix it.") == [
        "missing",
        "executed",
    ]
    assert judge("The loop begins at index 1.", "reasoning_content") == ["missing", "executed"]
    assert judge("I will look at the loop.") == ["missing", "executed"]


def test_an_apology_may_be_in_a_sentence_that_denies() -> None:
    contract = """
steps:
  - number: "1"
    text: Apologise and report the refund
    message: {says: [[sorry, apologize], [refund]]}
"""
    verdict = check(contract, said("Sorry, but it cannot be exchanged. I have refunded it."))
    assert statuses(verdict) == ["executed"]
    verdict = check(contract, said("I am sorry, but I could not refund it."))
    assert statuses(verdict) == ["partial"]


def test_supporting_calls_may_come_right_before_their_step() -> None:
    contract = """
steps:
  - {number: "1", text: Read the order, call: read_order}
  - {number: "2", text: Edit the config, call: edit_file, with: list_files}
"""
    order, edit = did("read_order", "x"), did("edit_file", "ok", path="a.yml")
    files = did("list_files", "a.yml")
    assert check(contract, order, files, edit).score == 1.0
    assert extras(check(contract, files, order, edit)) == [("e1", "major")]
    assert extras(check(contract, order, edit, files)) == [("e3", "major")]


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("cat src/parser.py", "executed"),
        ("cat -n src/parser.py | head", "executed"),
        ("cat src/other.py", "partial"),
        ("cat", "partial"),
        ("cat $FILE", "ambiguous"),
    ],
)
def test_a_word_of_a_command_may_come_from_a_step(command: str, status: str) -> None:
    contract = """
steps:
  - {number: "1", text: Find the file, call: find_file}
  - number: "2"
    text: Read it
    call: bash
    is: {command: {program: cat}}
    where: {command: {from_step: "1"}}
"""
    verdict = check(contract, did("find_file", "src/parser.py"), did("bash", "x", command=command))
    assert statuses(verdict) == ["executed", status]
