"""What importing the package costs."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_package_loads_nothing_else() -> None:
    script = "import sys, planproof; print([m for m in sys.modules if m.startswith('planproof.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"[]\n"
