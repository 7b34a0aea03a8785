"""The program `ctx`, which the wheel brings along."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs `ctx` with the arguments of the process."""
    # Python's own handler would only take effect after the program has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_program(["ctx", *sys.argv[1:]])
