"""Extract terms for comparison: stems, parts of identifiers, and concepts that words share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import filterfalse, pairwise
from typing import NamedTuple

from Stemmer import Stemmer

from planproof.core.knowledge import read_knowledge

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_find_alphanumerics = re.compile(r"[^\W_]+").findall
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_CODE = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9]{3,}")
_FUNCTION_WORDS = {name: frozenset(words) for name, words in read_knowledge("function_words.txt")}
_NON_CONTENT_WORDS, _STOPWORDS = _FUNCTION_WORDS["non_content"], _FUNCTION_WORDS["stopwords"]
_ASCII_MARKS_TO_SPACES = bytes(
    byte if byte > 127 or chr(byte).isalnum() else 32 for byte in range(256)
)
_MIN_LETTERS, _MIN_WORDS, _MIN_SHARE = 8, 6, 8
_MAX_CACHE_SIZE = 32_768
# Without its own cache it has no state, so threads can share it.
_STEMMER = Stemmer("english", 0)


def stem(word: str) -> str:
    """Return the stem of one lower-case word."""
    return _STEMMER.stemWord(word)


def is_function_word(word: str) -> bool:
    """Return whether a word links others and says nothing itself: an article, a preposition."""
    return word.lower() in _STOPWORDS


@lru_cache(maxsize=8_192)
def _stem_whole_token(token: str) -> str:
    return stem(token.lower())


@cache
def _load_non_content_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in _NON_CONTENT_WORDS) | {"go to"}


@cache
def _load_concepts() -> tuple[dict[str, tuple[str, ...]], dict[tuple[str, str], tuple[str, ...]]]:
    """Return stem -> concepts, and pair of stems -> concepts ("call off" -> cancel)."""
    single: dict[str, list[str]] = {}
    pairs: dict[tuple[str, str], list[str]] = {}
    for concept, words in read_knowledge("concepts.txt"):
        for word in words:
            stems = [stem(part) for part in word.lower().split("_")]
            if len(stems) == 1:
                single.setdefault(stems[0], []).append(f"~{concept}")
            elif len(stems) == 2:
                pairs.setdefault((stems[0], stems[1]), []).append(f"~{concept}")
    return (
        {key: tuple(dict.fromkeys(concepts)) for key, concepts in single.items()},
        {key: tuple(dict.fromkeys(concepts)) for key, concepts in pairs.items()},
    )


@cache
def load_command_terms() -> dict[str, frozenset[str]]:
    """Return what each known command or keyword does, as terms."""
    return {name: extract_terms(" ".join(words)) for name, words in read_knowledge("commands.txt")}


def split_tokens(text: str) -> list[str]:
    """Split a text into runs of letters and digits, as written but in no particular order."""
    # For ASCII, a translation table is several times faster than a pattern.
    if text.isascii():
        return text.encode().translate(_ASCII_MARKS_TO_SPACES).decode().split()
    spaced = text.encode("utf-8", "surrogatepass").translate(_ASCII_MARKS_TO_SPACES)
    tokens = spaced.decode("utf-8", "surrogatepass").split()
    ascii_tokens = list(filter(str.isascii, tokens))
    for token in filterfalse(str.isascii, tokens):
        ascii_tokens += _find_alphanumerics(token)
    return ascii_tokens


@lru_cache(maxsize=8_192)
def stem_token(token: str) -> tuple[str, ...]:
    """Return the stems of a token's parts ("getOrder" -> get, order); a code stays whole."""
    if _CODE.fullmatch(token):
        return (token.lower(),)
    stems: list[str] = []
    subwords = _CAMEL.findall(token)
    if len(subwords) > 1 and token.isalpha():
        stems.append(stem(token.lower()))
    for subword in subwords:
        lowered = subword.lower()
        if lowered in _STOPWORDS or (len(lowered) == 1 and not lowered.isdigit()):
            continue
        stems.append(stem(lowered))
    return tuple(dict.fromkeys(stems))


class _TokenTermCache(dict[str, frozenset[str]]):
    """Token -> its stems and their concepts; computed once per token."""

    def __missing__(self, token: str) -> frozenset[str]:
        if len(self) >= _MAX_CACHE_SIZE:
            self.clear()
        single, _ = _load_concepts()
        stems = stem_token(token)
        terms = self[token] = frozenset(stems).union(*(single.get(word, ()) for word in stems))
        return terms


TOKEN_TERMS = _TokenTermCache()
"""The terms of each token. Traces repeat their words, so most accesses are cache hits."""
_get_token_terms = TOKEN_TERMS.__getitem__


def collect_terms(tokens: Iterable[str], others: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the stems of tokens and their concepts, together with `others`."""
    return others.union(*map(_get_token_terms, tokens))


@lru_cache(maxsize=8_192)
def extract_terms(text: str) -> frozenset[str]:
    """Return the stems of a short text, and the concepts of the stems and of pairs of them."""
    _, pairs = _load_concepts()
    tokens = _TOKEN.findall(text)
    stems = map(_stem_whole_token, tokens)
    phrases = [pairs[pair] for pair in pairwise(stems) if pair in pairs]
    return collect_terms(tokens).union(*phrases)


class Word(NamedTuple):
    """A word of a step: the text to find, and the concepts that can replace it."""

    text: str
    concepts: tuple[str, ...]
    stems: tuple[str, ...]


def extract_words(text: str) -> tuple[Word, ...]:
    """Return the distinct words of a step, each with its stems and concepts."""
    single, pairs = _load_concepts()
    tokens = _TOKEN.findall(text)
    lowered = [_stem_whole_token(token) for token in tokens]
    words: dict[str, Word] = {}
    skip = False
    for index, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        pair = (lowered[index], lowered[index + 1]) if index + 1 < len(lowered) else None
        if pair in pairs:
            phrase = f"{pair[0]} {pair[1]}"
            words[phrase] = Word(phrase, pairs[pair], (pair[0], pair[1]))
            skip = True
            continue
        for subword in stem_token(token):
            words.setdefault(subword, Word(subword, single.get(subword, ()), (subword,)))
    content_words = tuple(
        word for word in words.values() if word.text not in _load_non_content_stems()
    )
    return content_words or tuple(words.values())


def split_identifier(name: str) -> list[str]:
    """Split an identifier into lower-case parts, in order."""
    return [subword.lower() for token in _TOKEN.findall(name) for subword in _CAMEL.findall(token)]


@cache
def _load_languages() -> dict[str, tuple[str, ...]]:
    """Return the languages other than English that have a function word, by word."""
    languages: dict[str, list[str]] = {}
    for language, words in read_knowledge("other_languages.txt"):
        for word in words:
            languages.setdefault(word, []).append(language)
    return {word: tuple(names) for word, names in languages.items() if word not in _STOPWORDS}


@lru_cache(maxsize=256)
def detect_other_language(text: str) -> str | None:
    """Return the language of a text that is clearly not English; None otherwise.

    Told by its letters or its function words; a few words of prose are needed.
    """
    letters = [character for character in text if character.isalpha()]
    foreign = sum(character > "\u024f" for character in letters)
    if len(letters) >= _MIN_LETTERS and 2 * foreign > len(letters):
        return "a script other than Latin"
    words = text.lower().split()
    found = [language for word in words for language in _load_languages().get(word, ())]
    if len(words) < _MIN_WORDS or not found:
        return None
    language = max(sorted(set(found)), key=found.count)
    count = found.count(language)
    english = sum(word in _STOPWORDS for word in words)
    return language if count > 2 * english and _MIN_SHARE * count >= len(words) else None
