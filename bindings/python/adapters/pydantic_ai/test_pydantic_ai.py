"""`contextree.pydantic_ai`: random calls compared with `InMemoryConversationStore`, real runs on a scripted model, budgets."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import random
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, BinaryContent, ImageUrl
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, ConversationEntry, InMemoryConversationStore
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    FilePart,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel

import contextree
from contextree.pydantic_ai import ContextreeBudget, ContextreeConversationStore


def message(source: random.Random) -> Any:
    word = source.choice(["one", "zwei ü", "", "line\nbreak", "\ud800", "x" * 300])
    call = f"call_{source.randrange(4)}"
    parts = [
        UserPromptPart(word),
        UserPromptPart(["look", BinaryContent(b"\x00\xff", media_type="image/png"), word]),
        SystemPromptPart(word),
        ToolReturnPart("f", word, call),
        ToolReturnPart("f", {"b": [1, None], "a": word}, call),
        ToolReturnPart("f", word, call, outcome="retried"),
    ]
    answers = [
        TextPart(word),
        ThinkingPart(word, signature="s"),
        ToolCallPart("f", {"b": 1, "a": word}, call),
        ToolCallPart("f", '{"b":1,"a":', call),
    ]
    if source.random() < 0.5:
        return ModelRequest(parts=source.sample(parts, source.randrange(1, 3)), instructions=source.choice([None, "Be brief."]))
    return ModelResponse(parts=source.sample(answers, source.randrange(3)), model_name="m")


def shown(messages: list[Any]) -> str:
    """Returns messages as text, as the framework's serializer restores them: a `BinaryContent` becomes a `BinaryImage`, for example."""
    return repr(ModelMessagesTypeAdapter.validate_python(ModelMessagesTypeAdapter.dump_python(messages, mode="json")))


class Named:
    """A store whose entries are known by the order in which they were saved, so that two stores can be compared."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.entries: list[str] = []
        self.kept: dict[str, Conversation] = {}

    def name(self, entry: str | None) -> int | None:
        return None if entry is None else self.entries.index(entry)

    def told(self, entries: list[ConversationEntry] | None) -> Any:
        return entries and [(self.name(one.id), self.name(one.parent_id), shown([one.message])) for one in entries]

    async def call(self, what: str, source: random.Random) -> Any:
        try:
            return await getattr(self, what)(source)
        except (ConversationConflict, UserError) as error:
            return type(error).__name__

    async def save(self, source: random.Random) -> Any:
        key = source.choice("abc")
        scope = source.choice([None, None, "s"])
        held = await self.store.load(key) or Conversation(conversation_id=key)
        held.messages.extend(message(source) for _ in range(source.randrange(4)))
        held.usage.requests += 1
        self.kept[key] = held
        saved = await self.store.save(held, scope=scope)
        self.entries.extend(entry.id for entry in saved)
        return self.told(saved)

    async def save_stale(self, source: random.Random) -> Any:
        held = self.kept.get(source.choice("abc"), Conversation(conversation_id="c"))
        held.messages.append(message(source))
        saved = await self.store.save(held)
        self.entries.extend(entry.id for entry in saved)
        return self.told(saved)

    async def rewrite(self, source: random.Random) -> Any:
        held = await self.store.load(source.choice("abc"))
        if held is None:
            return None
        keep = source.randrange(len(held.messages) + 1)
        held.messages = [*held.messages[:keep], message(source)]
        held.new_message_index = None
        saved = await self.store.save(held)
        self.entries.extend(entry.id for entry in saved)
        return self.told(saved)

    async def load(self, source: random.Random) -> Any:
        held = await self.store.load(source.choice("abcd"), limit=source.choice([None, None, 0, 1, 3, -1]))
        return held and (shown(held.messages), held.usage, held.deferred_tool_requests)

    async def branch(self, source: random.Random) -> Any:
        key = source.choice("abc")
        record = await self.store.read_record(key)
        at = source.randrange(5)
        held = await self.store.branch(key, at=at, expected_revision=record and record.revision)
        return shown(held.messages)

    async def branch_back(self, source: random.Random) -> Any:
        key = source.choice("abc")
        record = await self.store.read_record(key)
        if record is None or not record.branches:
            return None
        entry = source.choice(record.branches)
        return shown((await self.store.branch(key, from_entry=entry, expected_revision=record.revision)).messages)

    async def fork(self, source: random.Random) -> Any:
        key, other = source.choice("abc"), source.choice("bcd")
        held = await self.store.fork(key, at=source.choice([None, 0, 1, 3]), new_conversation_id=other)
        return shown(held.messages)

    async def delete(self, source: random.Random) -> Any:
        if source.random() < 0.4:
            await self.store.delete(source.choice("abcd"))

    async def state(self) -> Any:
        found = []
        for record in await self.store.list_conversations():
            fields = dataclasses.asdict(record)
            del fields["revision"], fields["updated_at"]
            fields["head_id"] = self.name(record.head_id)
            fields["forked_at"] = self.name(record.forked_at)
            fields["branches"] = [self.name(one) for one in record.branches]
            lines = [self.told(await self.store.read_history(one)) for one in [record.head_id, *record.branches]]
            found.append((fields, lines))
        return found


CALLS = ["save", "save", "save", "save", "load", "save_stale", "rewrite", "branch", "branch_back", "fork", "delete"]


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_random_calls_give_the_same_answers_as_the_in_memory_store(tmp_path, first):
    async def compare(seed: int) -> int:
        store = contextree.open(tmp_path / f"{seed}.db")
        ours, theirs = Named(ContextreeConversationStore(store)), Named(InMemoryConversationStore())
        source = random.Random(seed)
        for step in range(40):
            what = source.choice(CALLS)
            draw = source.random()
            if source.random() < 0.2:
                ours.store = ContextreeConversationStore(store)
            answers = [await one.call(what, random.Random(draw)) for one in (theirs, ours)]
            assert _plain(answers[1]) == _plain(answers[0]), f"seed {seed}, step {step}: {what}"
            assert _plain(await ours.state()) == _plain(await theirs.state()), f"seed {seed}, after step {step}: {what}"
        assert store.verify().clean
        return 40

    async def run() -> int:
        return sum([await compare(seed) for seed in range(first, first + 10)])

    compared = asyncio.run(run())
    print(f"\ncompared with InMemoryConversationStore: {compared} steps")
    assert compared == 400


def _plain(answer: Any) -> str:
    # Two messages are made at different times.
    return re.sub(r"datetime\.datetime\([^)]*\)+", "", repr(answer)).replace("'audio_seconds': 0.0", "'audio_seconds': 0")


def weather_agent(model: Any, **options: Any) -> Agent[None, str]:
    agent = Agent(model, instructions="You are a weather bot.", **options)

    @agent.tool_plain
    def weather(city: str) -> str:
        """Returns the weather."""
        return f"rain in {city} " + "and wind " * 30

    return agent


class Script:
    """A model that calls the tool once for every question, and remembers what it was sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def __call__(self, messages: list[Any], info: Any) -> ModelResponse:
        self.sent.append(messages)
        last = messages[-1].parts[-1]
        if isinstance(last, UserPromptPart):
            return ModelResponse(parts=[TextPart("I look."), ToolCallPart("weather", {"city": "Oslo"})])
        return ModelResponse(parts=[TextPart("Yes.")])


def test_runs_on_a_scripted_model_survive_a_restart(tmp_path):
    async def run() -> None:
        agent = weather_agent(FunctionModel(Script()))
        store = ContextreeConversationStore(tmp_path / "a.db")
        for question in ("Will it rain in Oslo?", "And tomorrow?"):
            held = await store.load("u/1 #2") or Conversation(conversation_id="u/1 #2")
            result = await agent.run(question, conversation=held)
            await store.save(result, scope="me")
        again = ContextreeConversationStore(contextree.open(tmp_path / "a.db"))
        loaded = await again.load("u/1 #2", scope="me")
        assert loaded is not None
        assert loaded.messages == result.all_messages()
        assert loaded.usage == result.conversation.usage
        assert await again.load("u/1 #2", scope="another") is None
        context = store.store.context(store.context("u/1 #2"))
        shown = [(node.role, node.kind, node.get("data_name")) for node in context.select(".block")]
        assert shown[:4] == [
            ("user", "text", None),
            ("assistant", "text", None),
            ("assistant", "call", "weather"),
            ("tool", "result", "weather"),
        ]
        assert len(context.log()) == 2
        assert store.store.verify().clean

    asyncio.run(run())


def test_values_that_json_lacks_are_kept_as_the_framework_keeps_them(tmp_path):
    messages = [
        ModelRequest(parts=[UserPromptPart("a\ud800b")], metadata={"k": [1, 2.5]}),
        ModelResponse(parts=[ToolCallPart("f", {"x": float("inf")}, "c1")]),
        ModelRequest(parts=[ToolReturnPart("f", float("nan"), "c1"), UserPromptPart("go on")]),
    ]

    async def run() -> None:
        store = ContextreeConversationStore(tmp_path / "a.db")
        await store.save(Conversation(conversation_id="c", messages=list(messages)))
        loaded = await ContextreeConversationStore(tmp_path / "a.db").load("c")
        assert loaded is not None
        assert repr(loaded.messages) == shown(messages)

    asyncio.run(run())


def test_an_object_that_cannot_be_serialized_is_refused_and_nothing_is_lost(tmp_path, refusal):
    async def run() -> None:
        store = ContextreeConversationStore(tmp_path / "a.db")
        held = Conversation(conversation_id="c", messages=[ModelRequest(parts=[UserPromptPart("hello")])])
        await store.save(held)
        held.messages.append(ModelRequest(parts=[ToolReturnPart("f", object(), "c1")]))
        with pytest.raises(contextree.SerializationError) as caught:
            await store.save(held)
        assert refusal(caught.value) == "PydanticSerializationError"
        loaded = await store.load("c")
        assert loaded is not None
        assert loaded.messages == held.messages[:1]

    asyncio.run(run())


def itself() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.binary(max_size=3)
    | st.sampled_from([object(), {1}, 1j])
    | st.builds(itself),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
REQUESTS = st.lists(
    st.builds(UserPromptPart, content=TEXT | st.lists(TEXT, max_size=2))
    | st.builds(SystemPromptPart, content=TEXT)
    | st.builds(ToolReturnPart, tool_name=TEXT, content=VALUES, tool_call_id=TEXT),
    max_size=2,
)
ANSWERS = st.lists(
    st.builds(TextPart, content=TEXT)
    | st.builds(ThinkingPart, content=TEXT, signature=TEXT | st.none())
    | st.builds(ToolCallPart, tool_name=TEXT, args=TEXT | st.dictionaries(TEXT, VALUES, max_size=2) | st.none(), tool_call_id=TEXT),
    max_size=2,
)
MESSAGES = st.builds(ModelRequest, parts=REQUESTS, instructions=TEXT | st.none()) | st.builds(ModelResponse, parts=ANSWERS)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(MESSAGES, max_size=2), max_size=3))
def test_any_messages_are_stored_as_the_framework_restores_them_or_refused(batches):
    async def run() -> None:
        store = ContextreeConversationStore("memory:")
        kept: list[Any] = []
        for messages in batches:
            held = await store.load("c") or Conversation(conversation_id="c")
            held.messages.extend(messages)
            try:
                ModelMessagesTypeAdapter.dump_python(messages, mode="json")
                is_json = True
            except Exception:
                is_json = False
            if is_json:
                await store.save(held)
                kept = list((await store.load("c")).messages)
                assert repr(kept[len(kept) - len(messages) :]) == shown(messages)
            else:
                with pytest.raises(contextree.SerializationError):
                    await store.save(held)
            # What was there stays, also for another process.
            again = await ContextreeConversationStore(store.store).load("c")
            assert repr(again.messages if again else []) == repr(kept)
        assert store.store.verify().clean

    asyncio.run(run())


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_a_history_is_rewritten_although_retention_dropped_its_snapshots(url_of, place):
    async def run() -> None:
        store = ContextreeConversationStore(url_of(place))
        for turn in range(4):
            held = await store.load("c") or Conversation(conversation_id="c")
            held.messages.append(ModelRequest(parts=[UserPromptPart(f"q{turn}")]))
            held.messages.append(ModelResponse(parts=[TextPart(f"a{turn}")]))
            await store.save(held)
        store.store.context(store.context("c")).gc(keep=1)
        held = await store.load("c")
        assert held is not None
        kept = shown(held.messages[:4])
        held.messages[4:] = [ModelRequest(parts=[UserPromptPart("another")])]
        await store.save(held)
        again = await ContextreeConversationStore(store.store).load("c")
        assert again is not None
        assert shown(again.messages[:4]) == kept
        assert again.messages[4].parts[0].content == "another"
        assert len(again.messages) == 5
        assert store.store.verify().clean

    asyncio.run(run())


@pytest.mark.parametrize("place", ["memory", "postgres"])
def test_other_stores_keep_conversations_as_a_file_does(url_of, place, tmp_path):
    async def run(store: Any) -> Any:
        answers = []
        for turn in range(3):
            result = await weather_agent(FunctionModel(Script())).run(f"Question {turn}", conversation_id="c")
            held = await store.load("c") or Conversation(conversation_id="c")
            held.messages.extend(result.all_messages())
            try:
                await store.save(held)
            except ConversationConflict as error:
                answers.append(type(error).__name__)
        again = await ContextreeConversationStore(store.store).load("c")
        return answers, [[type(part).__name__ for part in one.parts] for one in again.messages]

    ours = asyncio.run(run(ContextreeConversationStore(url_of(place))))
    assert ours == asyncio.run(run(ContextreeConversationStore(tmp_path / "b.db")))


def test_images_are_nodes_that_count_and_are_not_read_again(tmp_path, png):
    async def run() -> None:
        store = ContextreeConversationStore(tmp_path / "a.db")
        held = Conversation(conversation_id="c")
        image = BinaryContent(png, media_type="image/png")
        held.messages.append(ModelRequest(parts=[UserPromptPart(["What is this?", image, ImageUrl("https://example.org/a.png")])]))
        held.messages.append(ModelResponse(parts=[FilePart(image), ThinkingPart("A cat?"), TextPart("A cat.")]))
        held.messages.append(ModelRequest(parts=[UserPromptPart("Thanks.")]))
        await store.save(held)
        context = store.store.context("pydantic-ai/c")
        found = [(one["role"], one["kind"], one.get("mime"), one.get("encoding")) for one in store._records.nodes(context.name)]
        assert found == [
            ("user", "text", None, None),
            ("user", "image", "image/png", "base64"),
            ("user", "image", "image/png", "uri"),
            ("pydantic-ai:file", "text", None, None),
            ("assistant", "reasoning", None, None),
            ("assistant", "text", None, None),
            ("assistant", "image", "image/png", "base64"),
            ("user", "text", None, None),
        ]
        assert context.tokens(model="gpt-5").total > 3 * 700
        assert base64.b64decode(store._records.nodes(context.name)[1]["content"]) == png
        again = await ContextreeConversationStore(store.store).load("c")
        assert again is not None
        assert shown(again.messages) == shown(held.messages)

    asyncio.run(run())


def test_a_budget_counts_images(tmp_path, png):
    async def run() -> None:
        model = Script()
        receipts: list[Any] = []
        budget = ContextreeBudget(tmp_path / "a.db", budget={"max_tokens": 2_000}, on_receipt=receipts.append)
        agent = weather_agent(FunctionModel(model), capabilities=[budget])
        messages: list[Any] = []
        for turn in range(6):
            result = await agent.run(
                [f"Question {turn}", BinaryContent(png, media_type="image/png")], message_history=messages, conversation_id="c"
            )
            messages = result.all_messages()
        assert any(receipt.pruned for receipt in receipts)
        assert all(receipt.tokens_after <= 2_000 for receipt in receipts)
        images = [sum(isinstance(part, UserPromptPart) for one in sent for part in one.parts) for sent in model.sent]
        assert max(images) == 2

    asyncio.run(run())


@pytest.mark.parametrize("place", ["file", "postgres"])
def test_a_budget_goes_on_although_retention_dropped_its_snapshots(url_of, place):
    async def run() -> None:
        model = Script()
        budget = ContextreeBudget(url_of(place), budget=100_000)
        agent = weather_agent(FunctionModel(model), capabilities=[budget])
        messages: list[Any] = []
        for turn in range(4):
            messages = (await agent.run(f"Question {turn}", message_history=messages, conversation_id="c")).all_messages()
        budget.store.context("pydantic-ai-requests/c").gc(keep=1)
        await agent.run("Another", message_history=messages[:4], conversation_id="c")
        assert budget.receipts[-1].context == "pydantic-ai-requests/c#2"
        texts = [part.content for one in model.sent[-1] for part in one.parts if isinstance(part, UserPromptPart)]
        assert texts == ["Question 0", "Another"]
        assert budget.store.verify().clean

    asyncio.run(run())


def test_ids_that_are_not_unicode_are_refused(tmp_path):
    with pytest.raises(contextree.UsageError, match="surrogate"):
        asyncio.run(ContextreeConversationStore(tmp_path / "a.db").read_record("\ud800"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_store_is_refused_after_a_fork_although_another_thread_held_its_lock(tmp_path, fork_child, hold):
    store = ContextreeConversationStore(tmp_path / "a.db")
    with hold(store._lock):
        assert fork_child(lambda: store.context("c")) == "E_STORE_FORKED"


def test_an_exported_conversation_is_imported_with_its_record(tmp_path):
    async def run() -> None:
        store = ContextreeConversationStore(tmp_path / "a.db")
        result = await weather_agent(FunctionModel(Script())).run("Will it rain?", conversation_id="c")
        await store.save(result, scope="me")
        copy = contextree.open(tmp_path / "b.db")
        copy.import_log("pydantic-ai/c", store.store.context("pydantic-ai/c").export(history=True).encode())
        other = ContextreeConversationStore(copy)
        assert await other.load("c", scope="me") == await store.load("c", scope="me")
        assert await other.read_record("c") == await store.read_record("c")
        assert copy.verify().clean

    asyncio.run(run())


def test_two_processes_lose_nothing(tmp_path):
    script = (
        "import asyncio, sys\n"
        "from pydantic_ai.conversation import Conversation\n"
        "from pydantic_ai.conversation_store import ConversationConflict\n"
        "from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart\n"
        "from contextree.pydantic_ai import ContextreeConversationStore\n"
        "async def run():\n"
        "    store = ContextreeConversationStore(sys.argv[1])\n"
        "    for turn in range(20):\n"
        "        while True:\n"
        "            held = await store.load('c') or Conversation(conversation_id='c')\n"
        "            held.messages.append(ModelRequest(parts=[UserPromptPart(f'{sys.argv[2]}{turn}')]))\n"
        "            held.messages.append(ModelResponse(parts=[TextPart('ok')]))\n"
        "            try:\n"
        "                await store.save(held)\n"
        "                break\n"
        "            except ConversationConflict:\n"
        "                pass\n"
        "asyncio.run(run())\n"
    )
    store = tmp_path / "a.db"
    ContextreeConversationStore(store)
    children = [subprocess.Popen([sys.executable, "-c", script, str(store), who]) for who in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    loaded = asyncio.run(ContextreeConversationStore(store).load("c"))
    assert loaded is not None
    asked = [one.parts[0].content for one in loaded.messages if isinstance(one, ModelRequest)]
    assert sorted(asked) == sorted(f"{who}{turn}" for who in "ab" for turn in range(20))


def calls_and_results(messages: list[Any]) -> tuple[set[str], set[str]]:
    parts = [part for one in messages for part in one.parts]
    calls = {part.tool_call_id for part in parts if isinstance(part, ToolCallPart)}
    return calls, {part.tool_call_id for part in parts if isinstance(part, ToolReturnPart)}


def test_requests_stay_within_the_budget_and_keep_calls_with_their_results(tmp_path):
    async def run() -> None:
        model = Script()
        receipts: list[Any] = []
        budget = ContextreeBudget(tmp_path / "a.db", budget={"max_tokens": 900, "clear_at_least": 300}, on_receipt=receipts.append)
        agent = weather_agent(FunctionModel(model), capabilities=[budget])
        store = ContextreeConversationStore(tmp_path / "a.db")
        for turn in range(20):
            held = await store.load("c") or Conversation(conversation_id="c")
            result = await agent.run(f"Question {turn}: will it rain?", conversation=held)
            await store.save(result)
        # Everything is stored; the model was sent what fits.
        assert len((await store.load("c")).messages) == 80
        assert len(model.sent) == len(receipts) == 40
        assert max(len(one) for one in model.sent) < 30
        changed = 0
        for before, after, receipt in zip([[], *model.sent], model.sent, receipts, strict=False):
            calls, results = calls_and_results(after)
            assert calls == results
            assert isinstance(after[0], ModelRequest)
            assert receipt.kept
            assert receipt.tokens_after <= 900
            assert receipt.sent == len(after)
            is_longer = after[: len(before)] == before
            assert is_longer or receipt.pruned
            changed += not is_longer
        assert 0 < changed < 12
        print(f"\nthe beginning of the request changed in {changed} of 40 calls")
        pruned = [one.position for receipt in receipts for one in receipt.pruned]
        assert sorted(pruned) == list(range(len(pruned)))
        assert receipts[-1].left_out >= len(pruned)
        context = budget.store.context(receipts[-1].context)
        assert len(context.log()) == 40
        assert budget.receipts == receipts[-2:]
        assert budget.store.verify().clean

    asyncio.run(run())


def test_a_call_that_fails_seals_nothing(tmp_path):
    def fail(messages: Any, info: Any) -> ModelResponse:
        raise TimeoutError("no answer")

    async def run() -> None:
        budget = ContextreeBudget(tmp_path / "a.db", budget=1_000)
        agent = weather_agent(FunctionModel(fail), capabilities=[budget])
        with pytest.raises(TimeoutError):
            await agent.run("Hello", conversation_id="c")
        context = budget.store.context("pydantic-ai-requests/c", create=False)
        assert context.log() == []
        result = await weather_agent(FunctionModel(Script()), capabilities=[budget]).run("Hello", conversation_id="c")
        assert result.output == "Yes."
        assert len(context.log()) == 2

    asyncio.run(run())


def test_the_examples_of_the_page_run(run_page):
    names = run_page("pydantic-ai.md", agent=weather_agent(FunctionModel(Script())), model=FunctionModel(Script()))
    assert names["store"].context("user-42") == "pydantic-ai/user-42"
    assert names["budget"].receipts
