"""Conditions, options, loops and choices of a step."""

from __future__ import annotations

import pytest

from planproof.planning.step_builder import make_step


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("If the build fails, roll back", "the build fails"),
        ("If the build fails then roll back", "the build fails"),
        ("If the build fails: roll back", "the build fails"),
        ("**If the build fails**, roll back", "the build fails**"),
        ("When the user agrees, book it", "the user agrees"),
        ("Finally, unless it is empty, delete the folder", "it is empty"),
        ("In case it is slow, try again", "it is slow"),
        ("Should the card be too small, say so", "the card be too small"),
        ("Roll back if the build fails", "the build fails"),
        ("Roll back only if the build fails.", "the build fails"),
        ("Roll back unless the build passes; then stop", None),
        ("Roll back unless the build passes, as agreed", "the build passes"),
        ("If it fails roll back", "it fails roll back"),
        ("Check if the file exists", None),
        ("Find out if it is open", None),
        ("Mail it if necessary", None),
        ("If needed, mail it", None),
        ("Display a message when 'Dog' is clicked", None),
        ("Run the tests. If they fail, fix them.", None),
        ("Test it and deploy it if green", None),
        ("Tell the user, repeating it if asked", None),
        ("Once it is done, book it", None),
        ("Read the file", None),
        ("If", None),
    ],
)
def test_the_condition_of_a_step(text: str, condition: str | None) -> None:
    assert make_step("1", text).condition == condition


@pytest.mark.parametrize(
    "text",
    [
        "Optionally, mail the log",
        "Mail the log (optional)",
        "[Optional] Mail the log",
        "Optional: mail the log",
        "If needed, mail the log",
        "Mail the log if necessary",
        "Mail the log as needed",
        "You may mail the log",
        "WebSurfer may also search the web",
    ],
)
def test_an_optional_step(text: str) -> None:
    assert make_step("1", text).optional


@pytest.mark.parametrize(
    "text",
    [
        "Mail the log",
        "Format it as a list, as required",
        "Run the tests and fix issues if needed",
        "Decide which of the two may be cancelled",
        "Look for flights on May 22",
        "The user may not agree",
        "Find tests that may fail",
    ],
)
def test_a_step_that_must_be_done(text: str) -> None:
    assert not make_step("1", text).optional


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("Repeat until it converges", True),
        ("Repeat steps 2 and 3 three times", True),
        ("For each country, sum it up", True),
        ("Keep trying the door", True),
        ("Continue to search", True),
        ("Inspect each table", True),
        ("Check them one by one", True),
        ("For all files, count the lines", True),
        ("Repeat the search", False),
        ("Look for all files", False),
        ("Walk the Valley Loop Trail", False),
        ("Report the refund for each and say so", False),
        ("Read the file", False),
    ],
)
def test_a_loop(text: str, loops: bool) -> None:
    assert make_step("1", text).loop is loops


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("Search Google or Bing for it", ("Google", "Bing")),
        ("Use either the API or the website to get it", ("the API", "the website")),
        ("Either call the user or send an email", ("call the user", "send an email")),
        ("Call the user or send an email, then stop", ("Call the user", "send an email")),
        ("Check for CLAUDE.md, README.md, or rule files", ("CLAUDE.md", "README.md", "rule files")),
        ("Get it from sites like MTG or TCG", ("MTG", "TCG")),
        ("Find the name or the number of it", ("name", "the number")),
        ("Find the dataset or source on it", ("dataset", "source")),
        ("Read it; ask for email or name", ("email", "name")),
        ("Ask for “a or b”", ()),
        ("Find 3 or more of them", ()),
        ("Check whether it is red or blue", ()),
        ("Say that it cannot be refunded or reordered", ()),
        ("If it is red or blue, stop", ()),
        ("Ask again or else stop", ()),
        ("Pick red or red", ()),
        ("or b", ()),
        (" or b", ()),
        ("x or ", ()),
        ("Read the file", ()),
    ],
)
def test_choices(text: str, choices: tuple[str, ...]) -> None:
    assert make_step("1", text).choices == choices


def test_given_fields_are_kept() -> None:
    step = make_step("2.1", "Do it", parent="2", condition="x", optional=True, free_order=True)

    assert (step.number, step.text, step.parent) == ("2.1", "Do it", "2")
    assert (step.condition, step.optional, step.free_order) == ("x", True, True)
    assert step.parts == ("Do it",)
