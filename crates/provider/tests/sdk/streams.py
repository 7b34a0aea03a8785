"""Checks the samples of streams with the collectors of the official SDKs.

Each `NAME.sse` is a stream as the API sends it, `NAME.json` the document that our collector makes of it. The SDK's own collector must make the
same. Gemini's SDK has none: there the document must be of the SDK's type and have the same text as the chunks together.
"""

import json
import sys
from pathlib import Path

from anthropic.lib.streaming._messages import accumulate_event
from google.genai import types as gemini
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from openai import omit
from pydantic import TypeAdapter


def events(path):
    lines = path.read_text().splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [json.loads(text) for text in data if text != "[DONE]"]


def anthropic(stream):
    message, buffers = None, {}
    for event in stream:
        if event["type"] != "ping":
            message = accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
    # Fields that the SDK adds for its own use.
    return message.to_dict()


def openai_chat(stream):
    state = ChatCompletionStreamState()
    for event in stream:
        list(state.handle_chunk(ChatCompletionChunk.model_validate(event)))
    completion = state.get_final_completion().to_dict()
    for choice in completion["choices"]:
        # Where the pieces of a call belong, which the SDK leaves in the message.
        for call in choice["message"].get("tool_calls") or []:
            call.pop("index", None)
            call["function"].pop("parsed_arguments", None)
    return completion


def openai_responses(stream):
    state = ResponseStreamState(input_tools=omit, text_format=omit)
    adapter = TypeAdapter(ResponseStreamEvent)
    for event in stream:
        for built in state.handle_event(adapter.validate_python(event)):
            last = built
    return last.response.to_dict()


def same(left, right):
    """Compares what both have, and requires that what only one has is null."""
    if isinstance(left, dict) and isinstance(right, dict):
        names = left.keys() | right.keys()
        return all(same(left.get(name), right.get(name)) for name in names)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


COLLECT = {"anthropic": anthropic, "openai-chat": openai_chat, "openai-responses": openai_responses}

count = 0
for path in sorted(Path(sys.argv[1]).glob("*.sse")):
    document = json.loads(path.with_suffix(".json").read_text())
    stream = events(path)
    count += 1
    if path.name.startswith("gemini"):
        chunks = [gemini.GenerateContentResponse.model_validate(chunk) for chunk in stream]
        whole = gemini.GenerateContentResponse.model_validate(document)
        text = "".join(chunk.text or "" for chunk in chunks)
        agrees = whole.text == text and whole.function_calls == [
            call for chunk in chunks for call in chunk.function_calls or []
        ]
        collected = text
    else:
        collect = next(collect for name, collect in COLLECT.items() if path.name.startswith(name + "-"))
        collected = collect(stream)
        agrees = same(collected, document)
    if not agrees:
        sys.exit(f"{path.name}: the SDK makes {json.dumps(collected, indent=1)}")
if count == 0:
    sys.exit("there are no samples")
print(f"{count} streams, collected alike")
