"""Running the command line inside the test's own process."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planproof.cli import main


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs `planproof` with arguments, as a shell would."""

    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Done:
        self.patch.setattr(sys, "argv", ["planproof", *map(str, arguments)])
        self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code: Any = ended.value.code
        out, err = self.capture.readouterr()
        assert "Traceback" not in err
        return Done(code or 0, out, err)
