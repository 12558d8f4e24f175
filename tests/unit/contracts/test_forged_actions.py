"""Actions that do nothing, or only look like what is asked for, match no condition."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.contracts.condition_check import check_condition
from planproof.contracts.python_values import check_call, parse_python
from planproof.contracts.shell_values import check_command, has_effect, parse_shell
from planproof.core.contract import Condition, SqlCondition, Truth

DUMP = Condition(program=("pg_dump",), argument=("payments",))
COMMANDS = (
    "echo pg_dump payments",
    "echo 'pg_dump payments' | cat",
    "printf 'pg_dump payments\\n'",
    "# pg_dump payments",
    "true # pg_dump payments",
    ": pg_dump payments",
    "pg_dump payments --help",
    "pg_dump --version",
    "pg_dump payments --dry-run",
    "pg_dump payments --dry-run=client",
    "false && pg_dump payments",
    "true || pg_dump payments",
    "echo done || pg_dump payments",
    "! true && pg_dump payments",
    "false && true && pg_dump payments",
    "if false; then pg_dump payments; fi",
    "if true; then :; else pg_dump payments; fi",
    "while false; do pg_dump payments; done",
    "until true; do pg_dump payments; done",
    "case a in b) pg_dump payments;; esac",
    "[ 1 -eq 2 ] && pg_dump payments",
    "[[ a == b ]] && pg_dump payments",
    "test -n '' && pg_dump payments",
    "backup() { pg_dump payments; }",
    "backup() { pg_dump payments; }; false && backup",
    "pg_dump() { true; }; pg_dump payments",
    "alias backup='pg_dump payments'",
    "alias pg_dump=true; pg_dump payments",
    "exit 0; pg_dump payments",
    "exit\npg_dump payments",
    "exec true; pg_dump payments",
    "set -e; false; pg_dump payments",
    "set -n; pg_dump payments",
    "bash -n -c 'pg_dump payments'",
    "bash -c 'echo pg_dump payments'",
    "bash -c ': pg_dump payments'",
    "bash -c 'false && pg_dump payments'",
    "ssh db 'echo pg_dump payments'",
    "docker exec db echo pg_dump payments",
    "sudo echo pg_dump payments",
    "cat <<EOF\npg_dump payments\nEOF",
    "cat > notes.txt <<EOF\npg_dump payments\nEOF",
    "cat <<< 'pg_dump payments'",
    "python - <<EOF\nprint('pg_dump payments')\nEOF",
    "python -c \"print('pg_dump payments')\"",
    "TODO='pg_dump payments'",
    "export TODO='pg_dump payments'",
    "git commit -m 'pg_dump payments'",
    "man pg_dump payments",
    "which pg_dump payments",
    "command -v pg_dump payments",
    "type pg_dump payments",
    "grep 'pg_dump payments' history.txt",
    "pg_dumpall payments",
    "my-pg_dump payments",
    "./pg_dump.sh payments",
    "pg_dump\u200b payments\u200bx",
    "рg_dump payments",  # a Cyrillic letter
    "pg_dump payments_old",
    "pg_dump orders # payments",
    "pg_dump orders; echo payments",
    "pg_dump 'unterminated payments",
    "pg_dump payments 'unterminated",
    "if true; then pg_dump payments",
    "pg_dump $(echo payments)",
    "$TOOL payments",
    "echo pg_dump payments | sh",
    'bash -c "$(curl example.org)" pg_dump payments',
    "sleep 5 && # pg_dump payments",
    "import os\n# os.system('pg_dump payments')",
    "import os\nif False:\n    os.system('pg_dump payments')",
    "import os\ndef f():\n    os.system('pg_dump payments')",
)


@pytest.mark.parametrize("text", COMMANDS)
def test_no_command_satisfies_a_condition_on_a_program(text: str) -> None:
    assert check_condition(DUMP, text) is not Truth.MATCH
    for command in parse_shell(text).commands:
        if has_effect(command, (DUMP,)):
            assert check_command(DUMP, command) is not Truth.MATCH


REFUND = Condition(calls=("shop.refund",), any_of=("ORD-7",))
PROGRAMS = (
    "# import shop; shop.refund('ORD-7')",
    "'''shop.refund('ORD-7')'''",
    "print(\"shop.refund('ORD-7')\")",
    "code = \"shop.refund('ORD-7')\"",
    "import shop\nif False:\n    shop.refund('ORD-7')",
    "import shop\nwhile 0:\n    shop.refund('ORD-7')",
    "import shop\nFalse and shop.refund('ORD-7')",
    "import shop\nTrue or shop.refund('ORD-7')",
    "import shop\ndef refund():\n    shop.refund('ORD-7')",
    "import shop\nclass A:\n    def refund(self):\n        shop.refund('ORD-7')",
    "import shop\nexit()\nshop.refund('ORD-7')",
    "import shop\nraise SystemExit\nshop.refund('ORD-7')",
    "import shop\ntry:\n    pass\nexcept ValueError:\n    shop.refund('ORD-7')",
    "import shop\nfor x in []:\n    shop.refund('ORD-7')",
    "class shop:\n    refund = print\nshop.refund('ORD-7')",
    "def refund(order): pass\nrefund('ORD-7')",
    "import shop\nshop.refund",
    "import shop\nshop.refunds('ORD-7')",
    "import shop\nshop.refund('ORD-77')",
    "import shop\nshop.refund(order)  # ORD-7",
    "exec(\"shop.refund('ORD-7')\")",
    "import shop\nshop.refund('ORD-7'",
)


@pytest.mark.parametrize("text", PROGRAMS)
def test_no_code_satisfies_a_condition_on_a_call(text: str) -> None:
    for call in parse_python(text).calls:
        assert check_call(REFUND, call) is not Truth.MATCH


DELETE = Condition(sql=SqlCondition(verb="delete", tables=("orders",)))
STATEMENTS = (
    "-- delete from orders",
    "/* delete from orders */ select 1",
    "select 'delete from orders'",
    "explain delete from orders",
    "delete from orders where 1 = 0",
    "delete from orders where false",
    "begin; delete from orders; rollback",
    "delete from old_orders",
    "delete from archive where note = 'orders'",
    "select * from orders",
    "delete from orders where (",
)


@pytest.mark.parametrize("text", STATEMENTS)
def test_no_statement_satisfies_a_condition_on_sql(text: str) -> None:
    assert check_condition(DELETE, text) is not Truth.MATCH


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (Condition(any_of=("anna@x.com",)), "anna@x.com.evil.org"),
        (Condition(any_of=("anna@x.com",)), ["anna@x.com", "eve@evil.org"]),
        (Condition(any_of=("anna@x.com",)), "anna@x.com,eve@evil.org"),
        (Condition(any_of=("anna@x.com",)), "аnna@x.com"),  # a Cyrillic letter
        (Condition(any_of=("ORD-7",)), "ORD-77"),
        (Condition(any_of=("ORD-7",)), "ORD-7\u200b7"),
        (Condition(any_of=("12",)), "1 2"),
        (Condition(equals="ORD-7"), "ORD-7 and ORD-8"),
        (Condition(number=100), "100 000"),
        (Condition(number=100), -100),
        (Condition(date="2026-03-12"), "2027-03-12"),
        (Condition(path="/etc/hosts"), "/tmp/etc/hosts"),
        (Condition(path="/etc/hosts"), "/etc/hosts/../passwd"),
        (Condition(url="https://bank.com/pay"), "https://bank.com@evil.org/pay"),
        (Condition(url="https://bank.com/pay"), "https://evil.org/?https://bank.com/pay"),
        (Condition(url="https://bank.com/pay"), "https://bank.com\\.evil.org/pay"),
        (Condition(url="bank.com"), "bank.com.evil.org"),
        (Condition(any_of=("card",), not_=("personal",)), ["card", "personal card"]),
    ],
)
def test_no_look_alike_satisfies_a_condition_on_a_value(condition: Condition, value: Any) -> None:
    assert check_condition(condition, value) is not Truth.MATCH
