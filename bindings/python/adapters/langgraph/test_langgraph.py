"""`contextree.langgraph`: the conformance suite, real graphs, and what both do not test."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, _messages_delta_reducer, add_messages
from langgraph.types import Command, interrupt

import contextree
from contextree.langgraph import ContextreeSaver


def config(thread: str = "t", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread, **more}}


def chat(saver: Any, state: Any = MessagesState) -> Any:
    def reply(state: Any) -> Any:
        return {"messages": [AIMessage(f"answer {len(state['messages'])}", id=f"a{len(state['messages'])}")]}

    graph = StateGraph(state)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    graph.add_edge("reply", END)
    return graph.compile(checkpointer=saver)


def texts(graph: Any, thread: str = "t", **more: Any) -> list[str]:
    return [one.content for one in graph.get_state(config(thread, **more)).values.get("messages", [])]


@pytest.mark.parametrize("place", ["file", "memory", "postgres"])
def test_conformance_suite(url_of, place):
    url = url_of(place)

    @checkpointer_test(name="ContextreeSaver", skip_capabilities=set())
    async def saver():
        yield ContextreeSaver(url)

    report = asyncio.run(validate(saver)).to_dict()["results"]
    failures = [failure for one in report.values() for failure in one["failures"]]
    assert not failures
    passed = sum(one["tests_passed"] for one in report.values())
    print(f"\nlanggraph-checkpoint-conformance ({place}): {passed} passed, {len(failures)} failed")
    assert passed == 81


def test_conversation_survives_a_restart(tmp_path):
    store = tmp_path / "a.db"
    graph = chat(ContextreeSaver(store))
    for turn in range(4):
        graph.invoke({"messages": [HumanMessage(f"question {turn}", id=f"u{turn}")]}, config())
    expected = graph.get_state(config())
    script = (
        "import sys\n"
        "from contextree.langgraph import ContextreeSaver\n"
        "saver = ContextreeSaver(sys.argv[1])\n"
        "found = saver.get_tuple({'configurable': {'thread_id': 't'}})\n"
        "print([m.content for m in found.checkpoint['channel_values']['messages']])\n"
        "print(found.checkpoint['id'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(store)], capture_output=True, text=True, check=True)
    shown, newest = done.stdout.splitlines()
    assert shown == str([one.content for one in expected.values["messages"]])
    assert newest == expected.config["configurable"]["checkpoint_id"]


def test_messages_are_nodes_of_the_tree(tmp_path):
    saver = ContextreeSaver(tmp_path / "a.db")
    call = {"name": "weather", "args": {"city": "Oslo"}, "id": "call_1", "type": "tool_call"}
    script = [AIMessage("", tool_calls=[call]), AIMessage("Yes, it rains.")]

    def model(state: Any) -> Any:
        return {"messages": [script[sum(isinstance(one, AIMessage) for one in state["messages"])]]}

    def tool(state: Any) -> Any:
        return {"messages": [ToolMessage("rain", tool_call_id="call_1", name="weather", artifact={"mm": 3})]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tool", tool)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tool" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tool", "model")
    app = graph.compile(checkpointer=saver)
    question = [SystemMessage("Be brief."), HumanMessage("Will it rain in Oslo?")]
    done = app.invoke({"messages": question}, config("oslo"))
    nodes = saver._records.nodes("langgraph/oslo")
    shown = [(one["role"], one["kind"], one.get("data_name"), one.get("data_call_id")) for one in nodes]
    assert shown == [
        ("system", "text", None, None),
        ("user", "text", None, None),
        ("assistant", "text", None, "call_1"),
        ("assistant", "call", "weather", "call_1"),
        ("tool", "result", "weather", "call_1"),
        ("assistant", "text", None, None),
    ]
    assert nodes[3]["content"] == '{"city": "Oslo"}'
    # The model was called twice, and each time what it saw is a snapshot.
    assert len(saver.store.context("langgraph/oslo").log()) == 2
    fresh = ContextreeSaver(contextree.open(tmp_path / "a.db"))
    assert fresh.get_tuple(config("oslo")).checkpoint["channel_values"]["messages"] == done["messages"]
    assert saver.store.verify().clean


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage([{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "data:…"}}]),
        HumanMessage("x", name="someone", additional_kwargs={"k": [1, {"z": None}]}, custom="field"),
        AIMessage("", tool_calls=[{"name": "f", "args": {"b": 1, "a": 2}, "id": None}]),
        AIMessage("x", usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
        AIMessage("x", response_metadata={"nan": float("inf")}),
        AIMessageChunk("piece"),
        ToolMessage("ok", tool_call_id="1", artifact=object, status="error"),
        ToolMessage("ok", tool_call_id="1", artifact={1, 2}),
        HumanMessage("lone surrogate \ud800"),
        HumanMessage(""),
    ],
    ids=lambda one: one.type,
)
def test_messages_come_back_as_the_framework_itself_stores_them(tmp_path, refusal, message):
    def stored(saver: Any) -> Any:
        app = StateGraph(MessagesState)
        app.add_node("end", lambda state: {})
        app.add_edge(START, "end")
        app.compile(checkpointer=saver).invoke({"messages": [message]}, config(), durability="sync")
        return saver.get_tuple(config()).checkpoint["channel_values"]["messages"][0]

    message.id = "m"
    try:
        expected: Any = stored(InMemorySaver())
    except Exception as error:  # What the framework refuses is refused here, too.
        expected = refusal(error)
    try:
        found: Any = stored(ContextreeSaver(tmp_path / "a.db"))
        fresh = ContextreeSaver(tmp_path / "a.db").get_tuple(config())
        assert fresh.checkpoint["channel_values"]["messages"][0] == found
    except contextree.SerializationError as error:
        found = refusal(error)
    assert found == expected


def itself() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    # Larger ones are stored in messages, where the framework's serializer refuses them.
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.floats()
    | TEXT
    | st.binary(max_size=3)
    | st.sampled_from([object(), {1}, 1j])
    | st.builds(itself),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.lists(TEXT | st.dictionaries(st.sampled_from(["type", "text", "x"]), VALUES, max_size=3), max_size=2)
CALLS = st.fixed_dictionaries({"name": TEXT, "args": st.dictionaries(TEXT, VALUES, max_size=2), "id": TEXT | st.none()})
MESSAGES = st.one_of(
    st.builds(HumanMessage, content=TEXT | PARTS, additional_kwargs=st.dictionaries(TEXT, VALUES, max_size=2), id=TEXT | st.none()),
    st.builds(AIMessage, content=TEXT | PARTS, tool_calls=st.lists(CALLS, max_size=2), name=TEXT | st.none()),
    st.builds(ToolMessage, content=TEXT, tool_call_id=TEXT, artifact=VALUES),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=st.lists(MESSAGES, max_size=3), value=VALUES, more=st.lists(MESSAGES, max_size=2))
@example(messages=[], value=None, more=[ToolMessage("", tool_call_id="\ud800", name="\udfff")])
def test_any_state_is_stored_or_refused_as_in_memory(refusal, messages, value, more):
    def run(saver: Any, refused: type[Exception]) -> list[str]:
        answers = []
        place = config(checkpoint_ns="")
        for number, state in enumerate(({"messages": messages, "other": value}, {"messages": [*messages, *more]}), 1):
            checkpoint: Any = {**empty_checkpoint(), "id": f"{number:032}", "ts": "", "channel_values": state}
            checkpoint["channel_versions"] = dict.fromkeys(state, number)
            try:
                place = saver.put(place, checkpoint, {"source": "loop", "step": number}, checkpoint["channel_versions"])
            except refused as error:
                # With an exception of ours whose cause is the serializer's, and what was there stays.
                answers.append(refusal(error))
            found = saver.get_tuple(config())
            answers.append(repr(found and sorted(found.checkpoint["channel_values"].items())))
        return answers

    ours = ContextreeSaver("memory:")
    assert run(ours, contextree.SerializationError) == run(InMemorySaver(), Exception)
    assert ours.store.verify().clean


def rewritten(saver: Any) -> list[Any]:
    """Rewrites the past in every way that the reducer has. Returns all states, newest first."""
    graph = chat(saver)
    for turn in range(3):
        graph.invoke({"messages": [HumanMessage(f"q{turn}", id=f"u{turn}")]}, config())
    graph.update_state(config(), {"messages": [RemoveMessage("u1")]})
    graph.invoke({"messages": [HumanMessage("after removal", id="r")]}, config())
    graph.update_state(config(), {"messages": [HumanMessage("replaced", id="u0")]})
    graph.invoke({"messages": [HumanMessage("after replacement", id="p")]}, config())
    history = list(graph.get_state_history(config()))
    early = next(one for one in history if len(one.values.get("messages", [])) == 2)
    graph.invoke({"messages": [HumanMessage("another way", id="w")]}, early.config)
    graph.update_state(config(), {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("new", id="n")]})
    graph.invoke({"messages": [HumanMessage("again", id="g")]}, config())
    return [[(one.id, one.content) for one in state.values.get("messages", [])] for state in graph.get_state_history(config())]


def test_rewritten_pasts_read_as_in_memory(tmp_path):
    expected = rewritten(InMemorySaver())
    saver = ContextreeSaver(tmp_path / "a.db")
    assert rewritten(saver) == expected
    # The same after a restart, and the old lines stay readable.
    graph = chat(ContextreeSaver(contextree.open(tmp_path / "a.db")))
    states = graph.get_state_history(config())
    assert [[(one.id, one.content) for one in state.values.get("messages", [])] for state in states] == expected
    lines = [one for one in saver._records.names("langgraph/t") if "#" in one]
    assert len(lines) >= 3
    assert saver.store.verify().clean


def test_messages_with_values_that_cannot_be_compared_are_appended_to(tmp_path):
    saver = ContextreeSaver(tmp_path / "a.db")
    graph = chat(saver)
    graph.invoke({"messages": [ToolMessage("ok", tool_call_id="1", artifact=numpy.array([1, 2]), id="t")]}, config())
    for turn in range(3):
        graph.invoke({"messages": [HumanMessage(f"q{turn}", id=f"u{turn}")]}, config())
    # One line: no list was taken for a rewritten past.
    assert saver._records.names("langgraph/") == ["langgraph/t"]
    for one in (saver, ContextreeSaver(contextree.open(tmp_path / "a.db"))):
        first = one.get_tuple(config()).checkpoint["channel_values"]["messages"][0]
        assert first.artifact.tolist() == [1, 2]


def test_several_lists_of_messages(tmp_path):
    class Two(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]
        notes: Annotated[list[AnyMessage], add_messages]

    def run(saver: Any) -> Any:
        graph = StateGraph(Two)
        graph.add_node("a", lambda state: {"notes": [HumanMessage(f"n{len(state['notes'])}", id=f"n{len(state['notes'])}")]})
        graph.add_edge(START, "a")
        app = graph.compile(checkpointer=saver)
        for _turn in range(3):
            app.invoke({"messages": [HumanMessage("same", id="same")], "notes": []}, config())
        app.update_state(config(), {"notes": [RemoveMessage("n1")]})
        app.invoke({"messages": [AIMessage("end", id="e")], "notes": []}, config())
        return [state.values for state in app.get_state_history(config())]

    assert run(ContextreeSaver(tmp_path / "a.db")) == run(InMemorySaver())


def test_what_a_graph_does_to_its_messages_does_not_reach_the_store(tmp_path):
    saver = ContextreeSaver(tmp_path / "a.db")
    graph = chat(saver)
    graph.invoke({"messages": [HumanMessage("q", id="u", additional_kwargs={"k": [1]})]}, config())
    message = graph.get_state(config()).values["messages"][0]
    message.additional_kwargs["k"].append(2)
    message.content = "changed"
    again = graph.get_state(config()).values["messages"][0]
    assert (again.content, again.additional_kwargs) == ("q", {"k": [1]})


def test_interrupts_and_subgraphs(tmp_path):
    def run(saver: Any) -> Any:
        inner = StateGraph(MessagesState)
        inner.add_node("ask", lambda state: {"messages": [HumanMessage(interrupt("sure?"), id="i")]})
        inner.add_edge(START, "ask")
        outer = StateGraph(MessagesState)
        outer.add_node("inner", inner.compile(checkpointer=True))
        outer.add_node("end", lambda state: {"messages": [AIMessage("done", id="d")]})
        outer.add_edge(START, "inner")
        outer.add_edge("inner", "end")
        app = outer.compile(checkpointer=saver)
        app.invoke({"messages": [HumanMessage("go", id="g")]}, config())
        asked = app.get_state(config(), subgraphs=True)
        assert asked.tasks[0].interrupts[0].value == "sure?"
        done = app.invoke(Command(resume="yes"), config())
        return [(one.id, one.content) for one in done["messages"]]

    assert run(ContextreeSaver(tmp_path / "a.db")) == run(InMemorySaver()) == [("g", "go"), ("i", "yes"), ("d", "done")]


def test_delta_channels_and_pruning(tmp_path):
    class Delta(TypedDict):
        messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=5)]

    saver = ContextreeSaver(tmp_path / "a.db")
    graph, oracle = chat(saver, Delta), chat(InMemorySaver(), Delta)
    for turn in range(13):
        for one in (graph, oracle):
            one.invoke({"messages": [HumanMessage(f"q{turn}", id=f"u{turn}")]}, config())
    assert texts(graph) == texts(oracle)
    before = len(list(saver.list(config())))
    saver.copy_thread("t", "copy")
    saver.prune(["t"])
    assert len(list(saver.list(config()))) < before
    assert texts(graph) == texts(graph, "copy") == texts(oracle)
    graph.invoke({"messages": [HumanMessage("on", id="on")]}, config())
    assert len(texts(graph)) == 28


def test_asynchronous_graphs(tmp_path):
    graph = chat(ContextreeSaver(tmp_path / "a.db"))

    async def run() -> list[str]:
        for turn in range(3):
            await graph.ainvoke({"messages": [HumanMessage(f"q{turn}", id=f"u{turn}")]}, config())
        await asyncio.gather(*(graph.ainvoke({"messages": [HumanMessage("hi", id="h")]}, config(f"other{n}")) for n in range(8)))
        state = await graph.aget_state(config())
        assert len([one async for one in graph.aget_state_history(config("other7"))]) == 3
        return [one.content for one in state.values["messages"]]

    assert asyncio.run(run()) == ["q0", "answer 1", "q1", "answer 3", "q2", "answer 5"]


def test_encrypted_threads_are_not_mapped(tmp_path):
    serde = EncryptedSerializer.from_pycryptodome_aes(key=b"0123456789abcdef")
    saver = ContextreeSaver(tmp_path / "a.db", serde=serde)
    graph = chat(saver)
    graph.invoke({"messages": [HumanMessage("my secret", id="u")]}, config())
    assert texts(graph) == ["my secret", "answer 1"]
    assert saver._records.nodes("langgraph/t") == []
    saver.store.close()
    for file in tmp_path.iterdir():
        assert b"my secret" not in file.read_bytes()


def test_two_writers_in_one_process_get_a_conflict(tmp_path):
    saver = ContextreeSaver(tmp_path / "a.db")
    graph = chat(saver)
    graph.invoke({"messages": [HumanMessage("q", id="u")]}, config())
    stale = saver.get_tuple(config())
    graph.invoke({"messages": [HumanMessage("first", id="f")]}, config())
    newer = {**stale.checkpoint, "id": "ffffffff-0000-6000-8000-000000000000"}
    with pytest.raises(contextree.ConflictError):
        saver.put(stale.config, newer, {}, {})
    assert texts(graph)[-2] == "first"


def test_a_write_that_cannot_be_serialized_is_refused_and_nothing_is_lost(tmp_path, refusal):
    saver = ContextreeSaver(tmp_path / "a.db")
    graph = chat(saver)
    graph.invoke({"messages": [HumanMessage("q", id="u")]}, config())
    newest = saver.get_tuple(config())
    saver.put_writes(newest.config, [("messages", "kept")], "one")
    before = saver.get_tuple(config())
    with pytest.raises(contextree.SerializationError) as caught:
        saver.put_writes(newest.config, [("messages", "lost"), ("messages", object())], "two")
    assert refusal(caught.value) == "TypeError"
    assert isinstance(caught.value, TypeError)
    assert "the channel `messages`" in str(caught.value)
    assert saver.get_tuple(config()) == before
    assert saver.store.verify().clean


def test_going_back_on_purpose_is_no_conflict_although_another_process_went_on(tmp_path):
    path = tmp_path / "a.db"
    mine, other = chat(ContextreeSaver(path)), chat(ContextreeSaver(path))
    mine.invoke({"messages": [HumanMessage("first", id="f")]}, config())
    old = mine.get_state(config())
    other.invoke({"messages": [HumanMessage("second", id="s")]}, config())
    # A writer that does not know of it is refused …
    with pytest.raises(contextree.ConflictError):
        mine.checkpointer.put(old.config, {**empty_checkpoint(), "id": "ffffffff-0000-6000-8000-000000000000"}, {}, {})
    # … and one that names the checkpoint is not.
    mine.invoke({"messages": [HumanMessage("another way", id="w")]}, old.config)
    assert texts(mine) == texts(other) == ["first", "answer 1", "another way", "answer 3"]


@pytest.mark.parametrize("later", [0, 1, 2])
def test_a_checkpoint_of_the_past_can_be_copied(tmp_path, later):
    found = []
    for saver in (InMemorySaver(), ContextreeSaver(tmp_path / "a.db")):
        graph = chat(saver)
        graph.invoke({"messages": [HumanMessage("q", id="u")]}, config())
        graph.invoke({"messages": [HumanMessage("first", id="f")]}, config())
        past = list(graph.get_state_history(config()))[later]
        copy = graph.update_state(past.config, None, as_node="__copy__")
        state = graph.get_state(copy)
        found.append(([one.content for one in state.values["messages"]], state.next, state.metadata["source"]))
    assert found[0] == found[1]


def test_writers_on_several_threads_lose_nothing(tmp_path):
    graph = chat(ContextreeSaver(tmp_path / "a.db"))
    conflicts: list[int] = []

    def write(who: int) -> None:
        for turn in range(10):
            try:
                graph.invoke({"messages": [HumanMessage(f"{who}/{turn}", id=f"{who}/{turn}")]}, config(), durability="sync")
            except contextree.ConflictError:
                conflicts.append(who)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    kept = {one.id for one in graph.get_state(config()).values["messages"] if isinstance(one, HumanMessage)}
    assert len(kept) + len(conflicts) >= 30


def test_two_processes_on_one_thread_lose_no_message_unnoticed(tmp_path):
    script = (
        "import sys\n"
        "from langchain_core.messages import AIMessage, HumanMessage\n"
        "from langgraph.graph import END, START, MessagesState, StateGraph\n"
        "from contextree import ConflictError\n"
        "from contextree.langgraph import ContextreeSaver\n"
        "builder = StateGraph(MessagesState)\n"
        "builder.add_node('reply', lambda state: {'messages': [AIMessage('ok')]})\n"
        "builder.add_edge(START, 'reply')\n"
        "builder.add_edge('reply', END)\n"
        "graph = builder.compile(checkpointer=ContextreeSaver(sys.argv[1]))\n"
        "config = {'configurable': {'thread_id': 't'}}\n"
        "for turn in range(20):\n"
        "    try:\n"
        "        graph.invoke({'messages': [HumanMessage(f'{sys.argv[2]}{turn}')]}, config, durability='sync')\n"
        "    except ConflictError:\n"
        "        print(f'{sys.argv[2]}{turn}')\n"
    )
    path = tmp_path / "a.db"
    saver = ContextreeSaver(path)
    children = [subprocess.Popen([sys.executable, "-c", script, str(path), who], stdout=subprocess.PIPE, text=True) for who in "ab"]
    told = [child.communicate()[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0]
    kept = {one.content for one in saver.get_tuple(config()).checkpoint["channel_values"]["messages"] if isinstance(one, HumanMessage)}
    conflicts = {one for lines in told for one in lines}
    print(f"\ntwo processes, 20 turns each: {len(kept)} messages, {len(conflicts)} conflicts")
    assert kept | conflicts == {f"{who}{turn}" for who in "ab" for turn in range(20)}
    assert kept
    assert saver.store.verify().clean


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_an_exported_thread_is_imported_with_its_checkpoints(tmp_path, url_of, place):
    store = contextree.open(url_of(place))
    graph = chat(ContextreeSaver(store))
    for turn in range(4):
        graph.invoke({"messages": [HumanMessage(f"question {turn}", id=f"u{turn}")]}, config())
    # A rewritten past is another line.
    graph.update_state(config(), {"messages": [RemoveMessage(id="u2")]})
    copy = contextree.open(tmp_path / "copy.db")
    names = [row.name for row in store.contexts()]
    assert len(names) == 2
    for name in names:
        copy.import_log(name, store.context(name).export(history=True).encode())
    again = chat(ContextreeSaver(copy))
    assert list(again.get_state_history(config())) == list(graph.get_state_history(config()))
    for one in (graph, again):
        one.invoke({"messages": [HumanMessage("go on", id="u9")]}, config())
    assert texts(again) == texts(graph)
    assert copy.verify().clean


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_a_past_is_rewritten_although_retention_dropped_its_snapshots(url_of, place):
    saver = ContextreeSaver(url_of(place))
    graph = chat(saver)
    for turn in range(6):
        graph.invoke({"messages": [HumanMessage(f"question {turn}", id=f"u{turn}")]}, config())
    saver.store.context("langgraph/t").gc(keep=1)
    graph.update_state(config(), {"messages": [RemoveMessage(id="u2")]})
    kept = [f"question {turn}" for turn in (0, 1, 3, 4, 5)]
    assert [one for one in texts(graph) if one.startswith("question")] == kept
    graph.invoke({"messages": [HumanMessage("go on", id="u9")]}, config())
    assert [one for one in texts(chat(ContextreeSaver(saver.store))) if not one.startswith("answer")] == [*kept, "go on"]
    assert saver.store.verify().clean


def test_images_and_reasoning_are_nodes_that_count_and_are_not_read_again(tmp_path, png):
    data = base64.b64encode(png).decode()
    question = HumanMessage(
        [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
            {"type": "image", "base64": data, "mime_type": "image/png"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
            {"type": "image_url", "image_url": "https://example.org/a.png"},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "mystery", "value": [1]},
            "and this?",
        ]
    )
    answer = AIMessage([{"type": "thinking", "thinking": "A cat?", "signature": "s"}, {"type": "text", "text": "A cat."}])
    saver = ContextreeSaver(tmp_path / "a.db")
    graph = StateGraph(MessagesState)
    graph.add_node("reply", lambda state: {"messages": [answer]})
    graph.add_edge(START, "reply")
    app = graph.compile(checkpointer=saver)
    done = app.invoke({"messages": [question]}, config())
    context = saver.store.context("langgraph/t")
    shown = [(one["role"], one["kind"], one.get("mime"), one.get("encoding")) for one in saver._records.nodes(context.name)]
    assert shown == [
        ("user", "text", None, None),
        *[("user", "image", "image/png", "base64")] * 3,
        ("user", "image", None, "uri"),
        ("user", "audio", "audio/wav", "base64"),
        ("user", "document", None, "file_id"),
        ("user", "data", None, None),
        ("assistant", "text", None, None),
        ("assistant", "reasoning", None, None),
    ]
    assert context.tokens(model="gpt-5").total > 3 * 700
    # The mapping may change: loading does not depend on it.
    context.edit(".block[kind=reasoning]", "Something else.")
    context.remove(".block[kind=reasoning]")
    fresh = ContextreeSaver(saver.store)
    assert fresh.get_tuple(config()).checkpoint["channel_values"]["messages"] == done["messages"]


def test_threads_that_are_not_used_leave_the_memory_and_still_notice_conflicts(tmp_path, monkeypatch):
    monkeypatch.setattr("contextree.langgraph._WARM", 3)
    store = contextree.open(tmp_path / "a.db")
    saver = ContextreeSaver(store)
    graph = chat(saver)
    for thread in range(10):
        graph.invoke({"messages": [HumanMessage("Hello")]}, config(f"t{thread}"))
    kept = [thread for thread in saver._threads.values() if thread.lines._lines or thread._rows]
    assert len(kept) == 3
    stale = graph.get_state(config("t0"))
    for thread in range(1, 10):
        graph.get_state(config(f"t{thread}"))
    # Another writer continues after this one has read.
    chat(ContextreeSaver(store)).invoke({"messages": [HumanMessage("faster")]}, config("t0"))
    with pytest.raises(contextree.ConflictError):
        saver.put(stale.config, empty_checkpoint(), {"source": "loop", "step": 1, "parents": {}}, {})
    assert texts(graph, "t5") == ["Hello", "answer 1"]


def test_only_the_oldest_note_of_a_reader_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr("contextree.langgraph._NOTES", 3)
    store = contextree.open(tmp_path / "a.db")
    saver, other = ContextreeSaver(store), ContextreeSaver(store)
    read = []
    for turn in range(5):
        chat(other).invoke({"messages": [HumanMessage(f"{turn}")]}, config())
        read.append(saver.get_tuple(config()).config)
    chat(other).invoke({"messages": [HumanMessage("faster")]}, config())
    for one in read[-3:]:
        with pytest.raises(contextree.ConflictError):
            saver.put(one, empty_checkpoint(), {"source": "loop", "step": 1, "parents": {}}, {})


def test_a_checkpoint_that_another_process_prunes_meanwhile_is_not_found(tmp_path):
    store = contextree.open(tmp_path / "a.db")
    saver, other = ContextreeSaver(store), ContextreeSaver(store)
    parent: Any = config("t", checkpoint_ns="")
    for step in range(3):
        checkpoint = {**empty_checkpoint(), "channel_values": {"x": step}, "channel_versions": {"x": step + 1}}
        parent = saver.put(parent, checkpoint, {"source": "loop", "step": step, "parents": {}}, {"x": step + 1})
    first = next(iter(reversed(list(saver.list(config())))))
    thread = saver._thread(first.config)
    row = thread.row

    def row_and_prune(*given: Any) -> Any:
        found = row(*given)
        other.prune(["t"])
        return found

    thread.row = row_and_prune
    assert saver.get_tuple(first.config) is None
    thread.row = row
    # The newest one continues, with values of its own.
    assert saver.get_tuple(parent).checkpoint["channel_values"] == {"x": 2}


def test_a_writer_goes_on_after_another_process_pruned_the_parent(tmp_path):
    store = contextree.open(tmp_path / "a.db")
    saver, other = ContextreeSaver(store), ContextreeSaver(store)

    def put(saver: Any, parent: Any, step: int, fresh: Any, source: str = "loop") -> Any:
        checkpoint = {**empty_checkpoint(), "channel_values": {"x": 7}, "channel_versions": {"x": 1}}
        return saver.put(parent, checkpoint, {"source": source, "step": step, "parents": {}}, fresh)

    first = put(saver, config("t", checkpoint_ns=""), 0, {"x": 1})
    put(other, first, 1, {"x": 1})
    other.prune(["t"])
    # A copy of the first checkpoint, whose value was pruned with it.
    third = put(saver, first, 2, {}, "fork")
    assert ContextreeSaver(store).get_tuple(third).checkpoint["channel_values"] == {"x": 7}


def test_ids_that_are_not_unicode_are_refused(tmp_path):
    saver = ContextreeSaver(tmp_path / "a.db")
    for call in (saver.get_tuple, lambda one: saver.put_writes(one, [("x", 1)], "task"), lambda one: saver.delete_thread("\ud800")):
        with pytest.raises(contextree.UsageError, match="surrogate"):
            call(config("\ud800", checkpoint_id="c"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_saver_is_refused_after_a_fork_although_another_thread_held_its_locks(tmp_path, fork_child, hold):
    saver = ContextreeSaver(tmp_path / "a.db")
    chat(saver).invoke({"messages": [HumanMessage("Hello")]}, config())
    for lock in (saver._guard, saver._thread(config()).lock):
        with hold(lock):
            assert fork_child(lambda: saver.get_tuple(config())) == "E_STORE_FORKED"


def test_the_example_runs(tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples/graph.py"
    done = subprocess.run([sys.executable, example, tmp_path / "a.db"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "It rains in Oslo" in done.stdout
    assert "tool results: ['rain from 14:00', 'rain from 14:00']" in done.stdout
    print("\n" + done.stdout)


def test_the_example_of_the_page_runs(run_page):
    builder = StateGraph(MessagesState)
    builder.add_node("reply", lambda state: {"messages": [AIMessage("Hi!")]})
    builder.add_edge(START, "reply")
    graph = run_page("langgraph.md", builder=builder)["graph"]
    graph.invoke({"messages": [HumanMessage("Hello")]}, config())
    assert texts(graph) == ["Hello", "Hi!"]
