"""`contextree.claude_agent`: the conformance suite, and what it does not test."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, InMemorySessionStore
from claude_agent_sdk.testing import run_session_store_conformance

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
    # The turn was sealed when the next prompt came.
    assert len(store.store.context(name).log()) == 1
    assert store.store.verify().clean


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


def test_the_example_of_the_page_runs(run_page):
    options = run_page("claude-agent.md", ClaudeAgentOptions=ClaudeAgentOptions)["options"]
    assert isinstance(options.session_store, ContextreeSessionStore)
