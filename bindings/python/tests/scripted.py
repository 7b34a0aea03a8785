"""A client with the interface of an SDK that answers from a script."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

ANSWERS = ["Yes, from two o'clock on.", "No, it stays dry.", "You are welcome."]
_numbers = count()


def message(text: str) -> dict[str, Any]:
    number = next(_numbers)
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 30, "output_tokens": 8},
    }


def events(text: str) -> Iterator[dict[str, Any]]:
    whole = message(text)
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for word in text.split(" "):
        piece = word if word == text.split(" ")[0] else f" {word}"
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 8}}
    yield {"type": "message_stop"}


def create(*, stream: bool = False, **request: Any) -> Any:
    assert request["messages"], "a request has messages"
    text = ANSWERS[create.calls % len(ANSWERS)]  # type: ignore[attr-defined]
    create.calls += 1  # type: ignore[attr-defined]
    return events(text) if stream else message(text)


create.calls = 0  # type: ignore[attr-defined]
client = SimpleNamespace(messages=SimpleNamespace(create=create))
