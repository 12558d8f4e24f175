"""Create separate environments in .venvs, for packages whose pins conflict with the project's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ENVIRONMENTS = Path(__file__).parents[1] / ".venvs"


def ensure_environment(
    name: str, pins: Sequence[str], *, without_dependencies: bool = False
) -> Path:
    """Return the interpreter of an environment with these packages; create it if it does not exist.

    `alone` installs them without dependencies.
    """
    environment = ENVIRONMENTS / name
    python, ready = environment / "bin" / "python", environment / "ready.txt"
    if not ready.exists() or ready.read_text(encoding="utf-8") != "\n".join(pins):
        print(f"{name}: creating {environment}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*install, *(["--no-deps"] if without_dependencies else []), *pins], check=True
        )
        ready.write_text("\n".join(pins), encoding="utf-8")
    return python
