"""Threads: the interpreter is free while the engine works, and objects may be shared."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import contextree
from test_loop import ANSWER, begin


@pytest.fixture
def no_switching() -> Iterator[None]:
    """Threads switch only where one gives the interpreter up by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(60)
    yield
    sys.setswitchinterval(before)


WAITING: dict[str, Callable[[Any], Any]] = {
    "a write": lambda context: context.user("x"),
    "a commit": lambda context: context.commit(),
    "a call": lambda context: context.attempt("anthropic", model="claude-x", max_tokens=9).begin(),
    "a log": lambda context: context.import_log(b'{"role":"user","content":"Hello"}\n'),
}


@pytest.mark.parametrize("what", WAITING)
@pytest.mark.usefixtures("no_switching")
def test_other_threads_run_while_a_call_waits_for_the_store(tmp_path: Path, what: str) -> None:
    context = contextree.open(tmp_path / "a.db").context("x")
    if what == "a call":
        context.user("Hello")
    other = sqlite3.connect(tmp_path / "a.db", check_same_thread=False, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = threading.Event()

    def let_go() -> None:
        started.wait()
        other.execute("ROLLBACK")
        other.close()

    thread = threading.Thread(target=let_go)
    thread.start()
    # From here on, the other thread runs only if the call lets it; otherwise the call waits until the store gives up.
    started.set()
    WAITING[what](context)
    thread.join()


def test_one_attempt_is_completed_once_by_many_threads(tmp_path: Path) -> None:
    context = contextree.open(tmp_path / "a.db").context("x")
    context.user("Hello")
    attempt = begin(context).begin()
    ends: list[object] = []
    barrier = threading.Barrier(8)

    def complete() -> None:
        barrier.wait()
        try:
            ends.append(attempt.complete(ANSWER))
        except contextree.ContextreeError as error:
            ends.append(error)

    threads = [threading.Thread(target=complete) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(end, contextree.Answer) for end in ends) >= 1
    assert len(ends) == 8
    assert len(context.log()) == 1
    assert [message["content"] for message in context.thread()] == ["Hello", "Yes."]


def test_nodes_and_selections_are_shared_by_threads(tmp_path: Path) -> None:
    context = contextree.open(tmp_path / "a.db").context("x")
    for number in range(600):
        context.user(str(number))
    found = context.select("?? { role='user' }")
    shared = list(found)
    seen: list[list[str]] = []

    def read(step: int) -> None:
        seen.append([node.text for node in shared[::step]][::step])

    threads = [threading.Thread(target=read, args=(step,)) for step in (1, -1, 1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[str(number) for number in range(600)]] * 4


def test_a_store_that_is_closed_by_another_thread_refuses_and_loses_nothing(tmp_path: Path) -> None:
    store = contextree.open(tmp_path / "a.db")
    context = store.context("x")
    written: list[str] = []
    started = threading.Barrier(5)

    def write(who: int) -> None:
        started.wait()
        for step in range(1_000):
            try:
                context.user(f"{who}.{step}")
            except contextree.ClosedError:
                return
            written.append(f"{who}.{step}")

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    while len(written) < 20:
        pass
    store.close()
    for thread in threads:
        thread.join()
    with contextree.open(tmp_path / "a.db") as again:
        assert {message["content"] for message in again.context("x").thread()} == set(written)


def test_reads_in_memory_are_direct_calls_of_a_task() -> None:
    async def main() -> None:
        context = await (await contextree.open_async("memory:")).context("x")
        await context.user("Hello")
        threads = threading.active_count()
        # A coroutine that never waits ends with its first step.
        with pytest.raises(StopIteration) as done:
            context.select("?? { role='user' }").send(None)
        assert [node.text for node in done.value.value] == ["Hello"]
        assert threading.active_count() == threads

    asyncio.run(main())
