"""Stores on a PostgreSQL server. `cargo xtask python` starts one and sets `CONTEXTREE_TEST_POSTGRES`."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from uuid import uuid4

import pytest

import contextree
from contextree._adapter import Records, expecting, record
from test_loop import ANSWER, begin

SERVER = os.environ.get("CONTEXTREE_TEST_POSTGRES")

pytestmark = pytest.mark.skipif(SERVER is None, reason="CONTEXTREE_TEST_POSTGRES is not set; `cargo xtask python` sets it")


@pytest.fixture
def url() -> str:
    server = SERVER or ""
    return f"{server}{'&' if '?' in server else '?'}schema=python_{uuid4().hex}"


@pytest.fixture
def store(url: str) -> Iterator[contextree.Store]:
    with contextree.open(url) as store:
        yield store


def test_the_call_loop_and_the_past(store: contextree.Store, url: str) -> None:
    context = store.context("support-42")
    context.system("You are a travel agent.")
    for number, question in enumerate(("Will it rain in Oslo?", "And in Rome?")):
        context.user(question)
        with begin(context) as attempt:
            attempt.complete({**ANSWER, "id": f"msg_{number}"})
    again = contextree.open(url).context("support-42", create=False)
    assert [node.text for node in again.select("?? { role='user' }")] == ["Will it rain in Oslo?", "And in Rome?"]
    assert [entry.digest for entry in again.log()] == [entry.digest for entry in context.log()]
    assert again.at("@t-1").thread()[-1]["content"] == "Will it rain in Oslo?"
    assert len(again.fork("what-if", at="@t-1").log()) == 1
    assert store.verify().clean


def test_the_same_calls_give_the_same_bytes_as_in_a_file(url: str, tmp_path: os.PathLike[str]) -> None:
    exports = []
    for place in (url, os.path.join(tmp_path, "a.db")):
        with contextree.open(place, clock="logical") as store:
            context = store.context()
            context.user("Hello")
            context.document("A text", ttl=2)
            context.commit()
            context.assistant("Hi!")
            context.commit()
            exports.append(context.export(history=True))
    assert exports[0] == exports[1]


def test_side_records_are_compared_and_written_with_their_step(store: contextree.Store) -> None:
    records = Records(store)
    add = {"op": "add", "node": {"role": "user", "content": "Hello"}}
    records.put("c", [record("test.kind", "k", b"\x00\xff", absent=True)], [add])
    assert records.one("c", "test.kind", "k") == b"\x00\xff"
    with pytest.raises(contextree.ConflictError):
        records.put("c", [record("test.kind", "k", b"2", **expecting(b"another"))], [add])
    assert len(records.nodes("c")) == 1
    records.put("c", [record("test.kind", "k")])
    assert records.one("c", "test.kind", "k") is None


def test_threads_share_a_store(store: contextree.Store) -> None:
    context = store.context()
    threads = [threading.Thread(target=lambda: [context.user("x") for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(context.select(".block")) == 20


def test_asyncio(url: str) -> None:
    async def run() -> int:
        async with await contextree.open_async(url) as store:
            context = await store.context("c")
            await context.user("Hello")
            await context.commit()
            return len(await context.log())

    assert asyncio.run(run()) == 1


def test_a_server_that_is_out_of_reach_is_a_typed_error() -> None:
    with pytest.raises(contextree.UnavailableError) as caught:
        contextree.open("postgres://someone:secret@127.0.0.1:1/none?connect_timeout=1").context()
    assert "secret" not in str(caught.value)
