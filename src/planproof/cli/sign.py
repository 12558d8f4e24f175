"""`planproof sign`: add a signature to verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, format_input_name, load_config, read_bytes
from planproof.cli.outputs import OutputOption, open_text_output
from planproof.cli.verify import read_verdicts


def sign(
    verdict: Annotated[
        Path,
        typer.Argument(metavar="VERDICT", help="Full verdict, or JSON Lines of full verdicts."),
    ],
    *,
    key: Annotated[
        Path,
        typer.Option("--key", metavar="FILE", help="Ed25519 private key, in PEM format."),
    ],
    output: OutputOption = None,
    config: ConfigOption = None,
) -> None:
    """Sign verdicts with an Ed25519 key.

    Adds a `signature` over the digests of the verdict, its trace and its contract, which `planproof
    verify --public-key` checks. A signature says who signed a verdict and that it was not changed
    since; it does not say that the verdict is right. Needs the `sign` extra.

    \b
    openssl genpkey -algorithm ed25519 -out key.pem
    openssl pkey -in key.pem -pubout -out public.pem
    planproof sign verdict.json --key key.pem -o signed.json
    planproof verify signed.json case.json --public-key public.pem

    Exit code: 0 signed, 2 bad usage or input.
    """
    from planproof.core.signatures import parse_private_key, sign_verdict

    limits = load_config(config).limits
    private_key = parse_private_key(read_bytes(key, limits), format_input_name(key))
    verdicts = list(read_verdicts(read_bytes(verdict, limits), format_input_name(verdict)))
    with open_text_output(output) as stream:
        for line in verdicts:
            signed = sign_verdict(line.value, private_key)
            stream.write(f"{json.dumps(signed, indent=2 if len(verdicts) == 1 else None)}\n")
