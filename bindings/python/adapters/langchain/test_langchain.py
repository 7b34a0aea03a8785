"""`contextree.langchain`: agents of `create_agent` on a scripted model, within a budget."""

from __future__ import annotations

import asyncio
import base64
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage, trim_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import contextree
from contextree.langchain import ContextreeMiddleware, _messages


class Script(BaseChatModel):
    """A model that calls two tools for every question, and remembers what it was sent."""

    sent: list[Any]
    fails: int = 0

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        if self.fails:
            self.fails -= 1
            raise TimeoutError("no answer")
        self.sent.append(list(messages))
        number = len(self.sent)
        answer = AIMessage("Yes.", usage_metadata={"input_tokens": 5, "output_tokens": 1, "total_tokens": 6})
        if isinstance(messages[-1], HumanMessage):
            calls = [{"name": "weather", "args": {"city": city}, "id": f"c{number}-{city}"} for city in ("Oslo", "Rome")]
            answer = AIMessage("I look.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"rain in {city} " + "and wind " * 20


BUDGET = {"max_tokens": 1_200, "clear_at_least": 400}


def agent_on(store: Any, *, budget: Any = BUDGET, fails: int = 0, saver: Any = None, more: Any = ()) -> tuple[Any, Script]:
    model = Script(sent=[], fails=fails)
    middleware = [*more, ContextreeMiddleware(store, budget=budget)]
    saver = saver or InMemorySaver()
    return create_agent(model, [weather], system_prompt="You are a weather bot.", middleware=middleware, checkpointer=saver), model


def ask(agent: Any, text: str, thread: str = "t") -> Any:
    return agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": thread}})


def check_pairs(messages: list[Any]) -> None:
    calls = {call["id"] for one in messages if isinstance(one, AIMessage) for call in one.tool_calls}
    results = {one.tool_call_id for one in messages if isinstance(one, ToolMessage)}
    assert calls == results


def changes(sent: list[list[Any]]) -> int:
    """Returns how often a request did not begin with the one before."""
    texts = [[(one.type, one.text, str(getattr(one, "tool_calls", ""))) for one in messages] for messages in sent]
    return sum(after[: len(before)] != before for before, after in itertools.pairwise(texts))


@pytest.mark.parametrize("is_async", [False, True])
def test_requests_stay_within_the_budget_and_keep_calls_with_their_results(tmp_path, is_async):
    agent, model = agent_on(tmp_path / "a.db")
    receipts = []
    for turn in range(20):
        inputs = {"messages": [HumanMessage(f"Question {turn}: will it rain?")]}
        config: Any = {"configurable": {"thread_id": "t/1"}}
        result = asyncio.run(agent.ainvoke(inputs, config)) if is_async else agent.invoke(inputs, config)
        assert len(result["receipts"]) == 2
        receipts += result["receipts"]
    # The state of the agent has everything; the model was sent what fits.
    assert len(result["messages"]) == 100
    assert len(model.sent) == 40
    for messages, receipt in zip(model.sent, receipts, strict=True):
        system, first, *_ = messages
        assert isinstance(system, SystemMessage)
        assert isinstance(first, HumanMessage)
        check_pairs(messages)
        assert receipt["kept"]
        assert receipt["tokens_after"] <= 1_200
        assert receipt["sent"] == len(messages) - 1
    pruned = [one["position"] for receipt in receipts for one in receipt["pruned"]]
    assert sorted(pruned) == list(range(len(pruned)))
    assert pruned
    assert all(one["reason"] for receipt in receipts for one in receipt["pruned"])
    store = contextree.open(tmp_path / "a.db")
    context = store.context(receipts[-1]["context"], create=False)
    assert len(context.log()) == 40
    # The snapshot is what was sent: the texts of the last request.
    shown = [node.text for node in context.at(receipts[-1]["snapshot"]).nodes() if node.get("data_lc")]
    assert shown[-len(model.sent[-1]) + 1 :] == [one.text for one in model.sent[-1][1:]]
    assert store.verify().clean


def test_the_cached_prefix_changes_less_often_than_with_trimming(tmp_path):
    agent, model = agent_on(tmp_path / "a.db")
    for turn in range(30):
        state = ask(agent, f"Question {turn}: will it rain?")
    ours = changes(model.sent)
    messages = state["messages"]
    windows = []
    for end, message in enumerate(messages):
        if not isinstance(message, AIMessage):
            continue
        cut = trim_messages(messages[:end], max_tokens=1_200, token_counter="approximate", start_on="human")
        windows.append(cut)
    theirs = changes(windows)
    print(f"\nthe beginning of the request changed {ours} times in {len(model.sent)} calls, with trim_messages {theirs} times")
    assert ours < theirs / 2


def test_the_same_run_gives_the_same_requests(tmp_path):
    runs = []
    for name in ("a.db", "b.db"):
        agent, model = agent_on(tmp_path / name)
        for turn in range(12):
            ask(agent, f"Question {turn}: will it rain?")
        runs.append([[(one.type, one.text) for one in messages] for messages in model.sent])
    assert runs[0] == runs[1]


def test_a_call_that_fails_seals_nothing_and_can_be_repeated(tmp_path):
    agent, _ = agent_on(tmp_path / "a.db", fails=1)
    with pytest.raises(TimeoutError):
        ask(agent, "Will it rain?")
    context = contextree.open(tmp_path / "a.db").context("langchain/t", create=False)
    assert context.log() == []
    ask(agent, "Will it rain?")
    assert len(context.log()) == 2
    again, model = agent_on(tmp_path / "b.db", fails=2, more=[ModelRetryMiddleware(max_retries=3, initial_delay=0.0, jitter=False)])
    assert len(ask(again, "Will it rain?")["receipts"]) == 2
    assert len(model.sent) == 2


def test_a_rewritten_past_goes_on_in_another_line_and_the_old_one_stays(tmp_path):
    agent, model = agent_on(tmp_path / "a.db", budget=100_000)
    config: Any = {"configurable": {"thread_id": "t"}}
    for turn in range(3):
        state = ask(agent, f"Question {turn}")
    gone = state["messages"][5:10]
    agent.update_state(config, {"messages": [RemoveMessage(id=one.id) for one in gone]})
    receipt = ask(agent, "Once more")["receipts"][-1]
    assert receipt["context"] == "langchain/t#2"
    texts = [one.text for one in model.sent[-1] if isinstance(one, HumanMessage)]
    assert texts == ["Question 0", "Question 2", "Once more"]
    store = contextree.open(tmp_path / "a.db")
    assert [node.text for node in store.context("langchain/t").select(".block[role=user]")] == ["Question 0", "Question 1", "Question 2"]
    # The line shares what was before.
    assert store.context("langchain/t#2").log()[-1].cycle == 1
    assert store.verify().clean


@pytest.mark.parametrize("place", ["file", "memory", "postgres"])
def test_a_past_is_rewritten_although_retention_dropped_its_snapshots(url_of, place):
    store = contextree.open(url_of(place))
    agent, model = agent_on(store, budget=100_000)
    config: Any = {"configurable": {"thread_id": "t"}}
    for turn in range(3):
        state = ask(agent, f"Question {turn}")
    store.context("langchain/t").gc(keep=1)
    agent.update_state(config, {"messages": [RemoveMessage(id=one.id) for one in state["messages"][5:10]]})
    receipt = ask(agent, "Once more")["receipts"][-1]
    assert receipt["context"] == "langchain/t#2"
    assert [one.text for one in model.sent[-1] if isinstance(one, HumanMessage)] == ["Question 0", "Question 2", "Once more"]
    assert store.verify().clean


def test_a_budget_counts_images(tmp_path, png):
    agent, model = agent_on(tmp_path / "a.db", budget={"max_tokens": 2_000})
    image = {"type": "image", "base64": base64.b64encode(png).decode(), "mime_type": "image/png"}
    receipts = []
    for turn in range(6):
        inputs = {"messages": [HumanMessage([{"type": "text", "text": f"Question {turn}"}, image])]}
        receipts += agent.invoke(inputs, {"configurable": {"thread_id": "t"}})["receipts"]
    assert any(receipt["pruned"] for receipt in receipts)
    assert all(receipt["tokens_after"] <= 2_000 for receipt in receipts)
    # Each image counts 765 tokens.
    assert max(sum(isinstance(one, HumanMessage) for one in sent) for sent in model.sent) == 2


def test_agents_without_a_thread_continue_by_their_messages(tmp_path):
    model = Script(sent=[])
    agent = create_agent(model, [weather], middleware=[ContextreeMiddleware(tmp_path / "a.db", budget=BUDGET)])
    messages: list[Any] = []
    for turn in range(10):
        result = agent.invoke({"messages": [*messages, HumanMessage(f"Question {turn}: will it rain?")]})
        messages = result["messages"]
    names = [row.name for row in contextree.open(tmp_path / "a.db").contexts()]
    assert len(names) == 1
    assert names[0].startswith("langchain/untitled/")
    assert result["receipts"][-1]["left_out"] > 0


def test_two_agents_on_one_thread_lose_nothing(tmp_path):
    saver = InMemorySaver()
    (first, _), (second, model) = agent_on(tmp_path / "a.db", saver=saver), agent_on(tmp_path / "a.db", saver=saver)
    for turn in range(6):
        result = ask((first, second)[turn % 2], f"Question {turn}")
    names = [row.name for row in contextree.open(tmp_path / "a.db").contexts()]
    assert names == ["langchain/t"]
    check_pairs(model.sent[-1])
    assert len(result["messages"]) == 30


def test_a_budget_that_is_wrong_is_refused_at_once(tmp_path):
    for budget in (0, -1, True):
        with pytest.raises(contextree.UsageError):
            ContextreeMiddleware(tmp_path / "a.db", budget=budget)
    agent, _ = agent_on(tmp_path / "a.db", budget={"max_tokenz": 5})
    with pytest.raises(contextree.ContextreeError):
        ask(agent, "Hello")


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.binary(max_size=3) | st.sampled_from([object(), {1}, 1j]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.fixed_dictionaries({"name": TEXT, "args": st.dictionaries(TEXT, VALUES, max_size=2), "id": TEXT | st.none()})
MESSAGES = st.one_of(
    st.builds(HumanMessage, content=TEXT | st.lists(TEXT, max_size=2), additional_kwargs=st.dictionaries(TEXT, VALUES, max_size=2)),
    st.builds(AIMessage, content=TEXT, tool_calls=st.lists(CALLS, max_size=2)),
    st.builds(ToolMessage, content=TEXT, tool_call_id=TEXT, artifact=VALUES),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=3), max_size=3))
def test_any_messages_are_sent_within_the_budget_or_refused(batches):
    middleware = ContextreeMiddleware("memory:", budget=200)
    window = middleware._windows.window("langchain/t")
    messages: list[Any] = []
    for batch in batches:
        try:
            fresh = _messages([*messages, *batch])
            sent = window.begin([], fresh)
        except contextree.UsageError:
            # An object that cannot be serialized, or a lone surrogate in a name. What was there stays.
            continue
        messages += batch
        window.done(sent)
        assert sent.positions == sorted({*sent.positions})
        assert set(sent.positions) <= set(range(len(messages)))
        assert sent.receipt.sent + sent.receipt.left_out == len(messages)
    assert middleware.store.verify().clean


def test_the_examples_of_the_page_run(run_page):
    names = run_page("langchain.md", create_agent=create_agent, model=Script(sent=[]), tools=[weather])
    assert names["result"]["receipts"]
