"""Sessions of N turns: this session against `SQLiteSession`. Every turn reads the history, adds a question and then an answer of 500 bytes,
in the form and in the steps in which the SDK's runner adds them.

python bench.py [--turns 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from typing import Any

from agents import SQLiteSession

from contextree.openai_agents import ContextreeSession


def text(seed: str, size: int = 500) -> str:
    source = random.Random(seed)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 10))) for _ in range(120)]
    return " ".join(words)[:size]


def items(turn: int) -> tuple[Any, Any]:
    """Returns a question and an answer as the runner writes them, with an id like those of the API."""
    part = {"annotations": [], "text": text(f"a{turn}"), "type": "output_text", "logprobs": []}
    identity = f"msg_{random.Random(turn).getrandbits(200):050x}"
    answer = {"id": identity, "content": [part], "role": "assistant", "status": "completed", "type": "message"}
    return {"content": text(f"u{turn}"), "role": "user"}, answer


async def bytes_of_plain_items(session: Any, path: str, turns: int) -> int:
    """Returns the size of a session of items that have a role and a content only, a turn in one step."""
    for turn in range(turns):
        await session.add_items([{"role": "user", "content": text(f"u{turn}")}, {"role": "assistant", "content": text(f"a{turn}")}])
    return size_of(path)


def size_of(path: str) -> int:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return os.path.getsize(path)


async def run(session: Any, path: str, turns: int) -> tuple[float, float, int]:
    times = []
    for turn in range(turns):
        question, answer = items(turn)
        begin = time.perf_counter()
        await session.get_items()
        await session.add_items([question])
        await session.add_items([answer])
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    assert len(await session.get_items()) == 2 * turns
    read = time.perf_counter() - begin
    return statistics.median(times[-20:]) * 1e3, read * 1e3, size_of(path)


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.db", "b.db", "c.db", "d.db")]
        ours = await run(ContextreeSession("s", paths[0]), paths[0], turns)
        theirs = await run(SQLiteSession("s", paths[1]), paths[1], turns)
        plain = await bytes_of_plain_items(ContextreeSession("s", paths[2]), paths[2], turns)
        their_plain = await bytes_of_plain_items(SQLiteSession("s", paths[3]), paths[3], turns)
    for name, (turn, read, size) in (("contextree", ours), ("SQLiteSession", theirs)):
        print(f"{name:14} a turn at {turns}: {turn:.2f} ms   read: {read:.2f} ms   {size / 1e6:.2f} MB")
    rows = [
        (f"a turn at {turns}: read the history and add two items", ours[0] / theirs[0], 1.0),
        (f"reading {2 * turns} items", ours[1] / theirs[1], 1.0),
        (f"bytes of {turns} turns", ours[2] / theirs[2], 1.2),
    ]
    for name, value, bar in rows:
        print(f"{name:52} {value:8.2f}×  bar {bar:g}×  {'ok' if value <= bar else 'MISSED'}")
    print(f"without a bar: bytes of {turns} turns of items with a role and a content only: {plain / their_plain:.2f}×")
    return 0 if all(value <= bar for _, value, bar in rows) else 1


sys.exit(asyncio.run(main()))
