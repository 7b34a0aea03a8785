"""Samples of OpenAI's two interfaces, made by walking through the types of their requests: every message, item, part and tool that there
is, each with its required fields only, with all of its fields, and with some.

The values are the same every time. What a provider would refuse for other reasons is put right: calls have their results, results
their calls, and reasoning what it led to.
"""

import collections.abc
import types
import typing
from typing import Literal, Union, get_args, get_origin

import typing_extensions as extended
from openai.types.chat import chat_completion_content_part_param as chat_part
from openai.types.chat import chat_completion_message_param as chat_message
from openai.types.chat import chat_completion_tool_union_param as chat_tool
from openai.types.chat import completion_create_params as chat_request
from openai.types.responses import response_create_params as responses_request
from openai.types.responses import response_function_call_output_item_param as output_part
from openai.types.responses import response_input_item_param as response_item
from openai.types.responses import response_input_message_content_list_param as input_part
from openai.types.responses import response_output_message_param as output_message
from openai.types.responses import tool_param as responses_tool

TEXTS = ["Rain in Zürich.", "", "日本 😀", '{"a":  1.50}', "a\\b\"c\n"]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MODEL = "gpt-5.6"
USER = {"role": "user", "content": "Will it rain?"}
SAID = {"role": "assistant", "content": "It will."}


class Maker:
    """Makes a value of a type. Of several ways it takes another one each time; `more` says which optional fields there are."""

    def __init__(self, number, more):
        self.number = number
        self.more = more
        self.count = 0

    def next(self):
        self.count += 1
        return self.number + self.count

    def pick(self, options):
        return options[self.next() % len(options)]

    def wants(self):
        return {"none": False, "all": True, "some": self.next() % 2 == 0}[self.more]

    def make(self, kind, name="", depth=0):
        origin = get_origin(kind)
        if origin in (extended.Required, extended.NotRequired, extended.Annotated, typing.Annotated):
            return self.make(get_args(kind)[0], name, depth)
        if extended.is_typeddict(kind):
            return self.fields(kind, depth)
        if origin is Literal:
            return self.pick(get_args(kind))
        if origin in (Union, types.UnionType):
            options = [it for it in get_args(kind) if it is not type(None) or self.more == "all"]
            return self.make(self.pick(options), name, depth)
        if origin is dict:
            return SCHEMA if name in ("parameters", "schema") else {"key": self.make(get_args(kind)[1], name, depth + 1)}
        if origin is list or origin is collections.abc.Iterable or "Sequence" in str(origin):
            length = 0 if depth > 5 else 1 + self.next() % 2
            return [self.make(get_args(kind)[0], name, depth + 1) for _ in range(length)]
        if kind is type(None):
            return None
        if kind in (object, typing.Any):
            return SCHEMA
        return self.plain(kind, name)

    def fields(self, kind, depth):
        made = {}
        for name, hint in extended.get_type_hints(kind, include_extras=True).items():
            needed = name in kind.__required_keys__ or get_origin(hint) is extended.Required
            if needed or (depth < 5 and self.wants()):
                made[name] = self.make(hint, name, depth + 1)
        return made

    def plain(self, kind, name):
        number = self.next()
        if kind is bool:
            return number % 2 == 0
        if kind is int:
            return number
        if kind is float:
            return number / 4
        if kind is not str:
            raise TypeError(f"{kind!r} at {name}")
        if name.endswith("id"):
            return f"{name}_{number}"
        if name == "name":
            return f"get_weather_{number}"
        if name == "arguments":
            return '{"city":  "Z\\u00fcrich", "days": 1.50}'
        if "url" in name:
            return self.pick(["https://example.com/a.png", "data:image/png;base64,iVBORw0KGgo="])
        if name == "data":
            return "UklGRg=="
        if name == "file_data":
            return self.pick(["JVBERi0=", "data:application/pdf;base64,JVBERi0="])
        return TEXTS[number % len(TEXTS)]


def variants(kind):
    """Every way of a type: bare, whole, and twice with some of its fields."""
    for number, more in enumerate(["none", "all", "some", "some"]):
        yield f"{more} {number}", Maker(number * 7, more)


def named(kind):
    return getattr(kind, "__name__", str(kind))


# Chat Completions


def chat_around(message):
    """Puts a message into a conversation that may have it."""
    before, behind = [USER], []
    if message["role"] == "tool":
        call = {"id": message["tool_call_id"], "type": "function", "function": {"name": "f", "arguments": "{}"}}
        before.append({"role": "assistant", "content": None, "tool_calls": [call]})
    for call in message.get("tool_calls") or []:
        behind.append({"role": "tool", "tool_call_id": call["id"], "content": "rain"})
    if message["role"] == "assistant" and not behind and not message.get("content"):
        message.setdefault("refusal", "I cannot.")
    return before + [message] + behind + [USER]


def chat_requests():
    for kind in get_args(chat_message.ChatCompletionMessageParam):
        for name, maker in variants(kind):
            yield f"{named(kind)} {name}", {"model": MODEL, "messages": chat_around(maker.make(kind))}
    for kind in get_args(chat_part.ChatCompletionContentPartParam):
        for name, maker in variants(kind):
            content = [{"type": "text", "text": "Look:"}, maker.make(kind)]
            yield f"{named(kind)} {name}", {"model": MODEL, "messages": [{"role": "user", "content": content}]}
    for kind in get_args(chat_tool.ChatCompletionToolUnionParam):
        for name, maker in variants(kind):
            tools = [maker.make(kind) for _ in range(3)]
            yield f"tools {named(kind)} {name}", {"model": MODEL, "messages": [USER], "tools": tools}
    contents = {"absent": {}, "null": {"content": None}, "empty": {"content": ""}, "list": {"content": [{"type": "text", "text": "t"}]}}
    calls = {
        "function": {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": " {}"}},
        "custom": {"id": "call_1", "type": "custom", "custom": {"name": "c", "input": "ls"}},
    }
    for content, said in contents.items():
        for kind, call in calls.items():
            for refusal in ({}, {"refusal": "I cannot."}):
                message = {"role": "assistant", **said, **refusal, "tool_calls": [call]}
                yield f"{kind} call, {content} content {len(refusal)}", {"model": MODEL, "messages": chat_around(message)}
    for name, maker in variants(chat_request.CompletionCreateParamsNonStreaming):
        request = maker.make(chat_request.CompletionCreateParamsNonStreaming)
        request.update(model=MODEL, messages=[USER])
        for field in ("tools", "tool_choice", "functions", "function_call"):
            request.pop(field, None)
        yield f"settings {name}", request


# Responses

OUTPUTS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
CALLS = {output: call for call, output in OUTPUTS.items()}
ITEMS = get_args(response_item.ResponseInputItemParam)


def item_type(kind):
    hint = extended.get_type_hints(kind, include_extras=True).get("type")
    while get_origin(hint) in (extended.Required, Union):
        hint = get_args(hint)[0]
    return get_args(hint)[0] if hint else None


BY_TYPE = {item_type(kind): kind for kind in ITEMS if item_type(kind) != "message"}


def partner(kind, call_id):
    made = Maker(3, "none").make(BY_TYPE[kind])
    made["call_id"] = call_id
    if kind in ("function_call_output", "custom_tool_call_output"):
        made["output"] = "rain"
    return made


def items_around(item):
    """Puts an item into a conversation that may have it."""
    before, behind = [USER], [SAID, USER]
    kind = item.get("type")
    if kind in OUTPUTS and not item.get("async"):
        behind.insert(0, partner(OUTPUTS[kind], item["call_id"]))
    if kind in CALLS and item.get("call_id"):
        before.append(partner(CALLS[kind], item["call_id"]))
    if kind == "mcp_approval_response":
        before.append({**Maker(1, "none").make(BY_TYPE["mcp_approval_request"]), "id": item["approval_request_id"]})
    if kind == "compaction_trigger":
        behind = []
    if kind is None or kind == "message":
        if item.get("role") == "assistant" and "id" not in item and not isinstance(item["content"], str):
            item["content"] = "It will."
        if item.get("content") == []:
            item["content"] = "Ah."
    if item.get("output") == []:
        item["output"] = "rain"
    return before + [item] + behind


def responses_requests():
    for kind in ITEMS:
        for name, maker in variants(kind):
            yield f"{named(kind)} {name}", {"model": MODEL, "input": items_around(maker.make(kind))}
    for kind in get_args(input_part.ResponseInputContentParam):
        for name, maker in variants(kind):
            content = [{"type": "input_text", "text": "Look:"}, maker.make(kind)]
            for role in ("user", "developer"):
                yield f"{role} {named(kind)} {name}", {"model": MODEL, "input": [{"role": role, "content": content}, USER]}
    for kind in get_args(output_part.ResponseFunctionCallOutputItemParam):
        for name, maker in variants(kind):
            output = {"type": "function_call_output", "call_id": "call_1", "output": [maker.make(kind)]}
            yield f"output {named(kind)} {name}", {"model": MODEL, "input": items_around(output)}
    for kind in get_args(output_message.Content):
        for name, maker in variants(kind):
            said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
            said["content"] = [maker.make(kind), maker.make(kind)]
            yield f"said {named(kind)} {name}", {"model": MODEL, "input": items_around(said)}
    for kind in get_args(responses_tool.ToolParam):
        for name, maker in variants(kind):
            yield f"tools {named(kind)} {name}", {"model": MODEL, "input": [USER], "tools": [maker.make(kind)]}
    for name, maker in variants(responses_request.ResponseCreateParamsNonStreaming):
        request = maker.make(responses_request.ResponseCreateParamsNonStreaming)
        request.update(model=MODEL, input="Will it rain?")
        for field in ("tools", "tool_choice", "conversation"):
            request.pop(field, None)
        yield f"settings {name}", request
    yield from responses_dialogues()


def responses_dialogues():
    """What depends on more than one item."""
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "rain"}
    request = lambda items, **more: {"model": MODEL, "input": items, **more}
    yield "a text", request("Will it rain?")
    yield "late output", request([USER, call, USER, SAID, USER, output])
    yield "open call", request([USER, {**call, "async": True}, SAID, USER])
    yield "previous response", request([output, USER], previous_response_id="resp_1")
    yield "conversation", request([output], conversation="conv_1")
    yield "reference", request([{"type": "item_reference", "id": "fc_1"}, output])
    yield "bare reference", request([{"id": "fc_1"}, output])
    shell = partner("local_shell_call", "call_1")
    yield "output of a shell", request([USER, shell, output, SAID])


SAMPLES = {"openai-chat": chat_requests, "openai-responses": responses_requests}


def samples():
    """Every sample: name, provider, request."""
    for provider, make in SAMPLES.items():
        for name, request in make():
            yield f"types of {provider}: {name}", provider, request
