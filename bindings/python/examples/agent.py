"""An agent that uses tools, on a scripted model. Replace `Model` by `anthropic.Anthropic().messages` to run it for real.

python agent.py [STORE]
"""

from __future__ import annotations

import json
import sys
from typing import Any

import contextree

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Model:
    """A model that calls the tool first and then answers with its result."""

    def __init__(self) -> None:
        self.calls = 0

    def create(self, *, messages: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
        self.calls += 1
        last = messages[-1]["content"][-1]
        answer: list[dict[str, Any]]
        if last["type"] == "tool_result":
            answer, reason = [{"type": "text", "text": "It rains in Oslo. Take an umbrella."}], "end_turn"
        else:
            call = {"type": "tool_use", "id": f"toolu_{self.calls}", "name": "forecast", "input": {"city": "Oslo"}}
            answer, reason = [call], "tool_use"
        usage = {"input_tokens": 50 * self.calls, "output_tokens": 10}
        return {
            "id": f"msg_{self.calls}",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": answer,
            "stop_reason": reason,
            "usage": usage,
        }


def forecast(city: str) -> str:
    return f"{city}: rain from two o'clock on"


def main(path: str) -> None:
    model = Model()
    with contextree.open(path) as store:
        context = store.context("umbrella")
        context.system("You are a weather bot. Be brief.")
        context.tool("forecast", "The weather of today in a city", TOOL)
        context.user("Do I need an umbrella in Oslo?")
        while True:
            with context.attempt("anthropic", model="scripted", max_tokens=500) as attempt:
                answer = attempt.complete(model.create(**attempt.request))
            if not answer.tool_calls:
                break
            for call in answer.tool_calls:
                context.tool_result(call.id, forecast(**json.loads(call.arguments)))
        print(context.node(answer.nodes[0]).text)
        print(context)
        for entry in context.log():
            print(entry.address, entry.blocks, "blocks", entry.digest[:12])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
