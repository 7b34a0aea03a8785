"""`contextree.openai_agents`: random calls compared with `SQLiteSession`, and real runs on a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import threading
from typing import Any

import pytest
from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import contextree
from contextree._adapter import record
from contextree.openai_agents import ContextreeSession


def item(source: random.Random) -> dict[str, Any]:
    word = source.choice(["one", "zwei ü", "", "line\nbreak", "\ud800", "x" * 300])
    call = f"call_{source.randrange(4)}"
    return source.choice(
        [
            {"role": "user", "content": word},
            {"content": word, "role": "user"},
            {"role": "assistant", "content": word},
            {"role": "user", "content": [{"type": "input_text", "text": word}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": word}], "id": "m"},
            {"type": "function_call", "name": "f", "arguments": '{"b":1,"a":2}', "call_id": call},
            {"type": "function_call_output", "call_id": call, "output": word},
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": word}]},
            {"type": "unknown", "value": float("inf"), "z": None, "a": [1, {"k": 1.0}]},
        ]
    )


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_random_calls_give_the_same_answers_as_sqlite_session(tmp_path, first):
    async def compare(seed: int) -> int:
        source = random.Random(seed)
        ours: Any = ContextreeSession(f"s/{seed} ü#1", tmp_path / "a.db")
        theirs = SQLiteSession(f"s{seed}", tmp_path / "b.db")
        compared = 0
        for _ in range(40):
            call = source.choice(["add", "add", "add", "get", "pop", "pop", "limit", "clear", "reopen"])
            if call == "add":
                items = [item(source) for _ in range(source.randrange(4))]
                await ours.add_items(items)
                await theirs.add_items(items)
            elif call == "pop":
                assert repr(await ours.pop_item()) == repr(await theirs.pop_item())
            elif call == "limit":
                limit = source.choice([-1, 0, 1, 2, 3, 100])
                assert repr(await ours.get_items(limit)) == repr(await theirs.get_items(limit))
            elif call == "clear" and source.random() < 0.3:
                await ours.clear_session()
                await theirs.clear_session()
            elif call == "reopen":
                ours = ContextreeSession(f"s/{seed} ü#1", tmp_path / "a.db")
            assert repr(await ours.get_items()) == repr(await theirs.get_items())
            compared += 1
        return compared

    async def run() -> int:
        return sum([await compare(seed) for seed in range(first, first + 10)])

    compared = asyncio.run(run())
    print(f"\ncompared with SQLiteSession: {compared} steps")
    assert compared == 400


def itself() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
# What `json` refuses, too.
BAD = st.binary(max_size=2) | st.just({1}) | st.builds(object) | st.builds(itself)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["user", "assistant", "function_call", "function_call_output", "reasoning", "message"]) | BAD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["role", "content", "type", "name", "arguments", "call_id", "output", "summary", "id", "text"])
ITEMS = st.dictionaries(NAMES | TEXT, VALUES, max_size=5)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(ITEMS, max_size=3), max_size=4))
def test_any_items_are_stored_or_refused_as_by_sqlite_session(refusal, batches):
    async def run(session: Any, refused: type[Exception]) -> list[str]:
        answers = []
        for items in batches:
            try:
                await session.add_items(items)
            except refused as error:
                # With an exception of ours whose cause is the serializer's, and what was there stays.
                answers.append(refusal(error))
            answers.append(repr(await session.get_items()))
        return answers

    ours = ContextreeSession("s", "memory:")
    assert asyncio.run(run(ours, contextree.SerializationError)) == asyncio.run(run(SQLiteSession("s"), Exception))
    # What is stored is enough to read all of it again.
    again = ContextreeSession("s", ours.store)
    assert repr(asyncio.run(again.get_items())) == repr(asyncio.run(ours.get_items()))
    assert ours.store.verify().clean


@pytest.mark.parametrize("value", ["a text", 7, None, [1, {"a": 2}], True])
def test_what_is_json_and_not_an_item_is_kept(tmp_path, value):
    async def run(session: Any) -> tuple[Any, Any]:
        await session.add_items([value, {"role": "user", "content": "Hi"}])
        return await session.get_items(), await session.pop_item()

    ours = asyncio.run(run(ContextreeSession("s", tmp_path / "a.db")))
    assert ours == asyncio.run(run(SQLiteSession("s", tmp_path / "b.db")))
    assert asyncio.run(ContextreeSession("s", tmp_path / "a.db").get_items()) == [value]


def test_the_text_of_an_item_is_stored_once(tmp_path):
    text = 'It rains in Oslo ¶ "today". ' * 20
    items: list[Any] = [
        {"content": text, "role": "user"},
        {"id": "fc_1", "call_id": "call_1", "name": "f", "type": "function_call", "arguments": json.dumps({"text": text})},
        {"call_id": "call_1", "output": text, "type": "function_call_output"},
        {"id": "rs_1", "summary": [{"text": text, "type": "summary_text"}], "type": "reasoning"},
        say(text).model_dump(exclude_unset=True),
    ]
    session = ContextreeSession("s", tmp_path / "a.db")
    asyncio.run(session.add_items(items))
    nodes = session._records.nodes(session.context)
    assert [len(node["content"]) >= len(text) for node in nodes] == [True] * 5
    assert max(len(node["data_oa"]) for node in nodes) < 120
    assert repr(asyncio.run(ContextreeSession("s", tmp_path / "a.db").get_items())) == repr(items)


def test_a_text_that_is_not_in_the_content_stays_readable_in_the_attribute(tmp_path):
    item = {"role": "user", "content": [{"type": "input_text", "text": "my secret"}, {"type": "input_text", "text": "number"}]}
    session = ContextreeSession("s", tmp_path / "a.db")
    asyncio.run(session.add_items([item]))
    [node] = session._records.nodes(session.context)
    assert json.loads(node["data_oa"]) == item


def test_items_that_are_kept_whole_are_read(tmp_path):
    """Sessions of earlier versions have the whole text of an item in the attribute."""
    session = ContextreeSession("s", tmp_path / "a.db")
    raw = json.dumps(say("Hi!").model_dump(exclude_unset=True))
    node = {"role": "assistant", "kind": "text", "content": "Hi!", "data_oa": raw}
    session._records.put("openai-agents/s", [record("openai-agents.session", "", b'{"n":1}')], [{"op": "add", "node": node}])
    assert asyncio.run(session.get_items()) == [json.loads(raw)]


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_a_session_goes_back_although_retention_dropped_its_snapshots(url_of, place):
    async def run() -> None:
        session = ContextreeSession("s", url_of(place))
        for turn in range(5):
            await session.add_items([{"role": "user", "content": f"q{turn}"}])
            await session.add_items([{"role": "assistant", "content": f"a{turn}"}])
        session.store.context(session.context).gc(keep=1)
        for expected in ("a4", "q4", "a3", "q3"):
            assert (await session.pop_item())["content"] == expected
        await session.add_items([{"role": "user", "content": "again"}])
        items = await session.get_items()
        assert [one["content"] for one in items] == ["q0", "a0", "q1", "a1", "q2", "a2", "again"]
        branch = await session.branch("b", turn=2)
        assert await branch.get_items() == items[:2]
        assert session.store.verify().clean

    asyncio.run(run())


@pytest.mark.parametrize("place", ["file", "memory", "postgres"])
def test_a_session_answers_as_sqlite_session_in_every_store(url_of, place):
    async def run(session: Any) -> list[str]:
        answers = []
        source = random.Random(7)
        for step in range(12):
            await session.add_items([item(source) for _ in range(2)])
            if step % 3 == 2:
                answers.append(repr(await session.pop_item()))
            if step == 8:
                await session.clear_session()
            answers.append(repr(await session.get_items()))
        return answers

    assert asyncio.run(run(ContextreeSession("s", url_of(place)))) == asyncio.run(run(SQLiteSession("s")))


def test_reads_leave_the_event_loop_while_the_session_is_used_or_unread(tmp_path, hold, monkeypatch):
    async def run() -> None:
        session = ContextreeSession("s", tmp_path / "a.db")
        await session.add_items([{"role": "user", "content": "Hi"}])
        loop = threading.get_ident()
        where: list[bool] = []
        newest = ContextreeSession._newest

        def note(self: Any, most: Any) -> Any:
            where.append(threading.get_ident() == loop)
            return newest(self, most)

        monkeypatch.setattr(ContextreeSession, "_newest", note)
        await session.get_items()
        # Another writer added something, so that the session has to be read.
        await ContextreeSession("s", session.store).add_items([{"role": "user", "content": "more"}])
        assert len(await session.get_items()) == 2
        assert len(await ContextreeSession("s", session.store).get_items()) == 2
        with hold(session._lock):
            waiting = asyncio.create_task(session.get_items())
            await asyncio.sleep(0)
            assert not waiting.done()
        assert len(await waiting) == 2
        assert where == [True, False, False, False]

    asyncio.run(run())


def test_a_line_that_another_writer_is_about_to_use_is_not_deleted(tmp_path):
    async def run() -> None:
        session = ContextreeSession("s", tmp_path / "a.db")
        await session.add_items([{"role": "user", "content": "Hi"}])
        # Another writer made the next line, and has not yet noted that the session continues there.
        session.store.context("openai-agents/s#2").user("theirs")
        await session.clear_session()
        await session.add_items([{"role": "user", "content": "ours"}])
        assert session.context == "openai-agents/s#3"
        assert [one["content"] for one in session.store.context("openai-agents/s#2").thread()] == ["theirs"]
        assert await session.get_items() == [{"role": "user", "content": "ours"}]

    asyncio.run(run())


def test_a_session_that_others_write_all_the_time_gives_up(tmp_path, monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr("contextree._threads.time.sleep", pauses.append)
    session = ContextreeSession("s", tmp_path / "a.db")

    def lose(*given: Any, **options: Any) -> Any:
        raise contextree.ConflictError("faster", code="E_CONFLICT")

    session._records = type("Lost", (), {"__getattr__": lambda self, name: lose, "revision_and": lambda self, *given: (0, None)})()
    with pytest.raises(contextree.ConflictError, match="all the time"):
        asyncio.run(session.add_items([{"role": "user", "content": "Hi"}]))
    assert len(pauses) == 99
    assert max(pauses) < 0.1


def test_closing_a_session_closes_the_store_that_it_opened(tmp_path):
    ours = ContextreeSession("s", tmp_path / "a.db")
    ours.close()
    assert ours.store.closed
    store = contextree.open(tmp_path / "a.db")
    ContextreeSession("s", store).close()
    assert not store.closed


def test_ids_that_are_not_unicode_are_refused(tmp_path):
    with pytest.raises(contextree.UsageError, match="surrogate"):
        ContextreeSession("\ud800", tmp_path / "a.db")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_session_is_refused_after_a_fork_although_another_thread_held_its_lock(tmp_path, fork_child, hold):
    session = ContextreeSession("s", tmp_path / "a.db")
    with hold(session._lock):
        assert fork_child(lambda: asyncio.run(session.add_items([{"role": "user", "content": "child"}]))) == "E_STORE_FORKED"
        assert fork_child(lambda: session.context) == "E_STORE_FORKED"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_session_is_refused_after_a_fork(tmp_path):
    session = ContextreeSession("s", tmp_path / "a.db")
    # The threads of the parent do not exist in the child.
    asyncio.run(session.add_items([{"role": "user", "content": "parent"}]))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"no error"
        try:
            asyncio.run(session.add_items([{"role": "user", "content": "child"}]))
        except contextree.ForkedError as error:
            answer = error.code.encode()
        os.write(write, answer)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 100) == b"E_STORE_FORKED"
    assert len(asyncio.run(session.get_items())) == 1


def test_a_session_whose_store_was_closed_is_refused(tmp_path):
    session = ContextreeSession("s", tmp_path / "a.db")
    asyncio.run(session.add_items([{"role": "user", "content": "Hi"}]))
    session.store.close()
    for call in (session.get_items(), session.add_items([{"role": "user", "content": "x"}]), session.pop_item(), session.clear_session()):
        with pytest.raises(contextree.ClosedError):
            asyncio.run(call)
    assert len(asyncio.run(ContextreeSession("s", tmp_path / "a.db").get_items())) == 1


class Script(Model):
    """A model that says what it is told, and remembers what it was sent."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.sent: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        self.sent.append(input)
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **more: Any) -> Any:
        raise NotImplementedError


def say(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


@function_tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"rain in {city}"


def test_runs_on_a_scripted_model(tmp_path):
    call = ResponseFunctionToolCall(type="function_call", name="weather", arguments='{"city":"Oslo"}', call_id="call_1", id="f")

    async def run(session: Any) -> tuple[Any, Any]:
        model = Script(call, say("Yes."), say("No."))
        agent = Agent(name="a", model=model, tools=[weather])
        await Runner.run(agent, "Will it rain in Oslo?", session=session)
        await Runner.run(agent, "And in Rome?", session=session)
        return model.sent, await session.get_items()

    ours = ContextreeSession("s", tmp_path / "a.db")
    assert isinstance(ours, Session)
    assert asyncio.run(run(ours)) == asyncio.run(run(SQLiteSession("s", tmp_path / "b.db")))
    nodes = ours._records.nodes(ours.context)
    shown = [(one["role"], one["kind"], one.get("data_name"), one.get("data_call_id")) for one in nodes]
    assert shown == [
        ("user", "text", None, None),
        ("assistant", "call", "weather", "call_1"),
        ("tool", "result", None, "call_1"),
        ("assistant", "text", None, None),
        ("user", "text", None, None),
        ("assistant", "text", None, None),
    ]
    assert ours.store.verify().clean


def test_sessions_branch_before_a_turn(tmp_path):
    async def run() -> None:
        session = ContextreeSession("s", tmp_path / "a.db", session_settings=SessionSettings(limit=100))
        for turn in range(1, 5):
            await session.add_items([{"role": "user", "content": f"q{turn}"}])
            await session.add_items([{"role": "assistant", "content": f"a{turn}"}])
        branch = await session.branch("b", turn=3)
        await branch.add_items([{"role": "user", "content": "another"}])
        assert [one["content"] for one in await branch.get_items()] == ["q1", "a1", "q2", "a2", "another"]
        whole = await session.branch("c")
        assert await whole.get_items() == await session.get_items()
        with pytest.raises(ValueError, match="no turn 9"):
            await session.branch("d", turn=9)

    asyncio.run(run())


def test_two_processes_lose_nothing(tmp_path):
    script = (
        "import asyncio, sys\n"
        "from contextree.openai_agents import ContextreeSession\n"
        "async def run():\n"
        "    session = ContextreeSession('s', sys.argv[1])\n"
        "    for turn in range(25):\n"
        "        await session.add_items([{'role': 'user', 'content': f'{sys.argv[2]}{turn}'}])\n"
        "        await session.add_items([{'role': 'assistant', 'content': 'ok'}])\n"
        "asyncio.run(run())\n"
    )
    store = tmp_path / "a.db"
    ContextreeSession("s", store)
    children = [subprocess.Popen([sys.executable, "-c", script, str(store), who]) for who in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    items = asyncio.run(ContextreeSession("s", store).get_items())
    asked = [one["content"] for one in items if one["role"] == "user"]
    assert len(items) == 100
    assert sorted(asked) == sorted(f"{who}{turn}" for who in "ab" for turn in range(25))


def test_the_example_of_the_page_runs(run_page):
    agent = Agent(name="a", model=Script(say("Hi!"), say("Hi!")))
    assert run_page("openai-agents.md", agent=agent, Runner=Runner)["result"].final_output == "Hi!"
