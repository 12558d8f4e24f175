"""The agent that is run in every framework: what it is asked, its plan, its tools, what it does."""

from __future__ import annotations

from typing import Any, TypeAlias

TASK = "Refund order A-1042 and tell the customer."
PLAN = [
    "Look up order A-1042.",
    "Check the refund policy for electronics.",
    "Refund 59.90 for order A-1042.",
    "E-mail a confirmation to ana@example.com.",
]
CLOSING = "Order A-1042 is refunded."

Call: TypeAlias = tuple[str, dict[str, Any]]

FOLLOWED: list[Call] = [
    ("get_order", {"order_id": "A-1042"}),
    ("check_refund_policy", {"category": "electronics"}),
    ("refund_order", {"order_id": "A-1042", "amount": 59.90}),
    ("send_email", {"to": "ana@example.com", "subject": "Confirmation of your refund"}),
]
SKIPPED = [call for call in FOLLOWED if call[0] != "check_refund_policy"]
"""Without step 2: the rules score it 0.5."""


def get_order(order_id: str) -> str:
    """Look an order up."""
    return f"{order_id}: one lamp, electronics, 59.90, ana@example.com"


def check_refund_policy(category: str) -> str:
    """Read the refund policy of a category."""
    return f"{category}: refunds within 30 days"


def refund_order(order_id: str, amount: float) -> str:
    """Refund an order."""
    return f"refunded {amount} for {order_id}"


def send_email(to: str, subject: str) -> str:
    """Send an e-mail."""
    return f"sent to {to}"


TOOLS = [get_order, check_refund_policy, refund_order, send_email]
BY_NAME = {tool.__name__: tool for tool in TOOLS}
