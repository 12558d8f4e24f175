"""What a step asks for: split where a new thing to do begins, and nowhere else."""
# ruff: noqa: E501 - a table reads best with one row a line

from __future__ import annotations

import pytest

from planproof.planning.masking import BLANK, mask_quotes
from planproof.planning.step_parts import split_required_parts, split_sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Search the web and tell the user", ["Search the web", "tell the user"]),
        ("Open the page, then list all links", ["Open the page", "list all links"]),
        ("Open the page and then submit", ["Open the page", "submit"]),
        ("Update ledger; request a check", ["Update ledger", "request a check"]),
        ("Search flights -> pick one → book it", ["Search flights", "pick one", "book it"]),
        (
            "Get the ID, look at the account, and open the last booking.",
            ["Get the ID", "look at the account", "open the last booking"],
        ),
        ("Run the tests and, if they fail, fix the code.", ["Run the tests", "if they fail, fix the code"]),
        ("Run tests; if they fail, fix them", ["Run tests", "if they fail, fix them"]),
        ("If it is missing, create it and tell the user", ["If it is missing, create it", "tell the user"]),
        ("Read the file. Carefully check its format.", ["Read the file", "Carefully check its format"]),
        ("Run it, saving the output to log.txt", ["Run it", "saving the output to log.txt"]),
        ("Refuse the refund, citing the policy", ["Refuse the refund", "citing the policy"]),
        ("Cancel it, then notifying the user", ["Cancel it", "notifying the user"]),
        ("I will ask Bo for it, and Bo will search Bing", ["I will ask Bo for it", "Bo will search Bing"]),
        ("The lead asks Bo for it, and the agent clicks the link", ["The lead asks Bo for it", "the agent clicks the link"]),
        ("The lead updates its notes and tells the team", ["The lead updates its notes", "tells the team"]),
        ("The lead tries it and identifies the cause", ["The lead tries it", "identifies the cause"]),
        ("Ask the user to confirm it and to give a reason", ["Ask the user to confirm it", "to give a reason"]),
        ("Take stock, and run main.py", ["Take stock", "run main.py"]),
        ("Take stock, and run `ls`", ["Take stock", "run `ls`"]),
        ("Take stock and call get_user", ["Take stock", "call get_user"]),
        ("Do the work and list quickly what is left", ["Do the work", "list quickly what is left"]),
        ("Do the work, logging it all", ["Do the work", "logging it all"]),
        ("Let it run, and call on both", ["Let it run", "call on both"]),
        ("**Check it:**\n  - Open the page.\n  - Read the date and note it.", ["Open the page", "Read the date", "note it"]),
        ("Check it:\n 1. Open the page.\n 2) Read the date.", ["Open the page", "Read the date"]),
        ("Compile the list.\n\nOnce done, send the list.", ["Compile the list", "Once done, send the list"]),
        ("Do it. The team will review it.", ["Do it", "The team will review it"]),
    ],
)  # fmt: skip
def test_several_parts(text: str, parts: list[str]) -> None:
    assert list(split_required_parts(text)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Move it to flights HAT057 and HAT146",
        "Identify and extract the dates",
        "Collect, clean and plot the data",
        "Collect, clean, and plot the data",
        "Identify build, test, and lint commands",
        "Review the code to find and fix bugs",
        "Return the list of steps with timestamps",
        "Review testing coverage and practices",
        "Search for “a and tell b, then list all”",
        "Call search({'q': 'a, then list all'})",
        "Ask for the email, to verify who they are",
        "Make sure that the user can log in and see the page",
        "Write a script that imports it and shows its value",
        "Run the version that selects both and keeps the rest",
        "Set out the goods, their prices and the card that gets the money",
        "Find all files, including hidden ones",
        "Do it, reporting",
        "List the makers, with e.g. Ford and Fiat vs. the rest",
        "Find the number for R. G. Arendt.",
        "Wait and see",
        "Then",
        "Also please",
        "After that and",
        "then and then list all",
        "If it fails",
        "Count them. This will give the number.",
        "Find it.\n - For example, there may be two.",
        "To be clear",
        "Take stock and list, as ever",
        "Take stock and list ->",
        "do and",
        "Find the tests to run and list all of them",
        "Quietly",
        "Do the work and quietly",
        "Do the work and list ) all",
        ", list all",
        "Find what to test and list all of it",
    ],
)
def test_one_part_is_the_whole_text(text: str) -> None:
    assert split_required_parts(text) == (text,)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Run the linter and fix issues if needed", ["Run the linter"]),
        ("Optionally, mail the log", ["Optionally, mail the log"]),
        ("Print the sum.\n\nHere's the command:\n```\nls\n```", ["Print the sum."]),
        ("Print the sum and stop it.\n\nNote: this is short.", ["Print the sum", "stop it"]),
        ("Look it up.\n---", ["Look it up."]),
        ("Find it and keep it.\n - For example, two.\n - This will help.", ["Find it", "keep it"]),
        ("Count them and stop it. This will give the number.", ["Count them", "stop it"]),
        ("Count them. Numbers are dull. List them.", ["Count them. Numbers are dull", "List them"]),
    ],
)
def test_text_that_is_not_required_is_not_a_part(text: str, parts: list[str]) -> None:
    assert list(split_required_parts(text)) == parts


def test_surrounding_whitespace_is_not_a_part() -> None:
    assert split_required_parts("Do the work and list ") == ("Do the work and list",)


def test_a_document_is_kept_whole() -> None:
    text = "Search it and tell the user. " * 500

    assert split_required_parts(text) == (text,)


def test_sentences_end_where_they_end() -> None:
    text = "Use e.g. Bing. Ask Dr. No about v1.2. Say “Stop. Now.” Then go!"

    assert split_sentences(text) == [
        "Use e.g. Bing.",
        "Ask Dr. No about v1.2.",
        "Say “Stop. Now.” Then go!",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a (b) c", "a ### c"),
        ("a [b (c) d] e", "a ######### e"),
        ("a 'b c' d", "a ##### d"),
        ('a "b" d', "a ### d"),
        ("a `b` d", "a ### d"),
        ("the user's and Bo's", "the user's and Bo's"),
        ("a 'it isn't' b", "a ########## b"),
        ("a ‘b’ c", "a ### c"),
        ("a “b” c", "a ### c"),
        ("a ( b", "a ( b"),
        ("a ) b", "a ) b"),
        ("a (b] c)", "a ######"),
        ("a 'b 'c", "a 'b 'c"),
        ("in 5' and", "in 5' and"),
    ],
)
def test_what_is_quoted_or_in_brackets_is_blanked(text: str, shown: str) -> None:
    assert mask_quotes(text) == shown.replace("#", BLANK)
