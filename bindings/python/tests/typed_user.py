"""What a program that uses the package looks like to strict type checkers. It is checked, and never run."""

# pyright: strict

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import assert_type

import contextree


def loop(client: Any) -> str:
    with contextree.open("agent.db") as store:
        context = store.context("support-42")
        assert_type(context.user("Will it rain in Oslo?"), str)
        with context.attempt("anthropic", model="claude-sonnet-4-5", max_tokens=1024) as attempt:
            assert_type(attempt, contextree.Attempt)
            assert_type(attempt.request, dict[str, Any])
            answer = attempt.complete(client.messages.create(**attempt.request))
        assert_type(answer, contextree.Answer)
        assert_type(answer.nodes, tuple[str, ...])
        assert_type([call.name for call in answer.tool_calls], list[str])
        return context.node(answer.nodes[0]).text


def past(context: contextree.Context) -> int:
    found = context.at("@t-3").select(".block[role=user]", limit=3)
    assert_type(found[0], contextree.Node)
    assert_type(found[:2], list[contextree.Node])
    assert_type(found[0].ttl, int | None)
    assert_type(found[0].tags, tuple[str, ...])
    nodes: Sequence[contextree.Node] = found
    if isinstance(found, contextree.RangeDiff):
        assert_type(found.diffs[0].added, tuple[str, ...])
        assert_type(found.snapshots[0].cycle, int)
    assert_type(context.diff("@t-1").changed[0].fields, tuple[str, ...])
    assert_type(context.log(limit=1)[0].cycle, int)
    assert_type(context.timeline().calls[0].attempts, tuple[contextree.AttemptInfo, ...])
    return len(nodes)


def failures(store: contextree.Store) -> str | None:
    try:
        store.context("x", create=False)
    except contextree.NotFoundError as error:
        assert_type(error.code, str)
        return error.hint
    return None


async def asynchronous() -> None:
    async with await contextree.open_async("agent.db") as store:
        assert_type(store, contextree.AsyncStore)
        context = await store.context("support-42")
        assert_type(await context.user("Hello"), str)
        assert_type(await context.select(".block"), contextree.Nodes)
        assert_type((await context.info()).revision, int)
        async with context.attempt("openai", model="gpt-5") as attempt:
            assert_type(await attempt.complete({}), contextree.Answer)
