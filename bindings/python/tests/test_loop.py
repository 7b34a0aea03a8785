"""The call loop, as a person would write it."""

from __future__ import annotations

import json

import pydantic
import pytest

import contextree
from conftest import ROOT

ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 2},
}


def begin(context: contextree.Context) -> contextree.Attempt:
    return context.attempt("anthropic", model="claude-x", max_tokens=100)


def test_a_call_seals_what_was_sent(context: contextree.Context) -> None:
    context.system("You are a travel agent.")
    context.user("Will it rain in Oslo?")
    with begin(context) as attempt:
        assert attempt.request["messages"][0]["role"] == "user"
        answer = attempt.complete(ANSWER)
    assert [context.node(node).text for node in answer.nodes] == ["Yes."]
    assert answer.attempt.token_in == 10
    assert context.log()[0].digest == answer.report.digest


def test_an_exception_fails_the_attempt_and_seals_nothing(context: contextree.Context) -> None:
    context.user("Hello")
    with pytest.raises(ZeroDivisionError), begin(context):
        raise ZeroDivisionError("no network")
    assert context.log() == []
    [attempt] = context.attempts()
    assert (attempt.status, attempt.error) == ("error", "ZeroDivisionError: no network")


def test_a_keyboard_interrupt_cancels_the_attempt(context: contextree.Context) -> None:
    context.user("Hello")
    with pytest.raises(KeyboardInterrupt), begin(context):
        raise KeyboardInterrupt
    assert [attempt.status for attempt in context.attempts()] == ["canceled"]
    with begin(context) as attempt:
        attempt.complete(ANSWER)
    assert len(context.log()) == 1


def test_a_call_is_completed_by_a_process_that_did_not_begin_it(context: contextree.Context) -> None:
    context.user("Hello")
    begun = begin(context).begin()
    # Another process has only the store.
    with context.running() as attempt:
        assert (attempt.id, attempt.body, attempt.request) == (begun.id, begun.body, begun.request)
        attempt.complete(ANSWER)
    assert context.at("@t0").sent().request == begun.body
    assert context.at("@t0").sent().attempt.attempt_id == begun.id
    with pytest.raises(contextree.ContextreeError) as caught:
        context.running()
    assert caught.value.code == "E_ATTEMPT_NOT_FOUND"


def test_a_response_may_be_an_object_of_an_sdk(context: contextree.Context) -> None:
    class Usage(pydantic.BaseModel):
        input_tokens: int
        output_tokens: int
        cache_read_input_tokens: int | None = None

    class Message(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow")
        id: str
        usage: Usage

    context.user("Hello")
    with begin(context) as attempt:
        answer = attempt.complete(Message.model_validate(ANSWER))
    assert answer.attempt.token_out == 2


@pytest.mark.parametrize("form", ["text", "bytes"])
def test_a_response_may_be_the_body_itself(context: contextree.Context, form: str) -> None:
    context.user("Hello")
    text = json.dumps(ANSWER)
    with begin(context) as attempt:
        attempt.complete(text if form == "text" else text.encode())
    assert len(context.log()) == 1


EVENTS = [
    {"type": "message_start", "message": {**ANSWER, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Ye"}},
    {"type": "text", "text": "Ye", "snapshot": "Ye"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "s."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]


def test_the_events_of_a_stream_are_an_answer(context: contextree.Context) -> None:
    context.user("Hello")
    with begin(context) as attempt:
        for event in EVENTS:
            attempt.feed(event)
        answer = attempt.complete()
    assert [context.node(node).text for node in answer.nodes] == ["Yes."]


def test_a_stream_that_breaks_off_seals_nothing_and_keeps_its_text(context: contextree.Context) -> None:
    context.user("Hello")
    with pytest.raises(ConnectionError), begin(context) as attempt:
        for event in EVENTS[:4]:
            attempt.feed(event)
        raise ConnectionError("reset")
    [failed] = context.attempts()
    assert (failed.status, failed.partial) == ("error", "Ye")
    assert context.log() == []


def test_an_incomplete_stream_is_refused(context: contextree.Context) -> None:
    context.user("Hello")
    with pytest.raises(contextree.UsageError) as caught, begin(context) as attempt:
        for event in EVENTS[:4]:
            attempt.feed(event)
        attempt.complete()
    assert caught.value.code == "E_ANSWER_INCOMPLETE"
    assert context.log() == []


SAMPLES = ROOT / "crates/provider/tests/streams"


@pytest.mark.parametrize(
    ("provider", "sample"),
    [
        ("anthropic", "anthropic-tools"),
        ("openai", "openai-chat-text"),
        ("openai", "openai-chat-tools"),
        ("openai-responses", "openai-responses-tools"),
        ("gemini", "gemini-tools"),
    ],
)
def test_a_stream_of_any_provider_that_is_cut_off_is_refused(context: contextree.Context, provider: str, sample: str) -> None:
    lines = (SAMPLES / f"{sample}.sse").read_text().splitlines()
    events = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
    # What an SDK returns for a connection that ended early: its iteration just ends.
    for count in (1, len(events) // 2):
        context.user("Hello")
        with pytest.raises(contextree.UsageError) as caught, context.attempt(provider, model="m", max_tokens=9) as attempt:
            for event in events[:count]:
                attempt.feed(json.loads(event))
            attempt.complete()
        assert caught.value.code == "E_ANSWER_INCOMPLETE"
        assert context.log() == []
    with context.attempt(provider, model="m", max_tokens=9) as attempt:
        for event in events:
            attempt.feed(json.loads(event))
        assert attempt.complete().nodes


def test_the_chunks_of_a_chat_completion_are_an_answer(context: contextree.Context) -> None:
    def chunk(delta: dict[str, str], reason: str | None = None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt-5",
            "choices": [choice],
        }

    context.user("Hello")
    with context.attempt("openai", model="gpt-5") as attempt:
        attempt.feed(chunk({"role": "assistant", "content": "Hi"}))
        attempt.feed(chunk({}, "stop"))
        answer = attempt.complete()
    assert context.node(answer.nodes[0]).text == "Hi"


def test_tools_are_called_and_answered(context: contextree.Context) -> None:
    context.tool("forecast", "The weather", {"type": "object", "properties": {"city": {"type": "string"}}})
    context.user("Will it rain in Oslo?")
    call = {"type": "tool_use", "id": "toolu_1", "name": "forecast", "input": {"city": "Oslo"}}
    with begin(context) as attempt:
        answer = attempt.complete({**ANSWER, "content": [call], "stop_reason": "tool_use"})
    [wanted] = answer.tool_calls
    assert (wanted.name, json.loads(wanted.arguments)) == ("forecast", {"city": "Oslo"})
    context.tool_result(wanted.id, "rain")
    with begin(context) as attempt:
        assert attempt.request["messages"][-1]["content"][0]["type"] == "tool_result"
        assert attempt.accepted, attempt.findings
        attempt.complete({**ANSWER, "id": "msg_2"})


def test_gemini_requests_are_the_arguments_of_its_sdk(context: contextree.Context) -> None:
    context.system("Be brief.")
    context.user("Hello")
    with context.attempt("gemini", model="gemini-3", generationConfig={"temperature": 0}) as attempt:
        request = attempt.request
    assert request["model"] == "gemini-3"
    assert request["contents"][0]["role"] == "user"
    assert request["config"]["temperature"] == 0
    assert "systemInstruction" in request["config"]
