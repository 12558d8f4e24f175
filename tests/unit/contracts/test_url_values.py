"""URLs, compared by host, path and query."""

from __future__ import annotations

import pytest

from planproof.contracts.url_values import check_url
from planproof.core.contract import Truth


@pytest.mark.parametrize(
    ("wanted", "value", "truth"),
    [
        ("https://x.com/a", "http://www.x.com/a/", Truth.MATCH),
        ("https://x.com/a", "https://x.com/a?utm=1#top", Truth.MATCH),
        ("https://x.com/a", "https://x.com/ab", Truth.MISMATCH),
        ("x.com", "https://x.com/anything?x=1", Truth.MATCH),
        ("x.com", "X.COM.", Truth.MATCH),
        ("x.com", "https://x.com:443/", Truth.MATCH),
        ("x.com", "https://x.com:8080/", Truth.MISMATCH),
        ("x.com", "https://x.com.evil.org", Truth.MISMATCH),
        ("x.com", "https://x.com@evil.org/", Truth.MISMATCH),
        ("x.com", "https://evil.org/x.com", Truth.MISMATCH),
        ("x.com", "https://evil.org\\@x.com", Truth.MISMATCH),
        ("x.com", "https://evil.org?x.com", Truth.MISMATCH),
        ("x.com", "https://sub.x.com", Truth.MISMATCH),
        ("x.com", "https://ｘ.com", Truth.MATCH),
        ("x.com/a", "go to x.com/a now", Truth.MATCH),
        ("x.com", "https://x.com and https://evil.org", Truth.UNKNOWN),
        ("https://x.com/s?q=a+b", "https://x.com/s?lang=en&q=a%20b", Truth.MATCH),
        ("https://x.com/s?q=a", "https://x.com/s?q=ab", Truth.MISMATCH),
        ("/cart", "https://x.com/cart", Truth.MATCH),
        ("http://localhost:8000/x", "localhost:8000/x", Truth.MATCH),
        ("x.com/%E9", "x.com/%E9", Truth.MATCH),
        ("not a url", "https://x.com", Truth.UNKNOWN),
        ("x.com", "hello", Truth.MISMATCH),
        ("x.com", "https://", Truth.MISMATCH),
        ("x.com", "x.com " + "a" * 20_000, Truth.MISMATCH),
    ],
)
def test_urls_are_compared(wanted: str, value: str, truth: Truth) -> None:
    assert check_url(wanted, value) is truth
