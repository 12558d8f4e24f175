"""Sanitize text from traces for display: escape invisible characters, redact secrets."""

from __future__ import annotations

import re
import unicodedata

# Joiners needed by scripts such as Persian and by emoji; they can't reorder or hide text.
_HARMLESS_FORMAT = "\u200c\u200d"
_NON_ASCII_OR_CONTROL = re.compile(r"[^ -~\n\t]")
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn"}


def to_one_line(text: str) -> str:
    """Collapse white space, and escape control, direction and other invisible characters."""
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return "".join(map(_escape_character, folded))


def escape_invisible(text: str) -> str:
    """Escape the same characters as `to_one_line`, but keep line breaks and tabs."""
    return _NON_ASCII_OR_CONTROL.sub(lambda match: _escape_character(match[0]), text)


def _escape_character(character: str) -> str:
    if (
        character in _HARMLESS_FORMAT
        or unicodedata.category(character) not in _INVISIBLE_CATEGORIES
    ):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


MASK = "[redacted]"

# Every pattern keeps the part that identifies the kind of secret, and drops the secret itself.
_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)"
    r".*?(-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_KNOWN_KEYS = re.compile(
    r"\b(sk-(?:ant-|proj-|or-)?|sk_live_|rk_live_|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|"
    r"hf_|npm_|pypi-|AIza|AKIA|ASIA|ya29\.|SG\.)[A-Za-z0-9_.\-]{14,}"
)
_JSON_WEB_TOKEN = re.compile(r"\b(eyJ)[\w\-]{8,}\.[\w\-]{8,}(?:\.[\w\-]*)?")
_AUTHORIZATION = re.compile(r"\b(bearer|basic)(\s+)[A-Za-z0-9+/=_.~\-]{12,}", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@\"']{0,100}:)[^\s/@\"']{1,200}@")
_NAMED_SECRET = re.compile(
    r"((?:password|passwd|passphrase|secret|(?<![a-z])token|(?:api|access|private)[_\-]?key)"
    r"(?:[_\-]\w{1,20})?(?:\\*[\"'])?\s{0,3}[:=]\s{0,3})"
    # Quoted, often with backslashes since it is JSON inside JSON, or a bare word.
    r"(?:(\\*[\"'])(?!\[redacted).{3,300}?(\2|\Z)|(?!bearer|basic|\[redacted)[^\s\"'\\,;&})\]]{3,})",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Mask API keys, tokens, private keys and passwords."""
    # Searching for a few letters is many times faster than trying a pattern at every position.
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(rf"\1{MASK}\2", text)
    text = _KNOWN_KEYS.sub(rf"\1{MASK}", text)
    if "eyJ" in text:
        text = _JSON_WEB_TOKEN.sub(rf"\1{MASK}", text)
    text = _AUTHORIZATION.sub(rf"\1\2{MASK}", text)
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1{MASK}@", text)
    return _NAMED_SECRET.sub(_mask_value, text)


def _mask_value(match: re.Match[str]) -> str:
    name, opening, closing = match.groups(default="")
    return f"{name}{opening}{MASK}{closing}"
