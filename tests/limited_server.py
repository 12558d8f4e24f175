"""A server with given limits, to be started as a process: STORE LIMITS-AS-JSON [keys]."""

from __future__ import annotations

import json
import sys

from planproof.server.lifecycle import serve
from planproof.server.server_settings import ServerLimits
from tests.server_processes import make_settings


def _announce(address: str) -> None:
    print(f"planproof: serving on {address}; press Ctrl-C to stop", file=sys.stderr, flush=True)


if __name__ == "__main__":
    limits = ServerLimits(**json.loads(sys.argv[2]))
    serve(
        make_settings(sys.argv[1], limits=limits, require_keys=sys.argv[3:] == ["keys"]), _announce
    )
