"""Bad input: a typed exception, and nothing lost."""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
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


def in_a_fork(work: Callable[[], object]) -> str:
    """Runs a function in a child made by `os.fork()`. Returns the code of the exception that it raises there, with its hint."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "no error"
        try:
            work()
        except contextree.ContextreeError as error:
            answer = f"{error.code} {error.hint}"
        except BaseException as error:
            answer = repr(error)
        os.write(write, answer.encode())
        os._exit(0)
    os.close(write)
    assert os.waitpid(child, 0)[1] == 0
    with os.fdopen(read, "rb") as pipe:
        return pipe.read().decode()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_store_is_refused_after_a_fork(tmp_path: Path) -> None:
    store = contextree.open(tmp_path / "a.db")
    context = store.context("x")
    context.user("before")
    found = context.select("?? { nodeType='block' }")
    for call in (lambda: context.user("child"), lambda: found[0].text, lambda: store.context("y")):
        assert in_a_fork(call).startswith("E_STORE_FORKED open it in the child only")
    context.user("parent")
    assert len(context.thread()) == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_does_not_open_what_its_parent_has_open(tmp_path: Path) -> None:
    path, link = tmp_path / "a.db", tmp_path / "link.db"
    store = contextree.open(path)
    store.context("x").user("parent")
    link.symlink_to(path)
    for url in (str(path), f"sqlite:{path}", str(link), os.path.relpath(path)):
        assert in_a_fork(lambda url=url: contextree.open(url)).startswith("E_STORE_FORKED open it in the child only"), url
    # With another clock it is the same file.
    assert in_a_fork(lambda: contextree.open(path, clock="logical")).startswith("E_STORE_FORKED")
    assert in_a_fork(lambda: contextree.open(tmp_path / "b.db").context("x").user("child")) == "no error"
    assert contextree.open(tmp_path / "b.db").context("x").thread()[0]["content"] == "child"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_opens_what_its_parent_has_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = contextree.open(path)
    found = store.context("x").select(".block")
    store.close()
    # A selection still reads the file.
    assert in_a_fork(lambda: contextree.open(path)).startswith("E_STORE_FORKED")
    del found
    assert in_a_fork(lambda: contextree.open(path).context("x").user("child")) == "no error"
    assert len(contextree.open(path).context("x").thread()) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_that_ends_leaves_the_store_of_its_parent_alone(tmp_path: Path) -> None:
    objects: list[Any] = [contextree.open(tmp_path / "a.db")]
    context = objects[0].context("x")
    context.user("before")
    objects += [context.select(".block"), context]
    assert in_a_fork(lambda: (objects.clear(), gc.collect())) == "no error"
    context.user("after")
    assert [node.text for node in objects[1]] == ["before"]
    assert len(context.thread()) == 2
    assert objects[0].verify().clean


def add_many(path: str, name: str) -> None:
    with contextree.open(path) as store:
        for step in range(20):
            store.context("x").user(f"{name}.{step}")


def refused(path: str, answers: Any) -> None:
    try:
        contextree.open(path)
        answers.put("no error")
    except contextree.ContextreeError as error:
        answers.put(error.code)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_workers_that_multiprocessing_forks_do_not_open_what_is_open(tmp_path: Path) -> None:
    store = contextree.open(tmp_path / "a.db")
    store.context("x")
    fork = multiprocessing.get_context("fork")
    answers = fork.SimpleQueue()
    worker = fork.Process(target=refused, args=(str(tmp_path / "a.db"), answers))
    worker.start()
    assert answers.get() == "E_STORE_FORKED"
    worker.join()
    store.close()
    workers = [fork.Process(target=add_many, args=(str(tmp_path / "a.db"), name)) for name in ("a", "b")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(contextree.open(tmp_path / "a.db").context("x").thread()) == 40


def test_names_that_are_not_unicode_are_refused(store: contextree.Store, tmp_path: Path) -> None:
    bad = "\ud800"
    calls: list[Callable[[], object]] = [
        lambda: contextree.open(f"{tmp_path}/{bad}.db"),
        lambda: store.context(bad),
        lambda: store.delete(bad),
        lambda: store.import_log(bad, b"{}"),
        lambda: store.context("x").fork(bad),
    ]
    for call in calls:
        with pytest.raises(contextree.UsageError):
            call()
    assert bad not in store


def test_arguments_of_another_type_are_refused(store: contextree.Store, context: contextree.Context) -> None:
    wrong: Any = 5
    calls: list[Callable[[], object]] = [
        lambda: contextree.open(wrong),
        lambda: contextree.open("memory:", clock=wrong),
        lambda: store.backup(wrong),
        lambda: context.image("image/png", "text"),  # type: ignore[arg-type]
        lambda: context.apply(wrong),
        lambda: context.apply({"op": "add"}),  # type: ignore[arg-type]
        lambda: context.user("x", tags=wrong),
        lambda: context.edit("a", unset=wrong),
        lambda: context.import_log(wrong),
        lambda: store.import_log("x", wrong),
        lambda: store.lint(object()),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(contextree.UsageError):
            call()
            raise AssertionError(number)
    assert context.thread() == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are not Unicode")
def test_a_log_is_imported_from_a_file_whose_name_is_not_unicode(store: contextree.Store, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/log-\xff.jsonl"
    with open(path, "wb") as file:
        file.write(b'{"role":"user","content":"Hello"}\n')
    assert store.import_log("a", os.fsdecode(path)).nodes > 0
    with pytest.raises(contextree.ContextreeError):
        store.import_log("b", os.fsdecode(path) + ".missing")


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
