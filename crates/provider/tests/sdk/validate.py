"""Validates rendered requests with the types of the official SDKs, every message, block and tool by itself.

Reads JSON Lines: {"name", "provider", "request", "original"?, "own"}. A request with an `original` must be equal to it. Fields that the
types do not know are refused, except in requests that carry fields of their own on purpose (`own`).
"""

import json
import sys
from typing import Union

import anthropic.types as claude
import openai.types.chat as chat
import openai.types.responses as responses
import typing_extensions
from google.genai import types as gemini
from openai.types.chat import completion_create_params as chat_request
from openai.types.responses import response_create_params as responses_request
from openai.types.responses import response_input_item_param as items
from openai.types.responses.response_input_message_content_list_param import ResponseInputContentParam
from openai.types.responses.response_output_refusal_param import ResponseOutputRefusalParam
from openai.types.responses.response_output_text_param import ResponseOutputTextParam
from pydantic import ConfigDict, TypeAdapter, ValidationError


def forbid_extras():
    """Makes every typed dictionary of the SDKs refuse fields that it does not have."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("openai.types", "anthropic.types")):
            for value in list(vars(module).values()):
                if typing_extensions.is_typeddict(value):
                    value.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Types:
    """Adapters, built once."""

    def __init__(self):
        adapter = TypeAdapter
        self.chat_message = adapter(chat.ChatCompletionMessageParam)
        self.chat_request = adapter(chat_request.CompletionCreateParamsNonStreaming)
        self.chat_text = adapter(chat.ChatCompletionContentPartTextParam)
        self.chat_user = adapter(chat.ChatCompletionContentPartParam)
        self.chat_said = adapter(
            Union[chat.ChatCompletionContentPartTextParam, chat.ChatCompletionContentPartRefusalParam]
        )
        self.chat_call = adapter(chat.ChatCompletionMessageToolCallUnionParam)
        self.chat_tool = adapter(chat.ChatCompletionToolUnionParam)
        self.item = adapter(responses.ResponseInputItemParam)
        self.item_content = adapter(ResponseInputContentParam)
        self.item_said = adapter(Union[ResponseOutputTextParam, ResponseOutputRefusalParam])
        self.item_tool = adapter(responses.ToolParam)
        self.responses_request = adapter(responses_request.ResponseCreateParamsNonStreaming)
        self.claude_message = adapter(claude.MessageParam)
        self.claude_block = adapter(claude.ContentBlockParam)
        self.claude_text = adapter(claude.TextBlockParam)
        self.claude_tool = adapter(claude.ToolUnionParam)
        self.claude_result = adapter(claude.tool_result_block_param.Content)
        self.claude_search_error = adapter(claude.WebSearchToolRequestErrorParam)
        self.text = adapter(str)
        self.claude_request = adapter(claude.message_create_params.MessageCreateParamsNonStreaming)


def force(value):
    """Goes through everything: fields typed as iterables are validated only when somebody iterates."""
    if isinstance(value, dict):
        for inner in value.values():
            force(inner)
    elif not isinstance(value, (str, bytes, int, float, bool, type(None))) and hasattr(value, "__iter__"):
        for inner in value:
            force(inner)


def check(adapter, value):
    force(adapter.validate_python(value))


def listed(content):
    return content if isinstance(content, list) else []


def validate_chat(types, request):
    for tool in request.get("tools", []):
        check(types.chat_tool, tool)
    for message in request["messages"]:
        check(types.chat_message, message)
        by_role = {"user": types.chat_user, "assistant": types.chat_said}
        for part in listed(message.get("content")):
            check(by_role.get(message["role"], types.chat_text), part)
        for call in message.get("tool_calls", []):
            check(types.chat_call, call)
    check(types.chat_request, request)


def validate_responses(types, request):
    for tool in request.get("tools", []):
        check(types.item_tool, tool)
    # The input may be a text, or kept by the provider.
    for item in listed(request.get("input")):
        check(types.item, item)
        said = item.get("role") == "assistant"
        for part in listed(item.get("content")) if "role" in item else []:
            check(types.item_said if said else types.item_content, part)
    check(types.responses_request, request)


def without_search_errors(types, request):
    """Checks failed searches by themselves, and takes them out: the types take any dictionary for a lazy list of its keys."""
    request = json.loads(json.dumps(request))
    for message in request["messages"]:
        for block in listed(message["content"]):
            if block.get("type") == "web_search_tool_result" and isinstance(block["content"], dict):
                check(types.claude_search_error, block["content"])
                block["content"] = []
    return request


def validate_anthropic(types, request):
    request = without_search_errors(types, request)
    for tool in request.get("tools", []):
        check(types.claude_tool, tool)
    for block in listed(request.get("system")):
        check(types.claude_text, block)
    for message in request["messages"]:
        check(types.claude_message, message)
        for block in listed(message["content"]):
            check(types.claude_block, block)
            if block["type"] == "tool_result":
                for inner in listed(block.get("content")):
                    check(types.claude_result, inner)
    check(types.claude_request, request)


def one_or_more(value):
    return value if isinstance(value, list) else [value]


# Fields of a request of Gemini's with the types of what is in them.
GEMINI_FIELDS = {
    "contents": gemini.Content,
    "systemInstruction": gemini.Content,
    "tools": gemini.Tool,
    "toolConfig": gemini.ToolConfig,
    "safetySettings": gemini.SafetySetting,
    "generationConfig": gemini.GenerationConfig,
}


def validate_gemini(types, request):
    for name, value in request.items():
        first, *rest = name.split("_")
        name = first + "".join(word.capitalize() for word in rest)
        if name in ("model", "cachedContent"):
            check(types.text, value)
            continue
        if name not in GEMINI_FIELDS:
            raise ValueError(f"unknown field {name}")
        for entry in one_or_more(value) if value is not None else []:
            # The SDK takes a text, or a part, for a content of the user.
            if GEMINI_FIELDS[name] is gemini.Content and isinstance(entry, str):
                continue
            if name == "contents" and "parts" not in entry and "role" not in entry:
                gemini.Part.model_validate(entry)
                continue
            if isinstance(entry.get("parts"), dict):
                entry = {**entry, "parts": [entry["parts"]]}
            GEMINI_FIELDS[name].model_validate(entry)


VALIDATE = {
    "openai-chat": validate_chat,
    "openai-responses": validate_responses,
    "anthropic": validate_anthropic,
    "gemini": validate_gemini,
}


def must_fail(types):
    """The check has to have teeth: each of these is wrong in one place, deep inside."""
    bad = [
        ("anthropic", {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "2h"}}]}]}),
        ("anthropic", {"model": "m", "max_tokens": 1, "messages": [{"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "s", "content": {"type": "web_search_tool_result_error", "error_code": "no_such_code"}}]}]}),
        ("openai-chat", {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "txt": "x"}]}]}),
        ("openai-chat", {"model": "m", "messages": [{"role": "tool", "content": "x"}]}),
        ("openai-responses", {"model": "m", "input": [{"type": "function_call", "call_id": "a", "name": "f"}]}),
        ("gemini", {"contents": [{"role": "user", "parts": [{"txt": "x"}]}]}),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": {"temprature": 1}}),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "safety_settings": [{"categry": "x"}]}),
    ]
    for provider, request in bad:
        try:
            VALIDATE[provider](types, request)
        except (ValidationError, ValueError):
            continue
        sys.exit(f"the types of {provider} accept what they must not: {request}")


def main():
    lenient = Types()
    forbid_extras()
    strict = Types()
    must_fail(strict)
    failed, counts = 0, {}
    for line in sys.stdin:
        entry = json.loads(line)
        provider = entry["provider"]
        counts[provider] = counts.get(provider, 0) + 1
        try:
            VALIDATE[provider](lenient if entry["own"] else strict, entry["request"])
        except (ValidationError, ValueError) as error:
            failed += 1
            print(f"{entry['name']} as {provider} is refused: {str(error)[:1000]}", file=sys.stderr)
        original = entry.get("original")
        if original is not None and original != entry["request"]:
            failed += 1
            print(f"{entry['name']} as {provider} does not come back", file=sys.stderr)
        if failed > 5:
            break
    if failed or not counts:
        sys.exit("the types of the SDKs refuse requests")
    print("accepted by the types of the SDKs:", ", ".join(f"{count} of {name}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
