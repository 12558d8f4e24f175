"""What looks like a secret is masked; what does not is left alone."""

from __future__ import annotations

import time

import pytest

from planproof.reports.plain_text import MASK, redact

TOKEN = "Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OQ"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"use sk-{TOKEN} now", f"use sk-{MASK} now"),
        (f"sk-ant-api03-{TOKEN}", f"sk-ant-{MASK}"),
        (f"key ghp_{TOKEN}", f"key ghp_{MASK}"),
        (f"AKIA{'A1' * 8}", f"AKIA{MASK}"),
        (f"xoxb-1234567890-{TOKEN}", f"xoxb-{MASK}"),
        (f"Authorization: Bearer {TOKEN}", f"Authorization: Bearer {MASK}"),
        (f"authorization: basic {TOKEN}=", f"authorization: basic {MASK}"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", f"eyJ{MASK}"),
        ("postgres://app:s3cr3t@db:5432/x", f"postgres://app:{MASK}@db:5432/x"),
        ("redis://:s3cr3t@cache", f"redis://:{MASK}@cache"),
        ("password=hunter2&user=ann", f"password={MASK}&user=ann"),
        ('{"password": "correct horse"}', f'{{"password": "{MASK}"}}'),
        (r"{\"api_key\": \"abc123\"}", rf"{{\"api_key\": \"{MASK}\"}}"),
        ("{'client_secret': 'abc123'}", f"{{'client_secret': '{MASK}'}}"),
        ("AWS_SECRET_ACCESS_KEY=abc123", f"AWS_SECRET_ACCESS_KEY={MASK}"),
        ("token: abc123", f"token: {MASK}"),
        ('"password": "cut off in the mid', f'"password": "{MASK}'),
        (
            f"-----BEGIN RSA PRIVATE KEY-----\n{TOKEN}\n-----END RSA PRIVATE KEY-----",
            f"-----BEGIN RSA PRIVATE KEY-----{MASK}-----END RSA PRIVATE KEY-----",
        ),
        (f"-----BEGIN PRIVATE KEY-----\n{TOKEN}", f"-----BEGIN PRIVATE KEY-----{MASK}"),
    ],
)
def test_secrets_are_masked(text: str, masked: str) -> None:
    assert redact(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096",
        "Reset the password of the user",
        "https://example.com:8080/a@b",
        "the basic plan",
        "secretary: Jane",
        "task-1234567890123456789",
        "order A-1042 for 129.00 EUR",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_masking_twice_changes_nothing() -> None:
    once = redact(f'password="{TOKEN}" Bearer {TOKEN} token=sk-{TOKEN}')
    assert redact(once) == once
    assert TOKEN not in once


@pytest.mark.parametrize("text", ["a://" * 50_000, "password" * 50_000, "-----BEGIN " * 50_000])
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 5
