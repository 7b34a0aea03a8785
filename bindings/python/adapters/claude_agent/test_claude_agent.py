"""`contextree.claude_agent`: the conformance suite, and what it does not test."""

from __future__ import annotations

import asyncio
import base64
import itertools
import subprocess
import sys
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, InMemorySessionStore
from claude_agent_sdk.testing import run_session_store_conformance
from hypothesis import given, settings
from hypothesis import strategies as st

from contextree import SerializationError, UsageError
from contextree.claude_agent import ContextreeSessionStore

KEY: Any = {"project_key": "-home-me-proj", "session_id": "s1"}


def entries() -> list[Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls", "a": 1}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "file", "is_error": True}
    return [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "List the files."}},
        {"type": "assistant", "uuid": "2", "parentUuid": "1", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": [result]}},
        {"type": "custom-title", "customTitle": "Files \ud800", "z": 1, "a": [None, 1.5]},
        {"type": "assistant", "uuid": "4", "message": {"role": "assistant", "content": [{"type": "text", "text": "One."}]}},
    ]


def test_conformance_suite(tmp_path):
    numbers = itertools.count()
    asyncio.run(run_session_store_conformance(lambda: ContextreeSessionStore(tmp_path / f"{next(numbers)}.db")))
    asyncio.run(run_session_store_conformance(lambda: ContextreeSessionStore("memory:")))
    print("\nrun_session_store_conformance: 14 contracts hold, on a file and in memory")


def test_entries_with_a_known_uuid_are_stored_once(tmp_path):
    async def run() -> None:
        store = ContextreeSessionStore(tmp_path / "a.db")
        await store.append(KEY, entries()[:3])
        await store.append(KEY, [*entries(), entries()[0]])
        await store.append(KEY, [entries()[3]])
        found = await ContextreeSessionStore(tmp_path / "a.db").load(KEY)
        assert found == [*entries(), entries()[3]]
        assert repr(found[3]) == repr(entries()[3])

    asyncio.run(run())


def test_summaries_are_those_of_the_reference_store(tmp_path):
    async def run(store: Any) -> Any:
        for entry in entries():
            await store.append(KEY, [entry])
        return [(one["session_id"], one["data"]) for one in await store.list_session_summaries(KEY["project_key"])]

    ours = asyncio.run(run(ContextreeSessionStore(tmp_path / "a.db")))
    assert ours == asyncio.run(run(InMemorySessionStore()))


def test_entries_are_nodes_of_the_tree(tmp_path):
    store = ContextreeSessionStore(tmp_path / "a.db")
    asyncio.run(store.append(KEY, entries()))
    prompt = {"type": "user", "uuid": "5", "message": {"role": "user", "content": "Thanks."}}
    asyncio.run(store.append(KEY, [prompt]))
    name = "claude-agent/-home-me-proj/s1"
    nodes = store._records.nodes(name)
    shown = [(one["role"], one["kind"], one.get("data_name"), one.get("data_call_id")) for one in nodes]
    assert shown == [
        ("user", "text", None, None),
        ("assistant", "text", None, None),
        ("assistant", "call", "Bash", "toolu_1"),
        ("user", "text", None, None),
        ("tool", "result", None, "toolu_1"),
        ("claude-code:custom-title", "text", None, None),
        ("assistant", "text", None, None),
        ("user", "text", None, None),
    ]
    # The turn was sealed when the next prompt arrived.
    assert len(store.store.context(name).log()) == 1
    assert store.store.verify().clean


def test_images_and_thoughts_are_nodes_that_count(tmp_path, png):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png).decode()}}
    thought = {"type": "thinking", "thinking": "A cat?", "signature": "s"}
    both: Any = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}},
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [thought, {"type": "text", "text": "A cat."}]}},
    ]
    store = ContextreeSessionStore(tmp_path / "a.db")
    asyncio.run(store.append(KEY, both))
    nodes = store._records.nodes("claude-agent/-home-me-proj/s1")
    assert [(one["role"], one["kind"]) for one in nodes] == [
        ("user", "text"),
        ("user", "image"),
        ("assistant", "text"),
        ("assistant", "reasoning"),
    ]
    assert store.store.context("claude-agent/-home-me-proj/s1").tokens(model="claude-sonnet-4-5").total > 1_000
    assert asyncio.run(store.load(KEY)) == both


@pytest.mark.parametrize("place", ["file", "memory", "postgres"])
def test_a_transcript_goes_on_in_every_store_after_retention_dropped_snapshots(url_of, place):
    async def run() -> None:
        store = ContextreeSessionStore(url_of(place))
        expected: list[Any] = []
        for turn in range(5):
            entry: Any = {"type": "user", "uuid": str(turn), "message": {"role": "user", "content": f"q{turn}"}}
            expected.append(entry)
            await store.append(KEY, [entry])
            if turn == 3:
                store.store.context("claude-agent/-home-me-proj/s1").gc(keep=1)
        assert await store.load(KEY) == expected
        assert store.store.verify().clean

    asyncio.run(run())


def test_ids_that_are_not_unicode_are_refused(tmp_path):
    with pytest.raises(UsageError, match="surrogate"):
        asyncio.run(ContextreeSessionStore(tmp_path / "a.db").load({"project_key": "\ud800", "session_id": "s"}))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_store_is_refused_after_a_fork_although_another_thread_held_its_lock(tmp_path, fork_child, hold):
    store = ContextreeSessionStore(tmp_path / "a.db")
    with hold(store._lock):
        assert fork_child(lambda: asyncio.run(store.append(KEY, entries()))) == "E_STORE_FORKED"


def test_names_with_any_characters(tmp_path):
    async def run() -> None:
        store = ContextreeSessionStore(tmp_path / "a.db")
        for part in ("a/b", "a#b", "ä b", "%2F"):
            key: Any = {"project_key": part, "session_id": part}
            await store.append(key, [{"type": "x", "n": part}])
            await store.append({**key, "subpath": part}, [{"type": "sub"}])
            assert await store.load(key) == [{"type": "x", "n": part}]
            assert [one["session_id"] for one in await store.list_sessions(part)] == [part]
            assert await store.list_subkeys(key) == [part]

    asyncio.run(run())


def test_two_processes_lose_nothing_and_store_nothing_twice(tmp_path):
    script = (
        "import asyncio, sys\n"
        "from contextree.claude_agent import ContextreeSessionStore\n"
        "async def run():\n"
        "    store = ContextreeSessionStore(sys.argv[1])\n"
        "    for n in range(20):\n"
        "        both = {'type': 'assistant', 'uuid': f'both{n}'}\n"
        "        own = {'type': 'assistant', 'uuid': f'{sys.argv[2]}{n}'}\n"
        "        await store.append({'project_key': 'p', 'session_id': 's'}, [both, own])\n"
        "asyncio.run(run())\n"
    )
    path = tmp_path / "a.db"
    store = ContextreeSessionStore(path)
    children = [subprocess.Popen([sys.executable, "-c", script, str(path), who]) for who in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    found = asyncio.run(store.load({"project_key": "p", "session_id": "s"}))
    uuids = [one["uuid"] for one in found]
    assert sorted(uuids) == sorted({*uuids})
    assert len(uuids) == 60


def itself() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.dictionaries(
    st.sampled_from(["type", "text", "id", "name", "input", "content", "tool_use_id", "is_error"]),
    st.sampled_from(["text", "tool_use", "tool_result", "thinking"]) | VALUES,
)
MESSAGES = VALUES | st.fixed_dictionaries({"role": TEXT, "content": VALUES | st.lists(PARTS | VALUES, max_size=3)})
ENTRIES = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system", "summary"]) | TEXT},
    optional={"uuid": st.sampled_from(["1", "2", "3"]), "message": MESSAGES, "timestamp": TEXT, "more": VALUES},
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(ENTRIES, max_size=3), max_size=4))
def test_any_entries_come_back_as_they_were(batches):
    async def run() -> None:
        store = ContextreeSessionStore("memory:")
        expected: list[Any] = []
        for entries in batches:
            await store.append({**KEY, "subpath": "agents/a"}, entries)
            for entry in entries:
                if "uuid" not in entry or entry["uuid"] not in {one.get("uuid") for one in expected}:
                    expected.append(entry)
        found = await store.load({**KEY, "subpath": "agents/a"})
        assert repr(found or []) == repr(expected)
        assert store.store.verify().clean

    asyncio.run(run())


@pytest.mark.parametrize("bad", [object(), {1}, b"x", itself()], ids=["object", "set", "bytes", "cycle"])
def test_an_entry_that_is_not_json_is_refused_and_nothing_is_lost(tmp_path, refusal, bad):
    async def run() -> None:
        store = ContextreeSessionStore(tmp_path / "a.db")
        await store.append(KEY, entries())
        before = await store.list_session_summaries(KEY["project_key"])
        with pytest.raises(SerializationError) as caught:
            await store.append(KEY, [{"type": "user", "uuid": "9", "message": {"role": "user", "content": "x"}}, {"type": "x", "bad": bad}])
        assert refusal(caught.value) in ("TypeError", "ValueError")
        assert await store.load(KEY) == entries()
        assert await store.list_session_summaries(KEY["project_key"]) == before

    asyncio.run(run())


def test_two_processes_seal_no_turn_twice_and_none_that_is_empty(tmp_path):
    # Both add prompts and answers to one transcript. A snapshot of a turn without a node would be one that a process made although
    # another one had just sealed the turn.
    script = (
        "import asyncio, sys\n"
        "from contextree.claude_agent import ContextreeSessionStore\n"
        "async def run():\n"
        "    store = ContextreeSessionStore(sys.argv[1])\n"
        "    for n in range(40):\n"
        "        prompt = {'type': 'user', 'uuid': f'{sys.argv[2]}u{n}', 'message': {'role': 'user', 'content': 'Hi'}}\n"
        "        await store.append({'project_key': 'p', 'session_id': 's'}, [prompt])\n"
        "        if n % 3:\n"
        "            answer = {'type': 'assistant', 'uuid': f'{sys.argv[2]}a{n}'}\n"
        "            await store.append({'project_key': 'p', 'session_id': 's'}, [answer])\n"
        "asyncio.run(run())\n"
    )
    path = tmp_path / "a.db"
    store = ContextreeSessionStore(path)
    children = [subprocess.Popen([sys.executable, "-c", script, str(path), who]) for who in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    context = store.store.context("claude-agent/p/s")
    # Every prompt but the first seals the turn before it, which has at least a prompt.
    assert len(context.log()) == 79
    turns = [node.cycle for node in context.select(".block")]
    assert {*turns} == set(range(1, 81))
    assert store.store.verify().clean


def test_the_example_of_the_page_runs(run_page):
    options = run_page("claude-agent.md", ClaudeAgentOptions=ClaudeAgentOptions)["options"]
    assert isinstance(options.session_store, ContextreeSessionStore)
