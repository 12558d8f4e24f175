"""Generate the examples again: `python -m examples`, or only some: `python -m examples langgraph`.

Every framework has a separate environment in .venvs, with the versions that requirements.txt in its
folder pins. `langgraph-dump` uses the environment of `langgraph`. Examples in a folder, such as
`unlisted/agno`, share its modules.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ENVIRONMENTS = FOLDER.parent / ".venvs"


def list_folders(file: str) -> list[str]:
    """Return the folders that have a file of this name, as paths from this one."""
    found = (path.parent.relative_to(FOLDER).as_posix() for path in FOLDER.glob(f"**/{file}"))
    return sorted(found)


def find_framework(example: str) -> str:
    """Return the framework of an example: the longest one whose name its own begins with."""
    known = list_folders("requirements.txt")
    return max((name for name in known if example.startswith(name)), key=len)


def ensure_python(name: str) -> Path:
    """Return the interpreter of the environment of a framework; create it if necessary."""
    pins = FOLDER / name / "requirements.txt"
    environment = ENVIRONMENTS / name
    python, ready = environment / "bin" / "python", environment / "ready.txt"
    if not ready.exists() or ready.read_bytes() != pins.read_bytes():
        print(f"{name}: creating {environment}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--no-deps", "-r", pins], check=True)
        ready.write_bytes(pins.read_bytes())
    return python


def make(example: str) -> None:
    """Run the script of an example, with the shared modules of all and of its framework."""
    name = find_framework(example)
    folders = dict.fromkeys((FOLDER, FOLDER / name, (FOLDER / name).parent))
    shared = os.pathsep.join(map(str, folders))
    # The user's keys and settings are not passed on.
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = kept | {"PYTHONPATH": shared, "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC"}
    script = FOLDER / example / "make.py"
    subprocess.run([ensure_python(name), script], env=environment, check=True)
    print(f"{example}: written")


if __name__ == "__main__":
    for name in sys.argv[1:] or list_folders("make.py"):
        make(name)
