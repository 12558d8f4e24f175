"""A score in digits three lines high."""

from __future__ import annotations

_DIGITS = {
    "0": ("┏━┓", "┃ ┃", "┗━┛"),
    "1": ("╺┓ ", " ┃ ", "╺┻╸"),
    "2": ("╺━┓", "┏━┛", "┗━╸"),
    "3": ("╺━┓", " ━┫", "╺━┛"),
    "4": ("╻ ╻", "┗━┫", "  ╹"),
    "5": ("┏━╸", "┗━┓", "╺━┛"),
    "6": ("┏━╸", "┣━┓", "┗━┛"),
    "7": ("╺━┓", "  ┃", "  ╹"),
    "8": ("┏━┓", "┣━┫", "┗━┛"),
    "9": ("┏━┓", "┗━┫", "╺━┛"),
    ".": (" ", " ", "▖"),
}


def render_big_digits(digits: str) -> tuple[str, str, str]:
    """Three lines that show a number."""
    top, middle, bottom = zip(*(_DIGITS[digit] for digit in digits), strict=True)
    return " ".join(top), " ".join(middle), " ".join(bottom)
