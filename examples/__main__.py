"""Makes the examples again: `python -m examples`, or only some: `python -m examples langgraph`.

Every framework gets an environment of its own under .venvs, with the versions that the
requirements.txt in its folder pins. `langgraph-dump` is made in the environment of `langgraph`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ENVIRONMENTS = FOLDER.parent / ".venvs"


def framework(example: str) -> str:
    """The framework that an example is made with: the longest name that its own begins with."""
    known = [pins.parent.name for pins in FOLDER.glob("*/requirements.txt")]
    return max((name for name in known if example.startswith(name)), key=len)


def python_of(name: str) -> Path:
    """The interpreter of a framework's environment, which is made if it is not there."""
    pins = FOLDER / name / "requirements.txt"
    environment = ENVIRONMENTS / name
    python, ready = environment / "bin" / "python", environment / "ready.txt"
    if not ready.exists() or ready.read_bytes() != pins.read_bytes():
        print(f"{name}: making {environment}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--no-deps", "-r", pins], check=True)
        ready.write_bytes(pins.read_bytes())
    return python


def make(example: str) -> None:
    """Run the script of an example, which finds what all share, and those of its framework."""
    name = framework(example)
    shared = os.pathsep.join((str(FOLDER), str(FOLDER / name)))
    # Keys and settings of whoever runs this stay out of it.
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = kept | {"PYTHONPATH": shared, "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC"}
    script = FOLDER / example / "make.py"
    subprocess.run([python_of(name), script], env=environment, check=True)
    print(f"{example}: made")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(script.parent.name for script in FOLDER.glob("*/make.py")):
        make(name)
