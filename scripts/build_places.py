"""Write the codes of airports, countries and states from data made for them.

The sources are not needed otherwise, so they are no dependencies:

    python -m pip install airportsdata iso3166 us
    python -m scripts.build_places
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unicodedata import combining, normalize

from planproof.core.knowledge import read_knowledge

_FILE = Path(__file__).parents[1] / "src/planproof/core/knowledge/places.txt"
_SOURCES = ("airportsdata", "iso3166", "us")
_SHORTENED = (" (the)", " (the Republic of)", " (Islamic Republic of)", " (Republic of)")


def build_places() -> str:
    """Return the file: a code in lower case, and the names of the place."""
    names_by_code: dict[str, list[str]] = {}
    words = _load_function_words()
    airports: dict[str, dict[str, Any]] = import_module("airportsdata").load("IATA")
    for code, airport in airports.items():
        _add(names_by_code, code, [airport["city"], *airport["city"].replace("/", "-").split("-")])
    for country in import_module("iso3166").countries:
        name = country.name
        for ending in _SHORTENED:
            name = name.removesuffix(ending)
        # A code such as "in" or "no" is also a word; that of three letters hardly ever is.
        codes = (country.alpha3, country.alpha2)
        for code in codes:
            if code.lower() not in words:
                _add(names_by_code, code, [country.apolitical_name, name])
    for state in import_module("us").states.STATES:
        if state.abbr.lower() not in words:
            _add(names_by_code, state.abbr, [state.name])
    sources = ", ".join(f"{source} {version(source)}" for source in _SOURCES)
    lines = [
        '# Codes of airports (IATA), countries (ISO 3166-1) and US states, "code: name, name".',
        f"# Written by scripts/build_places.py from the packages {sources}.",
        "# Codes that are function words of English or other languages are left out.",
    ]
    lines += [f"{code}: {', '.join(names_by_code[code])}" for code in sorted(names_by_code)]
    return "\n".join(lines) + "\n"


def _load_function_words() -> frozenset[str]:
    files = ("function_words.txt", "other_languages.txt")
    return frozenset(word for file in files for _, words in read_knowledge(file) for word in words)


def _add(names_by_code: dict[str, list[str]], code: str, names: list[str]) -> None:
    for name in map(_fold, names):
        known = names_by_code.setdefault(code.lower(), []) if len(name) > 2 else [name]
        if name not in known:
            known.append(name)


def _fold(name: str) -> str:
    letters = normalize("NFKD", name.lower())
    return " ".join("".join(c for c in letters if not combining(c)).replace(",", " ").split())


if __name__ == "__main__":
    _FILE.write_text(build_places(), encoding="utf-8")
