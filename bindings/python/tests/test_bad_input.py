"""Bad input: a typed exception, and nothing lost."""

from __future__ import annotations

import math
import multiprocessing
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextree
from test_loop import ANSWER, begin


def itself() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


BAD = {
    "nan": math.nan,
    "infinite": {"a": [math.inf]},
    "surrogate": "\ud800",
    "surrogate in a key": {"\ud800": 1},
    "an object": object(),
    "bytes": b"x",
    "a set": {1},
    "a key that is not a text": {1: 2},
    "an integer without end": 10**5000,
    "a cycle": itself(),
}


@pytest.mark.parametrize("name", BAD)
def test_content_that_is_not_json_is_refused(context: contextree.Context, name: str) -> None:
    with pytest.raises(contextree.UsageError) as caught:
        context.add(BAD[name], role="user")
    assert caught.value.code in ("E_JSON_SHAPE", "E_USAGE")
    assert context.thread() == []


@pytest.mark.parametrize("name", BAD)
def test_settings_that_are_not_json_are_refused(context: contextree.Context, name: str) -> None:
    context.user("Hello")
    with pytest.raises(contextree.UsageError), context.attempt("anthropic", model="m", tools=BAD[name]):
        raise AssertionError("it must not begin")
    assert context.attempts() == []


@pytest.mark.parametrize("name", [*BAD, "nothing", "a number"])
def test_a_response_that_is_not_one_seals_nothing(context: contextree.Context, name: str) -> None:
    context.user("Hello")
    with pytest.raises(contextree.UsageError), begin(context) as attempt:
        attempt.complete({**BAD, "nothing": {}, "a number": 7}[name])
    assert context.log() == []
    assert [attempt.status for attempt in context.attempts()] == ["error"]


@pytest.mark.parametrize("wrong", [7, None, ["x"], b"x"])
def test_texts_must_be_texts(context: contextree.Context, wrong: Any) -> None:
    for call in (context.select, context.at, context.fork, context.remove, context.explain):
        with pytest.raises(contextree.UsageError):
            call(wrong)
    with pytest.raises(contextree.UsageError):
        context.user("x", tags="abc")
    with pytest.raises(contextree.UsageError):
        context.user("x", ttl="soon")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_any_json_comes_back_as_it_was(value: Any) -> None:
    context = contextree.open("memory:").context("x")
    try:
        name = context.add(value, role="user")
    except contextree.ContextreeError as error:
        assert error.code != "E_INTERNAL"
        assert context.thread() == []
        return
    assert context.node(name).content == value


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_any_text_as_a_selector_is_answered_or_refused(text: str) -> None:
    context = contextree.open("memory:").context("x")
    context.user("Hello")
    try:
        list(context.select(text))
    except contextree.ContextreeError as error:
        assert error.code != "E_INTERNAL"
        assert str(error)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_any_event_and_response_is_read_or_refused(value: Any) -> None:
    context = contextree.open("memory:").context("x")
    context.user("Hello")
    with pytest.raises(contextree.ContextreeError) as caught, begin(context) as attempt:
        attempt.feed(value)
        attempt.complete()
    assert caught.value.code != "E_INTERNAL"
    assert context.log() == []


def test_selector_errors_point_at_the_place(context: contextree.Context) -> None:
    with pytest.raises(contextree.SelectorError) as caught:
        context.select("(d1 .block")
    assert "^" in str(caught.value)
    assert caught.value.location is not None


def test_a_sealed_node_cannot_be_edited(context: contextree.Context) -> None:
    name = context.user("Hello")
    context.commit()
    with pytest.raises(contextree.SealedError) as caught:
        context.edit(name, "Goodbye")
    assert caught.value.hint


def test_what_does_not_exist_is_not_found(store: contextree.Store, context: contextree.Context) -> None:
    with pytest.raises(contextree.NotFoundError) as caught:
        store.context("suport-42", create=False)
    assert "support-42" in str(caught.value)
    with pytest.raises(contextree.NotFoundError):
        context.at("@t-3").thread()


def test_two_writers_that_expect_the_same_state_conflict(context: contextree.Context) -> None:
    context.user("a")
    context.commit(if_head=0)
    with pytest.raises(contextree.ConflictError):
        context.commit(if_head=0)


def test_a_store_closed_under_a_running_attempt_loses_nothing(tmp_path: Path) -> None:
    store = contextree.open(tmp_path / "a.db")
    context = store.context("x")
    context.user("Hello")
    with pytest.raises(contextree.ClosedError), begin(context) as attempt:
        store.close()
        attempt.complete(ANSWER)
    with contextree.open(tmp_path / "a.db") as again:
        [running] = again.context("x").attempts()
        assert running.status == "running"
        assert again.context("x").thread()[0]["content"] == "Hello"


def test_a_store_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    contextree.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA user_version = 9999")
    raw.close()
    with pytest.raises(contextree.VersionError):
        contextree.open(path)


def test_a_file_that_is_not_a_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"not a store" * 1000)
    with pytest.raises(contextree.StoreError):
        contextree.open(path)
    with pytest.raises(contextree.NotFoundError):
        contextree.open(tmp_path / "missing.db", create=False)


def test_threads_share_a_context(tmp_path: Path) -> None:
    context = contextree.open(tmp_path / "a.db").context("x")

    def work(number: int) -> None:
        for step in range(10):
            context.user(f"{number}.{step}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({message["content"] for message in context.thread()}) == 80


def test_two_handles_on_one_file_share_its_contexts(tmp_path: Path) -> None:
    one, two = contextree.open(tmp_path / "a.db"), contextree.open(str(tmp_path / "a.db"))
    one.context("x").user("Hello")
    one.close()
    assert two.context("x").thread()[0]["content"] == "Hello"
    with pytest.raises(contextree.ClosedError):
        one.context("x")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_store_is_refused_after_a_fork(tmp_path: Path) -> None:
    store = contextree.open(tmp_path / "a.db")
    context = store.context("x")
    found = context.select("?? { nodeType='block' }")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"no error"
        try:
            found.ids  # noqa: B018
            context.user("child")
        except contextree.ForkedError as error:
            answer = error.code.encode()
        with contextree.open(tmp_path / "a.db") as own:
            own.context("x").user("a store of its own")
        os.write(write, answer)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 100) == b"E_STORE_FORKED"
    context.user("parent")
    assert len(context.thread()) == 2


def add_many(path: str, name: str) -> None:
    with contextree.open(path) as store:
        for step in range(20):
            store.context("x").user(f"{name}.{step}")


def test_processes_share_a_file_without_losing_messages(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    contextree.open(path).context("x")
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=add_many, args=(path, name)) for name in ("a", "b")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(contextree.open(path).context("x").thread()) == 40
