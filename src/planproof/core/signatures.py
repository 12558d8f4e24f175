"""Sign verdicts with Ed25519, and check their signatures: who gave a verdict, not if it is right.

What is signed are the digests of the verdict, of its trace and of its contract. The signature is a
field of the full verdict, `signature`, which `sign_verdict` adds.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from planproof.core.content import Json
from planproof.core.digests import compute_digest
from planproof.core.json_values import is_object
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SIGNATURE = "signature"
_PURPOSE = "planproof verdict 1"
"""Part of what is signed, so that a signature for another purpose is not taken for one."""


def parse_private_key(pem: bytes, where: str) -> Ed25519PrivateKey:
    """Parse an Ed25519 private key in PEM format; `where` names it in errors."""
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - optional, slow
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - as above
        Ed25519PrivateKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
        load_pem_private_key,
    )

    advice = "Create one: openssl genpkey -algorithm ed25519 -out key.pem."
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError as error:
        raise InvalidInput(
            "the private key is encrypted.",
            where=where,
            advice="Decrypt it first: openssl pkey -in FILE -out key.pem.",
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InvalidInput(
            "not a private key in PEM format.", where=where, advice=advice
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInput("not an Ed25519 key.", where=where, advice=advice)
    return key


def parse_public_key(pem: bytes, where: str) -> Ed25519PublicKey:
    """Parse an Ed25519 public key in PEM format; `where` names it in errors."""
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - optional, slow
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - as above
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
        load_pem_public_key,
    )

    advice = "Extract it from the private key: openssl pkey -in key.pem -pubout -out public.pem."
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InvalidInput("not a public key in PEM format.", where=where, advice=advice) from error
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidInput("not an Ed25519 key.", where=where, advice=advice)
    return key


def sign_verdict(verdict: dict[str, Json], key: Ed25519PrivateKey) -> dict[str, Json]:
    """Return a full verdict with a signature; an existing one is replaced."""
    return {
        **verdict,
        SIGNATURE: {
            "algorithm": "Ed25519",
            "key": identify_key(key.public_key()),
            "value": b64encode(key.sign(_build_message(verdict))).decode("ascii"),
        },
    }


def check_signature(verdict: dict[str, Json], keys: list[Ed25519PublicKey]) -> tuple[str, ...]:
    """Return what is wrong with the signature of a verdict; empty if one of these keys made it."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - optional, slow

    signature = verdict.get(SIGNATURE)
    if signature is None:
        return (f"/{SIGNATURE}: missing; the verdict is not signed.",)
    if not is_object(signature) or not isinstance(signature.get("value"), str):
        return (f"/{SIGNATURE}: invalid; expected algorithm, key and value.",)
    if signature.get("algorithm") != "Ed25519":
        return (f"/{SIGNATURE}/algorithm: unknown; expected Ed25519.",)
    by_id = {identify_key(key): key for key in keys}
    key = by_id.get(str(signature.get("key")))
    if key is None:
        return (f"/{SIGNATURE}/key: signed with another key; expected {' or '.join(by_id)}.",)
    try:
        key.verify(b64decode(signature["value"], validate=True), _build_message(verdict))
    except (InvalidSignature, ValueError):
        return (f"/{SIGNATURE}/value: the verdict was changed after it was signed.",)
    return ()


def identify_key(key: Ed25519PublicKey) -> str:
    """Return a short name of a public key: the start of the SHA-256 digest of its raw bytes."""
    return f"ed25519:{sha256(key.public_bytes_raw()).hexdigest()[:32]}"


def _build_message(verdict: dict[str, Json]) -> bytes:
    content = {name: value for name, value in verdict.items() if name != SIGNATURE}
    inputs, contract = verdict.get("inputs"), verdict.get("contract")
    return _encode(
        {
            "purpose": _PURPOSE,
            "verdict": compute_digest(_encode(content).decode("ascii")),
            "trace": inputs.get("trace") if is_object(inputs) else None,
            "contract": contract.get("digest") if is_object(contract) else None,
        }
    )


def _encode(value: Any) -> bytes:
    """Encode as canonical JSON: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _require_cryptography() -> None:
    from importlib.util import find_spec  # noqa: PLC0415 - only here

    if find_spec("cryptography") is None:
        raise InvalidInput(
            "signatures need the package `cryptography`, which is not installed.",
            advice="Install it with pip install 'planproof[sign]'.",
        )
