"""`planproof verify`: what it accepts, what it rejects, what it can't read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLANLESS


def _write(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return path


@pytest.fixture
def verdict(planproof: CommandLine, folder: Path) -> dict[str, Any]:
    planproof("judge", "case.json", "-f", "full", "-o", "verdict.json")
    return json.loads((folder / "verdict.json").read_text())


@pytest.mark.usefixtures("verdict")
def test_a_verdict_is_accepted_with_its_case_or_its_trace(
    planproof: CommandLine, folder: Path
) -> None:
    _write(folder / "trace.json", FOLLOWED["execution_trace"])
    for file in ("case.json", "trace.json"):
        done = planproof("verify", "verdict.json", file)
        assert (done.code, done.out) == (0, "accepted: verdict.json\n")


def test_either_file_can_be_standard_input(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    data = json.dumps(verdict).encode()
    assert planproof("verify", "-", "case.json", stdin=data).out == "accepted: standard input\n"
    case = (folder / "case.json").read_bytes()
    assert planproof("verify", "verdict.json", "-", stdin=case).code == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"agent_plan": ["Something else"]}, "the plan differs from the one that was judged"),
        ({"user_task": "Another"}, "the task differs from the one that was judged"),
        ({"id": "other"}, "case id mismatch: verdict 'followed', case 'other'"),
        ({"execution_trace": IDLE["execution_trace"]}, "trace"),
        ({"execution_trace": "\n"}, "the case can't be read: "),
    ],
)
@pytest.mark.usefixtures("verdict")
def test_a_verdict_on_another_case_is_rejected(
    planproof: CommandLine, folder: Path, change: dict[str, Any], problem: str
) -> None:
    _write(folder / "other.json", {**FOLLOWED, **change})
    done = planproof("verify", "verdict.json", "other.json")
    assert done.code == 1
    assert done.out.startswith("rejected: verdict.json\n  ")
    assert problem in done.out


def test_a_tampered_verdict_is_rejected(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    verdict["steps"][0]["evidence"][0]["quote"] = "never \x1b[2J said"
    _write(folder / "tampered.json", verdict)
    done = planproof("verify", "tampered.json", "case.json")
    assert done.code == 1
    assert "\x1b" not in done.out


def test_a_verdict_under_the_name_of_another_judge_is_rejected(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    """A verdict of `rules` can't be made one of a model: raised to 1.0, without findings."""
    forged: dict[str, Any] = {**verdict, "steps": [], "extras": [], "nearest_better": None}
    forged |= {"score": 1.0, "level": 1.0, "reason": "The score is 1.0: all steps were executed."}
    for name in ("prompt", "audit", "contract", "rules"):
        forged["judge"] = {**verdict["judge"], "name": name}
        _write(folder / "forged.json", forged)
        done = planproof("verify", "forged.json", "case.json")
        assert done.code == 1, name
        renamed = {**verdict, "judge": forged["judge"]}
        _write(folder / "renamed.json", renamed)
        assert planproof("verify", "renamed.json", "case.json").code == (name != "rules")


@pytest.mark.parametrize(
    ("where", "changes", "problem"),
    [
        ("steps", {"note": "only claimed"}, "/steps/0/note: `rules` finds another value"),
        ("steps", {"confidence": 0.123}, "/steps/0/confidence: `rules` finds another value"),
        ("steps", {"text": "Do it"}, "/steps/0/text: does not match the plan"),
        ("steps", {"covers": ["e1"]}, "/steps/0/covers: `rules` finds another value"),
    ],
)
def test_what_a_rule_found_is_found_again(
    planproof: CommandLine,
    folder: Path,
    verdict: dict[str, Any],
    where: str,
    changes: dict[str, Any],
    problem: str,
) -> None:
    verdict[where][0].update(changes)
    _write(folder / "tampered.json", verdict)
    done = planproof("verify", "tampered.json", "case.json")
    assert done.code == 1
    assert problem in done.out
    assert "/judge/fingerprint" not in done.out
    verdict["judge"]["fingerprint"] = "0123456789ab"
    _write(folder / "tampered.json", verdict)
    assert "another version of planproof" in planproof("verify", "tampered.json", "case.json").out


def test_the_plan_is_given_with_a_trace(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    _write(folder / "trace.json", FOLLOWED["execution_trace"])
    _write(folder / "plan.json", FOLLOWED["agent_plan"])
    without = planproof("verify", "verdict.json", "trace.json")
    assert (without.code, "the plan was not passed" in without.err) == (0, True)
    done = planproof("verify", "verdict.json", "trace.json", "--plan", "plan.json")
    assert (done.code, done.err) == (0, "")
    _write(folder / "other.json", ["Something else"])
    done = planproof("verify", "verdict.json", "trace.json", "--plan", "other.json")
    assert "the plan differs from the one that was judged" in done.out
    assert verdict["outcome"] == "scored"


@pytest.fixture
def keys(folder: Path) -> tuple[str, str]:
    """The files of a private and a public key."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "key.pem").write_bytes(private)
    (folder / "public.pem").write_bytes(public)
    return "key.pem", "public.pem"


@pytest.mark.usefixtures("verdict")
def test_a_signed_verdict_is_accepted_with_its_key(
    planproof: CommandLine, folder: Path, keys: tuple[str, str]
) -> None:
    private, public = keys
    done = planproof("sign", "verdict.json", "--key", private, "-o", "signed.json")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = planproof("verify", "signed.json", "case.json", "--public-key", public)
    assert (done.code, done.out, done.err) == (0, "accepted: signed.json\n", "")
    unchecked = planproof("verify", "signed.json", "case.json")
    assert (unchecked.code, "not checked" in unchecked.err) == (0, True)
    unsigned = planproof("verify", "verdict.json", "case.json", "--public-key", public)
    assert unsigned.code == 1
    assert "/signature: missing" in unsigned.out
    # Formatting is not signed.
    _write(folder / "compact.json", json.loads((folder / "signed.json").read_text()))
    assert planproof("verify", "compact.json", "case.json", "--public-key", public).code == 0


def test_any_change_of_a_signed_verdict_is_found(
    planproof: CommandLine, folder: Path, keys: tuple[str, str]
) -> None:
    """Also of fields that no check covers, such as warnings and metadata."""
    private, public = keys
    planproof("judge", "case.json", "-f", "full", "-o", "verdict.json")
    planproof("sign", "verdict.json", "--key", private, "-o", "signed.json")
    signed = json.loads((folder / "signed.json").read_text())
    changes: list[dict[str, Any]] = [
        {"warnings": ["x"]},
        {"metadata": {"x": 1}},
        {"cost": {"calls": 3}},
        {"judge": {**signed["judge"], "fingerprint": "1"}},
        {"inputs": {**signed["inputs"], "task": "sha256:0"}},
    ]
    for change in changes:
        _write(folder / "tampered.json", {**signed, **change})
        done = planproof("verify", "tampered.json", "case.json", "--public-key", public)
        assert done.code == 1
        assert "/signature/value: the verdict was changed after it was signed" in done.out


@pytest.mark.usefixtures("verdict")
def test_another_key_and_an_invalid_signature_are_rejected(
    planproof: CommandLine, folder: Path, keys: tuple[str, str]
) -> None:
    private, public = keys
    planproof("sign", "verdict.json", "--key", private, "-o", "signed.json")
    signed = json.loads((folder / "signed.json").read_text())
    other = Ed25519PrivateKey.generate().public_key()
    other_pem = other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "other.pem").write_bytes(other_pem)
    done = planproof("verify", "signed.json", "case.json", "--public-key", "other.pem")
    assert "/signature/key: signed with another key" in done.out
    both = ("--public-key", "other.pem", "--public-key", public)
    assert planproof("verify", "signed.json", "case.json", *both).code == 0
    for signature in ("x", {}, {**signed["signature"], "value": "%"}, {"value": "", "key": 1}):
        _write(folder / "bad.json", {**signed, "signature": signature})
        done = planproof("verify", "bad.json", "case.json", "--public-key", public)
        assert done.code == 1
        assert "/signature" in done.out


@pytest.mark.usefixtures("verdict")
def test_keys_that_can_not_be_used_exit_with_2(
    planproof: CommandLine, folder: Path, keys: tuple[str, str]
) -> None:
    private, public = keys
    encrypted = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    other = ec.generate_private_key(ec.SECP256R1())
    (folder / "encrypted.pem").write_bytes(encrypted)
    (folder / "ec.pem").write_bytes(
        other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    (folder / "ec-public.pem").write_bytes(
        other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    for file, message in (
        ("encrypted.pem", "encrypted"),
        ("ec.pem", "not an Ed25519 key"),
        (public, "not a private key"),
        ("nowhere.pem", "nowhere.pem"),
    ):
        done = planproof("sign", "verdict.json", "--key", file)
        assert (done.code, message in done.err) == (2, True), file
    for file, message in (
        ("ec-public.pem", "not an Ed25519 key"),
        (private, "not a public key"),
        ("verdict.json", "not a public key"),
    ):
        done = planproof("verify", "verdict.json", "case.json", "--public-key", file)
        assert (done.code, message in done.err) == (2, True), file


def test_many_verdicts_are_signed_one_by_one(
    planproof: CommandLine, folder: Path, keys: tuple[str, str]
) -> None:
    private, public = keys
    cases = _write(folder / "cases.jsonl", FOLLOWED, IDLE, PLANLESS, [])
    planproof("run", cases, "-o", "verdicts.jsonl")
    planproof("sign", "verdicts.jsonl", "--key", private, "-o", "signed.jsonl")
    done = planproof("verify", "signed.jsonl", cases, "--public-key", public)
    assert (done.code, done.out) == (0, "4 of 4 accepted\n")


def test_many_verdicts_are_verified_against_their_cases(
    planproof: CommandLine, folder: Path
) -> None:
    cases = _write(folder / "cases.jsonl", FOLLOWED, IDLE, PLANLESS, [])
    planproof("run", cases, "-o", "verdicts.jsonl")
    done = planproof("verify", "verdicts.jsonl", cases)
    assert (done.code, done.out) == (0, "4 of 4 accepted\n")
    _write(folder / "swapped.jsonl", IDLE, FOLLOWED, PLANLESS, [])
    done = planproof("verify", "verdicts.jsonl", "swapped.jsonl")
    assert done.code == 1
    assert "rejected: verdicts.jsonl, line 1\n" in done.out
    assert done.out.endswith("2 of 4 accepted\n")


def test_verdicts_and_cases_must_be_as_many(planproof: CommandLine, folder: Path) -> None:
    cases = _write(folder / "cases.jsonl", FOLLOWED, IDLE, PLANLESS)
    planproof("run", cases, "-o", "verdicts.jsonl")
    fewer = _write(folder / "fewer.jsonl", FOLLOWED, IDLE)
    assert "no case for this verdict" in planproof("verify", "verdicts.jsonl", fewer).out
    more = _write(folder / "more.jsonl", FOLLOWED, IDLE, PLANLESS, IDLE)
    assert "no verdict for this case" in planproof("verify", "verdicts.jsonl", more).out


def test_a_score_on_a_line_without_a_case_is_rejected(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    _write(folder / "verdicts.jsonl", verdict, verdict)
    _write(folder / "cases.jsonl", FOLLOWED, [])
    done = planproof("verify", "verdicts.jsonl", "cases.jsonl")
    assert done.code == 1
    assert "the case can't be read: cases.jsonl, line 2: must be an object" in done.out


def test_a_readable_case_is_not_invalid_input(planproof: CommandLine, folder: Path) -> None:
    _write(folder / "empty.jsonl", {**FOLLOWED, "execution_trace": ""})
    planproof("run", "empty.jsonl", "-o", "verdicts.jsonl")
    assert planproof("verify", "verdicts.jsonl", "empty.jsonl").code == 0
    done = planproof("verify", "verdicts.jsonl", "case.json")
    assert done.code == 1
    assert "the outcome is invalid_input, but the case can be read" in done.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty."),
        ("{", "is not valid JSON"),
        ('{"score": 1.0, "reason": "x"}', "not a full verdict"),
        ("[]\n[]", "line 1: not a full verdict"),
    ],
)
def test_an_invalid_verdict_exits_with_2(
    planproof: CommandLine, folder: Path, content: str, message: str
) -> None:
    (folder / "bad.json").write_text(content, encoding="utf-8")
    done = planproof("verify", "bad.json", "case.json")
    assert done.code == 2
    assert message in done.err


@pytest.mark.usefixtures("verdict")
def test_files_that_can_not_be_read_exit_with_2(planproof: CommandLine, folder: Path) -> None:
    assert planproof("verify", "verdict.json", "nowhere.json").code == 2
    assert planproof("verify", "nowhere.json", "case.json").code == 2
    (folder / "empty.json").write_text("", encoding="utf-8")
    assert planproof("verify", "verdict.json", "empty.json").code == 2


def test_a_verdict_of_schema_1_is_read_with_a_note(
    planproof: CommandLine, folder: Path, verdict: dict[str, Any]
) -> None:
    del verdict["schema"]
    for finding in (*verdict["steps"], *verdict["extras"]):
        finding["sureness"] = finding.pop("confidence")  # words: exempt
    _write(folder / "old.json", verdict)
    done = planproof("verify", "old.json", "case.json")
    assert (done.code, done.out) == (0, "accepted: old.json\n")
    assert "1 of 1 verdicts were written with schema version 1" in done.err


def test_verdicts_of_a_folder_are_checked_against_the_folder(
    planproof: CommandLine, folder: Path
) -> None:
    traces = folder / "traces"
    traces.mkdir()
    for name, case in (("a", FOLLOWED), ("b", IDLE)):
        _write(traces / f"{name}.json", case["execution_trace"])
        _write(traces / f"{name}.plan.json", case["agent_plan"])
    planproof("run", "traces", "-o", "verdicts.jsonl")
    done = planproof("verify", "verdicts.jsonl", "traces")
    assert (done.code, done.out, done.err) == (0, "2 of 2 accepted\n", "")
    (traces / "b.json").unlink()
    done = planproof("verify", "verdicts.jsonl", "traces")
    assert done.code == 1
    assert "no case for this verdict" in done.out
    first, _ = (folder / "verdicts.jsonl").read_text().splitlines()
    (folder / "first.json").write_text(first, encoding="utf-8")
    assert planproof("verify", "first.json", "traces").out == "accepted: first.json\n"
    for option in ("--plan", "--pick"):
        done = planproof("verify", "first.json", "traces", option, "x")
        assert done.code == 2
        assert f"{option} requires a single verdict, and a file" in " ".join(done.err.split())
    _write(traces / "a.plan.json", ["Do something else"])
    assert planproof("verify", "first.json", "traces").code == 1
