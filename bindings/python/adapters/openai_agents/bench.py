"""Sessions of N turns: this session against `SQLiteSession`. Every turn reads the history and adds a question and an answer of 500 bytes.

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


async def run(session: Any, path: str, turns: int) -> tuple[float, float, int]:
    times = []
    for turn in range(turns):
        items = [{"role": "user", "content": text(f"u{turn}")}, {"role": "assistant", "content": text(f"a{turn}")}]
        begin = time.perf_counter()
        await session.get_items()
        await session.add_items(items)
        times.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    assert len(await session.get_items()) == 2 * turns
    read = time.perf_counter() - begin
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return statistics.median(times[-20:]) * 1e3, read * 1e3, os.path.getsize(path)


async def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.db", "b.db")]
        ours = await run(ContextreeSession("s", paths[0]), paths[0], turns)
        theirs = await run(SQLiteSession("s", paths[1]), paths[1], turns)
    for name, (turn, read, size) in (("contextree", ours), ("SQLiteSession", theirs)):
        print(f"{name:14} a turn at {turns}: {turn:.2f} ms   read: {read:.2f} ms   {size / 1e6:.2f} MB")
    rows = [
        (f"a turn at {turns}: read the history and add two items", ours[0] / theirs[0], 1.0),
        (f"reading {2 * turns} items", ours[1] / theirs[1], 1.0),
        (f"bytes of {turns} turns", ours[2] / theirs[2], 1.2),
    ]
    for name, value, bar in rows:
        print(f"{name:52} {value:8.2f}×  bar {bar:g}×  {'ok' if value <= bar else 'MISSED'}")
    return 0 if all(value <= bar for _, value, bar in rows) else 1


sys.exit(asyncio.run(main()))
