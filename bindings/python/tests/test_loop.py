"""The call loop, as a person would write it."""

from __future__ import annotations

import pytest

import contextree

ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 2},
}


@pytest.fixture
def context() -> contextree.Context:
    return contextree.open("memory:").context("support-42")


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
