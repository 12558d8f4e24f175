"""The run that all examples of this folder record: one task, five tools, seven calls."""

from __future__ import annotations

from scripted_model import Turn, call

TASK = (
    "The orders A-17 and A-18 of Ann Berg have not arrived. Find out where they are, send again "
    "what is lost, and tell her."
)
INSTRUCTIONS = "You work at the order desk of a shop. Use the tools."


def find_orders(customer: str) -> str:
    """Find the orders of a customer."""
    return "A-17: 1 desk; A-18: 2 blue lamps, 1 bulb E27; mail ann.berg@example.com"


def track_parcel(order: str) -> str:
    """Tell where the parcel of an order is."""
    places = {"A-17": "in delivery, arrives today", "A-18": "lost since 2 March"}
    return places.get(order, "not yet handed over")


def check_stock(item: str, count: int) -> str:
    """Tell whether so many pieces of an item are in stock."""
    return f"{item}: 14 in stock, {count} reserved for an hour"


def create_shipment(order: str, items: list[str], express: bool) -> str:
    """Send items once more."""
    return f"shipment {order}-R created, {len(items)} items, {'express' if express else 'normal'}"


def send_mail(to: str, subject: str, body: str) -> str:
    """Send an e-mail."""
    return f"sent to {to}, {len(body)} characters"


TOOLS = (find_orders, track_parcel, check_stock, create_shipment, send_mail)
TURNS = (
    Turn("I look up her orders first.", [call("find_orders", customer="Ann Berg")]),
    Turn("", [call("track_parcel", order="A-17"), call("track_parcel", order="A-18")]),
    Turn(
        "A-18 is lost. I check the stock before I send it again.",
        [call("check_stock", item="blue lamp", count=2)],
    ),
    Turn(
        "",
        [call("create_shipment", order="A-18", items=["2 blue lamps", "bulb E27"], express=True)],
    ),
    Turn("Is it on its way?", [call("track_parcel", order="A-18-R")]),
    Turn(
        "",
        [
            call(
                "send_mail",
                to="ann.berg@example.com",
                subject="Your orders A-17 and A-18",
                body="A-17 arrives today. A-18 was lost; we send it again by express.",
            )
        ],
    ),
    Turn("A-17 arrives today, A-18 is sent again by express, and Ann Berg knows."),
)
CALLS = tuple(item for turn in TURNS for item in turn.calls)
