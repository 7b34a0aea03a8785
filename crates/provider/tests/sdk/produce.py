"""Samples for the importers, made with the types of the official SDKs: what their clients send and what their models answer.

Prints JSON Lines: {"name": ..., "provider": ..., "request": {...}}.
"""

import json

from anthropic import types as claude
from google.genai import types as gemini
from openai.types import responses
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageFunctionToolCall
from openai.types.chat.chat_completion_message_function_tool_call import Function

import produce_claude
import produce_openai

ARGUMENTS = '{"city":  "Zürich", "days": 1.50}'


def dump(model, **options):
    return json.loads(model.model_dump_json(exclude_none=True, **options))


def chat():
    call = ChatCompletionMessageFunctionToolCall(
        id="call_1", type="function", function=Function(name="get_weather", arguments=ARGUMENTS)
    )
    other = call.model_copy(update={"id": "call_2"})
    asked = ChatCompletionMessage(role="assistant", content=None, tool_calls=[call, other])
    said = ChatCompletionMessage(role="assistant", content="Sun. 😀", annotations=[])
    refused = ChatCompletionMessage(role="assistant", refusal="I cannot.")
    return {
        "model": "gpt-5.6",
        "messages": [
            {"role": "developer", "content": "You are a weather bot."},
            {"role": "user", "content": "Will it rain?"},
            dump(asked),
            {"role": "tool", "tool_call_id": "call_1", "content": "sun"},
            {"role": "tool", "tool_call_id": "call_2", "content": "sun"},
            dump(said),
            {"role": "user", "content": "Who is that?"},
            dump(refused),
            {"role": "user", "content": "Ah."},
        ],
    }


def responses_request():
    reasoning = responses.ResponseReasoningItem(
        id="rs_1",
        type="reasoning",
        summary=[{"type": "summary_text", "text": "A call."}],
        encrypted_content="gAAAAABo==",
    )
    call = responses.ResponseFunctionToolCall(
        type="function_call", id="fc_1", call_id="call_1", name="get_weather", arguments=ARGUMENTS, status="completed"
    )
    text = responses.ResponseOutputText(type="output_text", text="Sun. 😀", annotations=[], logprobs=[])
    message = responses.ResponseOutputMessage(
        id="msg_1", type="message", role="assistant", status="completed", content=[text], phase="final_answer"
    )
    refusal = responses.ResponseOutputRefusal(type="refusal", refusal="I cannot.")
    second = message.model_copy(update={"id": "msg_2", "content": [text, refusal]})
    return {
        "model": "gpt-5.6",
        "instructions": "You are a weather bot.",
        "input": [
            {"role": "user", "content": "Will it rain?"},
            dump(reasoning),
            dump(call),
            {"type": "function_call_output", "call_id": "call_1", "output": "sun"},
            dump(message),
            {"role": "user", "content": "Who is that?"},
            dump(second),
            {"role": "user", "content": "Ah."},
        ],
    }


def anthropic_request():
    answer = claude.Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-5-5",
        stop_reason="tool_use",
        usage=claude.Usage(input_tokens=1, output_tokens=1),
        content=[
            claude.ThinkingBlock(type="thinking", thinking="A call.", signature="EqQBCkYIBxgCKkB+"),
            claude.RedactedThinkingBlock(type="redacted_thinking", data="EmwKAhgB"),
            claude.TextBlock(type="text", text="Let me look."),
            claude.ToolUseBlock(type="tool_use", id="toolu_1", name="get_weather", input=json.loads(ARGUMENTS)),
            claude.ToolUseBlock(type="tool_use", id="toolu_2", name="get_weather", input={}),
        ],
    )
    said = answer.model_copy(update={"content": [claude.TextBlock(type="text", text="Sun. 😀")]})
    blocks = lambda message: [dump(block) for block in message.content]
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1000,
        "system": "You are a weather bot.",
        "messages": [
            {"role": "user", "content": "Will it rain?"},
            {"role": "assistant", "content": blocks(answer)},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sun"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "down", "is_error": True},
                ],
            },
            {"role": "assistant", "content": blocks(said)},
            {"role": "user", "content": "Ah."},
        ],
    }


def gemini_request():
    part = gemini.Part
    call = part(
        function_call=gemini.FunctionCall(name="get_weather", args=json.loads(ARGUMENTS)), thought_signature=b"\x01\xfb\xff"
    )
    contents = [
        gemini.Content(role="user", parts=[part.from_text(text="Will it rain?")]),
        gemini.Content(role="model", parts=[part(text="A call.", thought=True), call, call.model_copy(update={"thought_signature": None})]),
        gemini.Content(
            role="user",
            parts=[part.from_function_response(name="get_weather", response={"output": "sun"}) for _ in range(2)],
        ),
        gemini.Content(role="model", parts=[part(text="Sun. 😀", thought_signature=b"sig")]),
        gemini.Content(role="user", parts=[part.from_bytes(data=b"\x89PNG", mime_type="image/png"), part.from_text(text="Ah.")]),
    ]
    return {"contents": [dump(content, by_alias=True) for content in contents]}


SAMPLES = {
    "openai-chat": chat,
    "openai-responses": responses_request,
    "anthropic": anthropic_request,
    "gemini": gemini_request,
}

for provider, make in SAMPLES.items():
    print(json.dumps({"name": f"sdk types of {provider}", "provider": provider, "request": make()}))

for name, provider, request in [*produce_claude.samples(), *produce_openai.samples()]:
    print(json.dumps({"name": name, "provider": provider, "request": request}))
