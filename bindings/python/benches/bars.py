"""The bars of the package, as ratios in one run: `cargo xtask python --bench`.

bars.py BASELINE   BASELINE is the program made of benches/baseline.rs
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import contextree

TURNS = 300
BLOCKS = 100_000


def turn(path: Path) -> float:
    """Returns the median time of begin and complete, in nanoseconds."""
    times: list[int] = []
    with contextree.open(path) as store:
        context = store.context("bench")
        for number in range(TURNS):
            context.user(f"Question {number}")
            answer = {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": "claude-x",
                "content": [{"type": "text", "text": f"Answer {number}"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 5},
            }
            start = time.perf_counter_ns()
            with context.attempt("anthropic", model="claude-x") as attempt:
                attempt.complete(answer)
            times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


def select() -> tuple[float, int]:
    """Returns the best time of a selection of ids, in nanoseconds, and how many there are."""
    context = contextree.open("memory:").context("bench")
    add = [{"op": "add", "node": {"role": "user" if number % 100 < 24 else "assistant", "content": "x"}} for number in range(BLOCKS)]
    context.apply(add)
    context.commit()
    times: list[int] = []
    found = 0
    for _ in range(15):
        start = time.perf_counter_ns()
        found = len(context.select("@t0 ?? { role='user' }").ids)
        times.append(time.perf_counter_ns() - start)
    return min(times), found


def start_up() -> float:
    """Returns how much longer Python takes to start with the package, in milliseconds: the median of 15 runs."""

    def once(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1000

    # `_struct` is an extension that does next to nothing.
    pairs = [(once("import contextree"), once("import _struct")) for _ in range(15)]
    return statistics.median(package for package, _ in pairs) - statistics.median(empty for _, empty in pairs)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.argv[1], folder, str(TURNS)], capture_output=True, check=True)
        rust = json.loads(done.stdout)
        own_turn = turn(Path(folder) / "python.db")
    own_select, found = select()
    assert found == rust["found"] == 24_000, (found, rust)
    rows = [
        ("durable turn: begin and complete, against Rust", own_turn / rust["turn_ns"], 1.3, "×"),
        ("ids of 24,000 of 100,000 nodes, against Rust", own_select / rust["select_ns"], 2.0, "×"),
        ("import of the module, above an empty one", start_up(), 60.0, " ms"),
    ]
    for name, value, bar, unit in rows:
        print(f"{name:52} {value:8.2f}{unit:3} bar {bar:g}{unit}  {'ok' if value <= bar else 'MISSED'}")
    print(f"turn: {own_turn / 1000:.0f} µs, Rust {rust['turn_ns'] / 1000:.0f} µs")
    print(f"select: {own_select / 1e6:.2f} ms, Rust {rust['select_ns'] / 1e6:.2f} ms")
    return 0 if all(value <= bar for _, value, bar, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
