"""The same names in `asyncio`."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

import contextree
from contextree._threads import finish
from test_loop import ANSWER, EVENTS


def test_the_loop_runs_in_asyncio(tmp_path: Path) -> None:
    async def main() -> None:
        async with await contextree.open_async(tmp_path / "a.db") as store:
            context = await store.context("x")
            await context.user("Hello")
            async with context.attempt("anthropic", model="claude-x", max_tokens=9) as attempt:
                assert attempt.request["messages"]
                for event in EVENTS:
                    attempt.feed(event)
                answer = await attempt.complete()
            assert answer.report.cycle == 1
            assert [node.text for node in await context.select("?? { nodeType='block' }")] == [
                "Hello",
                "Yes.",
            ]
            assert len(await context.at("@t0").thread()) == 1
            assert (await context.fork("y")).name == "y"

    asyncio.run(main())


def test_a_running_call_is_completed_in_asyncio(tmp_path: Path) -> None:
    async def main() -> None:
        async with await contextree.open_async(tmp_path / "a.db") as store:
            context = await store.context("x")
            question = await context.user("Hello")
            context._sync.attempt("anthropic", model="claude-x", max_tokens=9).begin()
            async with await context.running() as attempt:
                answer = await attempt.complete(ANSWER)
            assert (await context.at("@t0").sent()).attempt == answer.attempt
            assert (await context.history(question))[0].event == "added"
            assert (await store.backup(tmp_path / "b.db")).bytes > 0

    asyncio.run(main())


def test_contexts_are_iterated_and_drawn_in_asyncio(tmp_path: Path) -> None:
    async def main() -> None:
        async with await contextree.open_async(tmp_path / "a.db") as store:
            for name in ("b", "a"):
                await (await store.context(name)).user("Hello")
            found = [context async for context in store]
            assert [context.name for context in found] == ["a", "b"]
            assert str(found[0]).splitlines()[-1].endswith("block user text  Hello")
            assert "Hello" in found[0].at("@")._repr_html_()

    asyncio.run(main())


def test_a_cancelled_task_cancels_its_attempt(tmp_path: Path) -> None:
    async def main() -> None:
        store = await contextree.open_async(tmp_path / "a.db")
        context = await store.context("x")
        await context.user("Hello")
        started = asyncio.Event()

        async def call() -> None:
            async with context.attempt("anthropic", model="claude-x", max_tokens=9):
                started.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(call())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [attempt.status for attempt in await context.attempts()] == ["canceled"]
        async with context.attempt("anthropic", model="claude-x", max_tokens=9) as attempt:
            await attempt.complete(ANSWER)

    asyncio.run(main())


def test_many_tasks_write_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        store = await contextree.open_async(tmp_path / "a.db")
        context = await store.context("x")
        await asyncio.gather(*(context.user(str(number)) for number in range(50)))
        assert len(await context.thread()) == 50

    asyncio.run(main())


def test_a_context_that_was_deleted_has_no_row(tmp_path: Path) -> None:
    async def main() -> None:
        for url in (str(tmp_path / "a.db"), "memory:"):
            store = await contextree.open_async(url)
            context = await store.context("x")
            await store.delete("x")
            with pytest.raises(contextree.NotFoundError) as caught:
                await context.info()
            assert caught.value.code == "E_CONTEXT_NOT_FOUND"
            with pytest.raises(contextree.NotFoundError):
                await context.running()

    asyncio.run(main())


def test_a_call_that_raises_stop_iteration_ends() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(finish(lambda: next(iter(()))))


PAIRS = [
    (contextree.Store, contextree.AsyncStore),
    (contextree.Context, contextree.AsyncContext),
    (contextree.View, contextree.AsyncView),
    (contextree.Attempt, contextree.AsyncAttempt),
]


@pytest.mark.parametrize(("sync", "twin"), PAIRS)
def test_every_public_name_has_an_async_twin(sync: type, twin: type) -> None:
    names = {name for name in dir(sync) if not name.startswith("_")} - {"begin", "end"}
    assert names - set(dir(twin)) == set()
    for name in names:
        if inspect.isfunction(getattr(sync, name)) and name not in ("at", "attempt", "feed"):
            assert inspect.iscoroutinefunction(getattr(twin, name)), name
