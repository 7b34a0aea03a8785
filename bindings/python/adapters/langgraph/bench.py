"""Chats of N turns on a LangGraph graph: this saver against `SqliteSaver`, with the default `MessagesState` and with `DeltaChannel`.

    python bench.py [--turns 1000] [--json]

Each run is a process of its own; every turn adds a question and an answer of 500 bytes. The bars are ratios within one run. At the end,
two processes write 50 turns each to one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Annotated, Any, TypedDict

MILESTONES = (10, 100, 1000)


def text(seed: str, size: int = 500) -> str:
    source = random.Random(seed)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 10))) for _ in range(120)]
    return " ".join(words)[:size]


def build(channel: str, saver: Any) -> Any:
    from langchain_core.messages import AIMessage
    from langgraph.channels.delta import DeltaChannel
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.graph.message import _messages_delta_reducer

    # Not a class: its annotations would be texts that name what only this function knows.
    delta: Any = TypedDict("delta", {"messages": Annotated[list, DeltaChannel(_messages_delta_reducer)]})
    graph = StateGraph(MessagesState if channel == "full" else delta)
    graph.add_node("reply", lambda state: {"messages": [AIMessage(text(f"a{len(state['messages'])}"))]})
    graph.add_edge(START, "reply")
    graph.add_edge("reply", END)
    return graph.compile(checkpointer=saver)


def saver_at(backend: str, path: str) -> Any:
    if backend == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver

        saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
        saver.setup()
        return saver
    from contextree.langgraph import ContextreeSaver

    return ContextreeSaver(path)


def size(path: str) -> int:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return os.path.getsize(path)


def run(backend: str, channel: str, turns: int, path: str) -> dict[str, Any]:
    from langchain_core.messages import HumanMessage

    saver = saver_at(backend, path)
    graph = build(channel, saver)
    config = {"configurable": {"thread_id": "t"}}
    times = []
    for turn in range(1, turns + 1):
        question = HumanMessage(text(f"u{turn}"))
        begin = time.perf_counter()
        graph.invoke({"messages": [question]}, config)
        times.append(time.perf_counter() - begin)
    at = {n: statistics.median(times[max(0, n - 20) : n]) * 1e3 for n in (*MILESTONES, turns) if n <= turns}
    begin = time.perf_counter()
    assert len(graph.get_state(config).values["messages"]) == 2 * turns
    read = (time.perf_counter() - begin) * 1e3
    return {"ms": at, "read_ms": read, "bytes": size(path), "seconds": sum(times)}


def write_turns(path: str, who: str, turns: int) -> dict[str, list[str]]:
    from langchain_core.messages import HumanMessage

    from contextree import ConflictError

    graph = build("full", saver_at("contextree", path))
    conflicts = []
    for turn in range(turns):
        try:
            graph.invoke({"messages": [HumanMessage(f"{who}-{turn}")]}, {"configurable": {"thread_id": "t"}}, durability="sync")
        except ConflictError:
            conflicts.append(f"{who}-{turn}")
    return {"conflicts": conflicts}


def two_writers(path: str) -> dict[str, int]:
    from langchain_core.messages import HumanMessage

    graph = build("full", saver_at("contextree", path))
    command = [sys.executable, __file__, "--write", path]
    children = [subprocess.Popen([*command, who], stdout=subprocess.PIPE) for who in ("a", "b")]
    conflicts = {one for child in children for one in json.loads(child.communicate()[0])["conflicts"]}
    found = graph.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
    kept = {one.content for one in found if isinstance(one, HumanMessage)}
    # A turn that conflicted may have stored its question. Numbers alone would hide one that is in neither set.
    lost = {f"{who}-{turn}" for who in "ab" for turn in range(50)} - kept - conflicts
    return {"turns": 100, "messages": len(kept), "conflicts": len(conflicts), "lost": len(lost)}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", nargs=3)
    parser.add_argument("--write", nargs=2)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(run(args.one[0], args.one[1], args.turns, args.one[2])))
        return 0
    if args.write:
        print(json.dumps(write_turns(args.write[0], args.write[1], 50)))
        return 0
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for backend, channel in (("contextree", "full"), ("sqlite", "full"), ("sqlite", "delta")):
            path = os.path.join(folder, f"{backend}-{channel}.db")
            command = [sys.executable, __file__, "--turns", str(args.turns), "--one", backend, channel, path]
            results[f"{backend}:{channel}"] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        results["two writers"] = two_writers(os.path.join(folder, "two.db"))
    if args.json:
        print(json.dumps(results))
        return 0
    last = str(args.turns)
    ours, full, delta = (results[name] for name in ("contextree:full", "sqlite:full", "sqlite:delta"))
    for name in ("contextree:full", "sqlite:full", "sqlite:delta"):
        one = results[name]
        turns = "  ".join(f"{n}: {ms:.1f}" for n, ms in one["ms"].items())
        print(f"{name:16} {one['bytes'] / 1e6:9.2f} MB   ms a turn at {turns}   read {one['read_ms']:.1f} ms")
    both = results["two writers"]
    rows = [
        ("bytes, against SqliteSaver, per cent", 100 * ours["bytes"] / full["bytes"], 0.4),
        (f"a turn at {last}, against SqliteSaver", ours["ms"][last] / full["ms"][last], 0.3),
        ("a turn at 10, against SqliteSaver", ours["ms"]["10"] / full["ms"]["10"], 1.2),
        ("bytes, against SqliteSaver with DeltaChannel", ours["bytes"] / delta["bytes"], 0.5),
        (f"a turn at {last}, against it", ours["ms"][last] / delta["ms"][last], 0.7),
        ("two processes, one thread: messages lost unnoticed", both["lost"], 0),
    ]
    for name, value, bar in rows:
        print(f"{name:52} {value:8.2f}   bar {bar:g}   {'ok' if value <= bar else 'MISSED'}")
    print("two processes, one thread:", both)
    return 0 if all(value <= bar for _, value, bar in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
