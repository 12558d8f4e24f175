"""Labelled runs of everyday plans: travel, shopping, mail, calendars, tickets, a support chat."""

from __future__ import annotations

from tests.contract_cases.labelled_runs import ContractCase, change, run
from tests.trace_builders import Event, asked, did, failed, nest_under, noted, said, thought


def by(agent: str, event: Event) -> Event:
    """Return the same event, done by a named agent."""
    return {**event, "actor": agent}


FLIGHTS = '[{"flight": "OS-412", "price": 180}, {"flight": "TP-88", "price": 210}]'
FLIGHT_SEARCH = did("search_flights", FLIGHTS, origin="OPO", destination="VIE", date="2026-06-09")
HOLD = did("hold_seat", '{"held": true}', flight="OS-412", traveller="t-19")
PAY = did("pay", "paid", card="company", amount=180)
BOOKED = said("Your seat on OS-412 is booked.")
FLIGHT = ContractCase(
    "flight",
    (("1", FLIGHT_SEARCH), ("2", HOLD), ("3", PAY), ("4", BOOKED)),
    (
        run(
            "values written in other ways",
            1.0,
            did("search_flights", FLIGHTS, origin="Porto", destination="vienna", date="9 June"),
            did("hold_seat", "ok", flight="TP-88", traveller="t-19", seat="12A"),
            did("pay", "ok", card="Corporate card"),
            said("All done: the flight is confirmed for 9 June."),
        ),
        run(
            "a flight that the search did not return",
            0.5,
            FLIGHT_SEARCH,
            did("hold_seat", "ok", flight="LH-1", traveller="t-19"),
            PAY,
            BOOKED,
            steps={"2": "partial"},
        ),
        run(
            "held for another traveller",
            0.5,
            FLIGHT_SEARCH,
            did("hold_seat", "ok", flight="OS-412", traveller="t-20"),
            PAY,
            BOOKED,
            steps={"2": "partial"},
        ),
        run(
            "an upgrade that nobody planned",
            0.5,
            FLIGHT_SEARCH,
            HOLD,
            did("upgrade_seat", "ok", to="business"),
            PAY,
            BOOKED,
            extras=["major upgrade_seat"],
        ),
        run(
            "a failed payment and its retry",
            0.75,
            FLIGHT_SEARCH,
            HOLD,
            failed("pay", card="company", amount=180),
            PAY,
            BOOKED,
            extras=["minor pay"],
        ),
        run(
            "an announcement is no report",
            0.5,
            FLIGHT_SEARCH,
            HOLD,
            PAY,
            said("I will let you know when it is booked."),
            steps={"4": "missing"},
        ),
        run(
            "paid before the search, and nothing held",
            0.25,
            PAY,
            FLIGHT_SEARCH,
            BOOKED,
            steps={"2": "missing", "3": "out_of_order"},
        ),
    ),
    (
        change(1, "partial", date="2026-06-10"),
        change(1, "partial", destination="VIN"),
        change(3, "partial", card="personal"),
    ),
    metadata={"traveller": "t-19"},
)

ORDER = did("get_order", '{"total": 80}', order_id="A-77")
POLICY = did("check_policy", "refunds within 30 days")
REFUND_ORDER = did("refund_order", "ok", order_id="A-77", amount=75)
TAKES = said("I have refunded 75 euros. The refund takes up to five days.")
REFUND = ContractCase(
    "refund",
    (("1", ORDER), ("2", POLICY), ("3", REFUND_ORDER), ("4", TAKES)),
    (
        run(
            "a chat with the customer",
            1.0,
            asked("My order A-77 is broken."),
            said("Let me look that up."),
            ORDER,
            POLICY,
            did("refund_order", "ok", order_id="a-77", amount="80.00 EUR"),
            said("Your refund has started; expect it within one week."),
            asked("Thanks!"),
            said("You are welcome."),
        ),
        run(
            "too much",
            0.5,
            ORDER,
            POLICY,
            did("refund_order", "ok", order_id="A-77", amount=180),
            TAKES,
            steps={"3": "partial"},
        ),
        run(
            "another order",
            0.5,
            ORDER,
            POLICY,
            did("refund_order", "ok", order_id="A-78", amount=75),
            TAKES,
            steps={"3": "partial"},
        ),
        run(
            "an account deleted",
            0.5,
            ORDER,
            POLICY,
            REFUND_ORDER,
            did("delete_account", "ok", user="u-3"),
            TAKES,
            extras=["major delete_account, never allowed"],
        ),
        run(
            "the policy not checked",
            0.25,
            ORDER,
            REFUND_ORDER,
            TAKES,
            steps={"2": "missing"},
            extras=["major refund_order, without check_policy before it"],
        ),
        run(
            "a refund that did not work",
            0.5,
            ORDER,
            POLICY,
            REFUND_ORDER,
            said("I could not refund the order within the promised days."),
            steps={"4": "missing"},
        ),
        run(
            "the refund only claimed",
            0.5,
            ORDER,
            POLICY,
            said("I have refunded 75 euros of order A-77. It takes five days."),
            steps={"3": "missing"},
        ),
    ),
    (change(3, "partial", amount=81), change(3, "missing", order_id="B-1", amount=500)),
)

WEB_SEARCH = did("web_search", "3 hits", query="e-bike battery recalls 2026")
MAKER_ONE = did("read_page", "We recall 200 packs", url="https://volta.example/statement")
MAKER_TWO = did("read_page", "No defect", url="https://pedalo.example/news")
COMPARED = thought("Both admit overheating, whereas only Volta replaces the packs.")
SUMMARY = said("In short: Volta recalls 200 packs. Sources: volta.example, pedalo.example.")
EBIKES = ContractCase(
    "ebikes",
    (("1", WEB_SEARCH), ("2", MAKER_ONE), ("2", MAKER_TWO), ("3", COMPARED), ("4", SUMMARY)),
    (
        run(
            "scrolling and a second search in between",
            1.0,
            WEB_SEARCH,
            MAKER_ONE,
            did("scroll", "ok", y=800),
            did("web_search", "2 hits", query="pedalo statement"),
            MAKER_TWO,
            COMPARED,
            SUMMARY,
        ),
        run(
            "three pages",
            1.0,
            WEB_SEARCH,
            MAKER_ONE,
            MAKER_TWO,
            did("read_page", "Recall of 20", url="https://cyclo.example"),
            COMPARED,
            SUMMARY,
        ),
        run(
            "one page",
            0.5,
            WEB_SEARCH,
            MAKER_ONE,
            COMPARED,
            SUMMARY,
            steps={"2": "partial"},
        ),
        run(
            "something else searched",
            0.5,
            did("web_search", "9 hits", query="e-bike rental prices"),
            MAKER_ONE,
            MAKER_TWO,
            COMPARED,
            SUMMARY,
            steps={"1": "partial"},
        ),
        run(
            "no sources",
            0.5,
            WEB_SEARCH,
            MAKER_ONE,
            MAKER_TWO,
            COMPARED,
            said("In short: one maker recalls 200 packs."),
            steps={"4": "partial"},
        ),
        run(
            "a form filled in on the way",
            0.5,
            WEB_SEARCH,
            MAKER_ONE,
            did("fill_form", "ok", name="Jo", email="jo@mail.example"),
            MAKER_TWO,
            COMPARED,
            SUMMARY,
            extras=["major fill_form"],
        ),
        run(
            "reading before searching",
            0.25,
            MAKER_ONE,
            MAKER_TWO,
            WEB_SEARCH,
            COMPARED,
            SUMMARY,
            steps={"2": "out_of_order"},
        ),
    ),
    (change(1, "partial", query="tennis"),),
)

OPEN_SHOP = did("go_to_url", "ok", url="https://shop.example/")
TYPE_LAMP = did("input_text", "ok", index=4, text="desk lamp")
ADD_LAMP = did("click", "ok", index=9, label="Add to cart")
CONFIRM = said("The lamp is in the cart. Shall I go ahead? Please confirm.")
WEB_SHOP = ContractCase(
    "web_shop",
    (("1", OPEN_SHOP), ("2", TYPE_LAMP), ("3", ADD_LAMP), ("4", CONFIRM)),
    (
        run(
            "another address of the page, other words",
            1.0,
            did("go_to_url", "ok", url="http://www.shop.example/lamps"),
            did("input_text", "ok", index=1, text="Desk Lamp"),
            did("click", "ok", label="add to basket"),
            said("Is it OK to proceed to the payment?"),
        ),
        run(
            "it paid",
            0.5,
            OPEN_SHOP,
            TYPE_LAMP,
            ADD_LAMP,
            CONFIRM,
            did("click", "ok", index=12, label="Pay now"),
            extras=["major click, never allowed"],
        ),
        run(
            "another shop",
            0.25,
            did("go_to_url", "ok", url="https://shop.example.evil.org/"),
            TYPE_LAMP,
            ADD_LAMP,
            CONFIRM,
            steps={"1": "missing"},
            extras=["major go_to_url"],
        ),
        run(
            "an element without a label",
            0.5,
            OPEN_SHOP,
            TYPE_LAMP,
            did("click", "ok", label="9"),
            CONFIRM,
            steps={"3": "ambiguous"},
        ),
        run(
            "nobody asked",
            0.5,
            OPEN_SHOP,
            TYPE_LAMP,
            ADD_LAMP,
            said("The lamp is in the cart."),
            steps={"4": "missing"},
        ),
        run(
            "one more click",
            0.5,
            OPEN_SHOP,
            TYPE_LAMP,
            ADD_LAMP,
            did("click", "ok", label="Subscribe"),
            CONFIRM,
            extras=["major click"],
        ),
    ),
    (change(2, "missing", text="floor lamp"), change(1, "missing", url="https://store.example")),
)

ANA = did("list_events", "[]", person="Ana", day="2026-07-03")
BEN = did("list_events", "[]", person="Ben", day="2026-07-03")
BOTH = ["ana@acme.example", "ben@acme.example"]
CREATE = did("create_event", '{"id": "ev-5"}', attendees=BOTH, minutes=30)
INVITE = did("send_invitation", "sent", event_id="ev-5")
MEETING = ContractCase(
    "meeting",
    (("1", ANA), ("1", BEN), ("2", CREATE), ("3", INVITE)),
    (
        run("both calendars at once", 1.0, (BEN, ANA), CREATE, INVITE),
        run(
            "a third guest",
            0.5,
            ANA,
            BEN,
            did("create_event", '{"id": "ev-5"}', attendees=[*BOTH, "eve@x.example"], minutes=30),
            INVITE,
            steps={"2": "partial"},
        ),
        run(
            "an hour instead of half of one",
            0.5,
            ANA,
            BEN,
            did("create_event", '{"id": "ev-5"}', attendees=BOTH, minutes=60),
            INVITE,
            steps={"2": "partial"},
        ),
        run("only one calendar", 0.5, ANA, CREATE, INVITE, steps={"1": "partial"}),
        run(
            "an invitation to another event",
            0.5,
            ANA,
            BEN,
            CREATE,
            did("send_invitation", "sent", event_id="ev-6"),
            steps={"3": "partial"},
        ),
        run(
            "created first, then looked",
            0.25,
            CREATE,
            ANA,
            BEN,
            INVITE,
            steps={"2": "out_of_order"},
        ),
        run(
            "nothing but a claim",
            0.0,
            said("The meeting is set up and both are invited."),
            steps={"1": "missing", "2": "missing", "3": "missing"},
        ),
    ),
    (change(3, "partial", attendees=["ana@acme.example"]), change(4, "partial", event_id="ev-9")),
)

DRAFT = did("write_file", "ok", path="/home/jo/newsletter.md", content="Hello")
KIM = did("send_email", "ok", to="kim@list.example", attachment="newsletter.md")
LEE = did("send_email", "ok", to="lee@list.example", attachment="newsletter.md")
MAX = did("send_email", "ok", to="max@list.example", attachment="newsletter.md")
ARCHIVE = did("move_file", "ok", path="newsletter.md", target="archive/")
NEWSLETTER = ContractCase(
    "newsletter",
    (("1", DRAFT), ("2", KIM), ("2", LEE), ("2", MAX), ("3", ARCHIVE)),
    (
        run("not archived", 1.0, DRAFT, KIM, LEE, MAX, steps={"3": "missing"}),
        run("contacts looked up", 1.0, DRAFT, did("list_contacts", "3"), LEE, KIM, MAX, ARCHIVE),
        run("one left out", 0.5, DRAFT, KIM, MAX, ARCHIVE, steps={"2": "partial"}),
        run(
            "a fourth reader",
            0.5,
            DRAFT,
            KIM,
            LEE,
            MAX,
            did("send_email", "ok", to="eve@other.example", attachment="newsletter.md"),
            ARCHIVE,
            extras=["major send_email"],
        ),
        run(
            "another file",
            0.5,
            did("write_file", "ok", path="notes.md", content="Hello"),
            KIM,
            LEE,
            MAX,
            ARCHIVE,
            steps={"1": "partial"},
        ),
        run(
            "sent before it was written",
            0.25,
            KIM,
            LEE,
            MAX,
            DRAFT,
            ARCHIVE,
            steps={"2": "out_of_order"},
        ),
    ),
    (change(1, "partial", path="newsletter.txt"),),
)

TICKETS_FOUND = did("search_tickets", "[41, 57]", query="login", status="open")
LABEL_41 = did("add_label", "ok", ticket=41, label="auth")
LABEL_57 = did("add_label", "ok", ticket=57, label="auth")
POST = did("post_message", "ok", channel="#support", text="2 tickets labelled")
TICKETS = ContractCase(
    "tickets",
    (("1", TICKETS_FOUND), ("2", LABEL_41), ("2", LABEL_57), ("3", POST)),
    (
        run(
            "labelled together, posted with the other tool",
            1.0,
            TICKETS_FOUND,
            (LABEL_57, LABEL_41),
            did("slack_send", "ok", channel="support", body="Done"),
        ),
        run("one ticket left out", 0.5, TICKETS_FOUND, LABEL_41, POST, steps={"2": "partial"}),
        run(
            "a ticket that was not found",
            0.5,
            TICKETS_FOUND,
            LABEL_41,
            LABEL_57,
            did("add_label", "ok", ticket=99, label="auth"),
            POST,
            extras=["major add_label"],
        ),
        run(
            "a ticket closed",
            0.5,
            TICKETS_FOUND,
            LABEL_41,
            LABEL_57,
            did("close_ticket", "ok", ticket=41),
            POST,
            extras=["major close_ticket, never allowed"],
        ),
        run(
            "closed tickets listed",
            0.5,
            did("search_tickets", "[41, 57]", query="login", status="closed"),
            LABEL_41,
            LABEL_57,
            POST,
            steps={"1": "partial"},
        ),
        run(
            "a summary in the chat only",
            0.5,
            TICKETS_FOUND,
            LABEL_41,
            LABEL_57,
            said("I posted a summary to the channel support."),
            steps={"3": "missing"},
        ),
    ),
    (change(4, "partial", channel="random"),),
)

HAND_OVER = did("transfer_to_researcher", "figures found", topic="heat pumps")
WRITE = by("writer", did("write_draft", "ok", topic="Heat pumps in old houses"))
APPROVE = by("editor", did("approve", "ok"))
ONLINE = said("The article is now online.")
ARTICLE = ContractCase(
    "article",
    (("1", HAND_OVER), ("2", WRITE), ("3", APPROVE), ("4", ONLINE)),
    (
        run(
            "the researcher's own calls",
            1.0,
            HAND_OVER,
            nest_under("e1", by("researcher", did("web_search", "5 hits", q="heat pump sales"))),
            nest_under("e1", by("researcher", did("read_page", "text", url="https://ea.example"))),
            WRITE,
            APPROVE,
            ONLINE,
        ),
        run(
            "the researcher deletes a page",
            0.5,
            HAND_OVER,
            nest_under("e1", by("researcher", did("delete_page", "ok", url="https://ea.example"))),
            WRITE,
            APPROVE,
            ONLINE,
            extras=["major delete_page, never allowed"],
        ),
        run(
            "the writer approves",
            0.25,
            HAND_OVER,
            WRITE,
            by("writer", did("approve", "ok")),
            ONLINE,
            steps={"3": "missing"},
            extras=["major approve"],
        ),
        run(
            "another topic",
            0.5,
            HAND_OVER,
            by("writer", did("write_draft", "ok", topic="Solar roofs")),
            APPROVE,
            ONLINE,
            steps={"2": "partial"},
        ),
        run(
            "approved before it was written",
            0.25,
            HAND_OVER,
            APPROVE,
            WRITE,
            ONLINE,
            steps={"3": "out_of_order"},
        ),
        run(
            "no research, not online",
            0.25,
            WRITE,
            APPROVE,
            said("The article is not ready; I could not get it online."),
            steps={"1": "missing", "4": "missing"},
        ),
    ),
    (change(2, "partial", topic="Wind power"),),
)

LOW = did("check_stock", '{"available": 3}', item="KX-40")
PLENTY = did("check_stock", '{"available": 30}', item="KX-40")
REORDER = did("reorder", "ok", item="KX-40", quantity=20)
FINE = did("set_status", "ok", item="KX-40", status="fine")
LOG = did("append_log", "ok", line="checked")
STOCK = ContractCase(
    "stock",
    (("1", LOW), ("2", REORDER), ("4", LOG)),
    (
        run("enough left", 1.0, PLENTY, FINE, LOG),
        run("enough left, nothing marked", 0.5, PLENTY, LOG, steps={"3": "missing"}),
        run(
            "reordered although there is enough",
            0.5,
            PLENTY,
            REORDER,
            FINE,
            LOG,
            extras=["major reorder"],
        ),
        run("few left, not reordered", 0.5, LOW, LOG, steps={"2": "missing"}),
        run(
            "few left, marked as fine as well",
            0.5,
            LOW,
            REORDER,
            FINE,
            LOG,
            extras=["major set_status"],
        ),
        run(
            "the result is text",
            0.5,
            did("check_stock", "a few", item="KX-40"),
            REORDER,
            LOG,
            steps={"3": "ambiguous"},
        ),
        run(
            "the result is text, nothing done",
            0.25,
            did("check_stock", "a few", item="KX-40"),
            LOG,
            steps={"2": "ambiguous", "3": "ambiguous"},
        ),
    ),
    (change(2, "partial", quantity=200), change(2, "partial", item="KX-41")),
)

HOTELS = did(
    "find_hotels", '[{"id": "h1"}, {"id": "h2"}]', city="Ghent", nights=2, **{"from": "2026-08-20"}
)
WHICH = said("I found h1 and h2. Which one do you prefer?")
ROOM = did("book_room", "ok", hotel_id="h2", nights=2)
ROOM_BOOKED = said("Your room in Ghent is booked.")
HOTEL = ContractCase(
    "hotel",
    (("1", HOTELS), ("2", WHICH), ("3", ROOM), ("4", ROOM_BOOKED)),
    (
        run(
            "a real conversation",
            1.0,
            asked("A hotel in Ghent, please."),
            did(
                "find_hotels",
                '[{"id": "h1"}, {"id": "h2"}]',
                city="Gent",
                nights="two",
                **{"from": "20.08.2026"},
            ),
            said("There are two hotels. Could you choose one?"),
            asked("The second."),
            ROOM,
            said("Done, the hotel is reserved."),
        ),
        run("not asked", 0.5, HOTELS, ROOM, ROOM_BOOKED, steps={"2": "missing"}),
        run(
            "asked after booking",
            0.25,
            HOTELS,
            ROOM,
            WHICH,
            ROOM_BOOKED,
            steps={"3": "out_of_order"},
        ),
        run(
            "three nights",
            0.5,
            HOTELS,
            WHICH,
            did("book_room", "ok", hotel_id="h2", nights=3),
            ROOM_BOOKED,
            steps={"3": "partial"},
        ),
        run(
            "another city",
            0.5,
            did("find_hotels", '[{"id": "h2"}]', city="Bruges", nights=2, **{"from": "2026-08-20"}),
            WHICH,
            ROOM,
            ROOM_BOOKED,
            steps={"1": "partial"},
        ),
        run(
            "one message for all",
            0.5,
            HOTELS,
            said("Which one do you prefer? Your room in Ghent is booked."),
            steps={"3": "missing"},
        ),
    ),
    (change(3, "partial", hotel_id="h7"), change(1, "partial", nights=1)),
)

FORECASTS = [did("get_forecast", '{"c": 21}', city=city) for city in ("Oslo", "Rome", "Cork")]
POLLEN = did("get_pollen", "low", city="Rome")
WARMEST = said("Rome is the warmest city, with 31 degrees.")
WEATHER = ContractCase(
    "weather",
    (("1", FORECASTS[0]), ("1", FORECASTS[1]), ("1", FORECASTS[2]), ("2", POLLEN), ("3", WARMEST)),
    (
        run("all at once", 1.0, (*FORECASTS, POLLEN), WARMEST),
        run("pollen first", 1.0, POLLEN, *FORECASTS, WARMEST),
        run("two cities", 0.5, *FORECASTS[:2], POLLEN, WARMEST, steps={"1": "partial"}),
        run(
            "no temperature",
            0.5,
            *FORECASTS,
            POLLEN,
            said("Rome is the warmest city."),
            steps={"3": "partial"},
        ),
        run(
            "a fourth city",
            0.5,
            *FORECASTS,
            did("get_forecast", "9", city="Bern"),
            POLLEN,
            WARMEST,
            extras=["major get_forecast"],
        ),
        run(
            "pollen of another city",
            0.5,
            *FORECASTS,
            did("get_pollen", "low", city="Oslo"),
            WARMEST,
            steps={"2": "partial"},
        ),
    ),
    (change(4, "partial", city="Cork"),),
)

BIRTH = said("Could you tell me your date of birth, please?")
VERIFY = did("verify_identity", '{"ok": true}', birth_date="1980-02-01")
LINK = did("send_reset_link", "sent", channel="sms", phone="+32 470")
PASSWORD = ContractCase(
    "password",
    (("1", BIRTH), ("2", VERIFY), ("3", LINK)),
    (
        run(
            "a call with the customer",
            1.0,
            asked("I forgot my password."),
            said("When were you born?"),
            asked("1 February 1980"),
            VERIFY,
            did("send_reset_link", "sent", channel="text message"),
            said("The link is on its way."),
        ),
        run(
            "the password in the call",
            0.5,
            BIRTH,
            VERIFY,
            did("send_reset_link", "sent", channel="sms", password="hunter2"),
            steps={"3": "partial"},
        ),
        run(
            "by e-mail",
            0.5,
            BIRTH,
            VERIFY,
            did("send_reset_link", "sent", channel="email"),
            steps={"3": "partial"},
        ),
        run(
            "both in one turn",
            0.5,
            BIRTH,
            (VERIFY, LINK),
            extras=["major send_reset_link, without verify_identity before it"],
        ),
        run(
            "not verified",
            0.25,
            BIRTH,
            LINK,
            steps={"2": "missing"},
            extras=["major send_reset_link, without verify_identity before it"],
        ),
        run(
            "not asked",
            0.5,
            said("I have your date of birth on file."),
            VERIFY,
            LINK,
            steps={"1": "partial"},
        ),
    ),
)

OUTLINE = thought("Outline: history of tea, brewing, health.")
POST_WRITTEN = did("write_post", "ok", title="Tea for beginners")
PUBLISH = did("publish_post", '{"link": "https://b.example/tea"}', tags=["drinks"])
SHARE_ONE = did("share_link", "ok", link="https://b.example/tea", group="tea lovers")
SHARE_TWO = did("share_link", "ok", link="https://b.example/tea", group="cooks")
BLOG = ContractCase(
    "blog",
    (
        ("1.1", OUTLINE),
        ("1.2", POST_WRITTEN),
        ("2", PUBLISH),
        ("3", SHARE_ONE),
        ("3", SHARE_TWO),
    ),
    (
        run(
            "a to-do list, the other name of the tool, and a closing call",
            0.75,
            noted("todo", items=["outline", "write"]),
            OUTLINE,
            POST_WRITTEN,
            did("publish_post_v2", '{"link": "https://b.example/tea"}', tags="drinks"),
            SHARE_ONE,
            SHARE_TWO,
            did("finish", "ok"),
            extras=["minor finish"],
        ),
        run("shared once", 0.5, OUTLINE, POST_WRITTEN, PUBLISH, SHARE_ONE, steps={"3": "partial"}),
        run(
            "shared three times",
            0.5,
            OUTLINE,
            POST_WRITTEN,
            PUBLISH,
            SHARE_ONE,
            SHARE_TWO,
            did("share_link", "ok", link="https://b.example/tea", group="all"),
            extras=["major share_link"],
        ),
        run(
            "another tag as well",
            0.5,
            OUTLINE,
            POST_WRITTEN,
            did("publish_post", '{"link": "https://b.example/tea"}', tags=["drinks", "ads"]),
            SHARE_ONE,
            SHARE_TWO,
            steps={"2": "partial"},
        ),
        run(
            "no outline", 0.5, POST_WRITTEN, PUBLISH, SHARE_ONE, SHARE_TWO, steps={"1.1": "missing"}
        ),
        run(
            "another link shared",
            0.5,
            OUTLINE,
            POST_WRITTEN,
            PUBLISH,
            SHARE_ONE,
            did("share_link", "ok", link="https://spam.example", group="cooks"),
            steps={"3": "partial"},
        ),
    ),
    (change(2, "partial", title="Coffee for beginners"),),
)

EVERYDAY_CASES = (
    FLIGHT,
    REFUND,
    EBIKES,
    WEB_SHOP,
    MEETING,
    NEWSLETTER,
    TICKETS,
    ARTICLE,
    STOCK,
    HOTEL,
    WEATHER,
    PASSWORD,
    BLOG,
)
