"""Requests of Anthropic and Gemini, made from the SDKs' types: every block, part, tool and setting, bare and with all its fields.

Nothing is random: the types are gone through in their own order, so the same versions of the SDKs give the same requests. Each request is
one that the service accepts, as far as types and our linter can tell.
"""

import collections.abc
import enum
import json
import typing
from typing import Any, Literal, Union, get_args, get_origin

import pydantic
import typing_extensions
from anthropic import types as claude
from anthropic.types.content_block_param import ContentBlockParam
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from anthropic.types.thinking_config_param import ThinkingConfigParam
from anthropic.types.tool_choice_param import ToolChoiceParam
from anthropic.types.tool_union_param import ToolUnionParam
from google.genai import types as gemini

# How a dictionary is filled: what it must have, all it can have, or all, with null wherever that is allowed.
BARE, FULL, NULL = "bare", "full", "null"
MODES = (BARE, FULL, NULL)

# Values that mean something to the service.
BY_NAME = {
    "url": "https://example.com/a",
    "uri": "https://example.com/a",
    "source": "https://example.com/a",
    "data": "QUJD",
    "signature": "c2lnbmF0dXJl",
    "budget_tokens": 1024,
    "defer_loading": False,
    "ttl": "5m",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "schema": {"type": "object", "additionalProperties": False},
    "temperature": 1.0,
    "stop_sequences": ["END"],
    "allowed_callers": ["direct"],
    "tool_id": "srvtoolu_0",
}

QUALIFIERS = (typing_extensions.Required, typing_extensions.NotRequired, typing.Required, typing.NotRequired)


def bare_type(hint):
    while get_origin(hint) in QUALIFIERS or get_origin(hint) is typing.Annotated:
        hint = get_args(hint)[0]
    return hint


def choices(hint):
    hint = bare_type(hint)
    if get_origin(hint) is Union or type(hint).__name__ == "UnionType":
        return [choice for arm in get_args(hint) for choice in choices(arm)]
    return [hint]


def make(hint, mode, pick, name="", depth=0):
    """Returns a value of a type; of several choices, the one that `pick` says."""
    arms = choices(hint)
    if mode == NULL and type(None) in arms:
        return None
    if name in BY_NAME and not (name == "source" and str not in arms):
        return BY_NAME[name]
    if name == "name" and str in arms:
        return "f"
    arms = [arm for arm in arms if arm is not type(None)]
    hint = arms[pick % len(arms)]
    origin = get_origin(hint)
    if origin is Literal:
        return get_args(hint)[pick % len(get_args(hint))]
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        inner = get_args(hint)[0]
        count = 1 if mode == BARE else len(choices(inner))
        return [make(inner, mode, pick + index, "", depth + 1) for index in range(count)]
    if origin is dict:
        return {"é": [1, 1.5, None], "a": {"b": "c"}}
    if typing_extensions.is_typeddict(hint):
        fields = {}
        for field, kind in typing_extensions.get_type_hints(hint, include_extras=True).items():
            required = field in hint.__required_keys__ or get_origin(kind) in (typing_extensions.Required, typing.Required)
            # Four breakpoints are allowed, so nothing within a block has one.
            if required or (mode != BARE and not (field == "cache_control" and depth)):
                fields[field] = make(kind, mode, pick, field, depth + 1)
        return fields
    return {int: 1, float: 0.5, bool: True, str: "A text: \"ü\" 😀"}.get(hint, "QUJD")


def variants(hint, name="", picks=6):
    """Returns values of a type, each once."""
    seen = {}
    for mode in MODES:
        for pick in range(picks):
            value = make(hint, mode, pick, name)
            seen.setdefault(json.dumps(value, sort_keys=True), value)
    return list(seen.values())


ASK = {"role": "user", "content": "Will it rain?"}
FUNCTION = {"name": "f", "input_schema": {"type": "object"}}
SERVER_RESULTS = {
    "web_search": claude.WebSearchToolResultBlockParam,
    "web_fetch": claude.WebFetchToolResultBlockParam,
    "code_execution": claude.CodeExecutionToolResultBlockParam,
    "bash_code_execution": claude.BashCodeExecutionToolResultBlockParam,
    "text_editor_code_execution": claude.TextEditorCodeExecutionToolResultBlockParam,
    "tool_search_tool_regex": claude.ToolSearchToolResultBlockParam,
    "tool_search_tool_bm25": claude.ToolSearchToolResultBlockParam,
}


def claude_request(messages, **fields):
    return {"model": "claude-sonnet-5-5", "max_tokens": 4096, "messages": messages, **fields}


def around(block):
    """Returns a conversation in which a block has its place."""
    kind = block["type"]
    end = {"type": "text", "text": "So."}
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    said = lambda *blocks: [ASK, {"role": "assistant", "content": list(blocks)}]
    if kind == "tool_use":
        block = {**block, "id": "toolu_1", "name": "f"}
        return said(block) + [{"role": "user", "content": [answer]}], {"tools": [FUNCTION]}
    if kind == "tool_result":
        if block.get("is_error") and not block.get("content"):
            block = {**block, "is_error": False}
        result = {**block, "tool_use_id": "toolu_1"}
        return said(call) + [{"role": "user", "content": [result, end]}], {"tools": [FUNCTION]}
    if kind == "server_tool_use":
        block = {**block, "id": "srvtoolu_1"}
        result = make(SERVER_RESULTS[block["name"]], BARE, 0)
        return said(block, {**result, "tool_use_id": "srvtoolu_1"}, end) + [ASK], {}
    if kind.endswith("_tool_result"):
        name = next(name for name, result in SERVER_RESULTS.items() if make(result, BARE, 0)["type"] == kind)
        use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": name, "input": {}}
        return said(use, {**block, "tool_use_id": "srvtoolu_1"}, end) + [ASK], {}
    if kind in ("thinking", "redacted_thinking"):
        return said(block, end) + [ASK], {}
    return [{"role": "user", "content": [block, end]}], {}


def claude_requests():
    blocks = [block for block in get_args(ContentBlockParam) if typing_extensions.is_typeddict(block)]
    for block in blocks:
        for value in variants(block):
            messages, fields = around(value)
            yield block.__name__, claude_request(messages, **fields)
    for tool in get_args(ToolUnionParam):
        for value in variants(tool):
            yield tool.__name__, claude_request([ASK], tools=[value])
    for choice in variants(ToolChoiceParam):
        if "name" in choice:
            choice["name"] = "f"
        yield "tool_choice", claude_request([ASK], tools=[FUNCTION], tool_choice=choice)
    for thinking in variants(ThinkingConfigParam):
        yield "thinking", claude_request([ASK], thinking=thinking)
    text = variants(claude.TextBlockParam)
    yield "system", claude_request([ASK], system="Be brief.")
    for system in text:
        yield "system", claude_request([ASK], system=[system, {"type": "text", "text": "Be brief."}])
        yield "system", claude_request([ASK], system=[system])
        inline = {"role": "system", "content": [system, {"type": "text", "text": "Be brief."}]}
        yield "system message", claude_request([ASK, inline, {"role": "assistant", "content": "So."}, ASK])
    yield "system message", claude_request([ASK, {"role": "system", "content": "Be brief."}])
    yield "empty", claude_request([ASK], system=[], tools=[])
    done = {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "stream"}
    hints = typing_extensions.get_type_hints(MessageCreateParamsNonStreaming, include_extras=True)
    for name, hint in hints.items():
        for value in variants(hint, name) if name not in done else []:
            yield name, claude_request([ASK], **{name: value})


def fill(kind, depth=0):
    """Returns an object of Gemini's with all of its fields."""
    arms = [arm for arm in choices(kind) if arm is not type(None)]
    kind = arms[0]
    origin = get_origin(kind)
    if origin is list:
        return [fill(get_args(kind)[0], depth + 1)]
    if origin is dict:
        inner = get_args(kind)[1]
        return {"a": {"b": 1} if inner in (Any, object) else fill(inner, depth + 1)} if depth < 6 else {}
    if origin is Literal:
        return get_args(kind)[0]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return list(kind)[-1]
    if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
        fields = {}
        for name, field in kind.model_fields.items():
            if depth > 3:
                break
            value = fill(field.annotation, depth + 1)
            if value is not None:
                fields[name] = value
        try:
            return kind(**fields)
        except pydantic.ValidationError:
            return kind()
    return {str: "A text: \"ü\" 😀", bytes: b"\xfb\xff\x00", int: 1, float: 0.5, bool: True}.get(kind)


# The ways in which people write the SDK's objects into a log.
STYLES = {
    "camel": {"by_alias": True, "exclude_none": True},
    "camel, nulls": {"by_alias": True},
    "snake": {"exclude_none": True},
    "snake, nulls": {},
}


def dumped(value, style):
    return json.loads(value.model_dump_json(**STYLES[style]))


def gemini_parts():
    """Returns parts of the user and parts of the model."""
    part, about = gemini.Part, {"part_metadata": {"a": 1}}
    user = [part(text="Will it rain? \"ü\" 😀"), part(text="a", **about)]
    for mime in ("image/png", "application/pdf", "audio/wav", "video/mp4", "text/plain"):
        user.append(part(inline_data=gemini.Blob(mime_type=mime, data=b"\xfb\xff\x00")))
        user.append(part(file_data=gemini.FileData(mime_type=mime, file_uri="https://example.com/a")))
    user.append(part(inline_data=gemini.Blob(mime_type="image/png", data=b"a", display_name="a.png"), **about))
    user.append(part(file_data=gemini.FileData(file_uri="gs://bucket/a", display_name="a")))
    user.append(part(file_data=gemini.FileData(file_uri="https://youtu.be/a"), video_metadata=fill(gemini.VideoMetadata)))
    user.append(part(inline_data=gemini.Blob(mime_type="image/png", data=b"a"), media_resolution=fill(gemini.PartMediaResolution)))
    model = [
        part(text="So.", thought=True),
        part(text="So.", thought=True, thought_signature=b"\xfb\xff"),
        part(text="So.", thought=False, thought_signature=b"sig"),
        part(text="", thought_signature=b"sig"),
        part(executable_code=fill(gemini.ExecutableCode)),
        part(code_execution_result=fill(gemini.CodeExecutionResult), thought_signature=b"sig"),
        part(tool_call=fill(gemini.ToolCall)),
        part(tool_response=fill(gemini.ToolResponse)),
    ]
    return user, model


def gemini_calls():
    """Returns contents with calls and their responses."""
    part = gemini.Part
    call = lambda id=None, **more: part(function_call=gemini.FunctionCall(id=id, name="f", **more))
    answer = lambda id=None, **more: part(function_response=gemini.FunctionResponse(id=id, name="f", response={"output": 1}, **more))
    full = {name: fill(field.annotation, 3) for name, field in gemini.FunctionResponse.model_fields.items()}
    full = {name: value for name, value in full.items() if name not in ("id", "name", "response") and value is not None}
    text = part(text="See.")
    yield [call(args={"x": [1, None]})], [[answer()]]
    yield [call("1"), call("2", args={})], [[answer("2"), answer("1")]]
    yield [call(), call()], [[answer(), answer(), text]]
    yield [call("1", args={})], [[text, answer("1")]]
    yield [call("1"), call("2")], [[answer("1")], [answer("2")]]
    yield [call("1")], [[answer("1", **{**full, "will_continue": False})]]
    yield [call("1")], [[answer("1", will_continue=True)], [answer("1")]]
    signed = call("1", args={"é": {"a": 1.5}})
    signed.thought_signature = b"\xfb\xff"
    yield [part(text="A call.", thought=True), signed], [[answer("1")]]


def gemini_requests():
    part, content = gemini.Part, gemini.Content
    ask = content(role="user", parts=[part(text="Will it rain?")])
    said = content(role="model", parts=[part(text="So.")])
    user, model = gemini_parts()
    for style in STYLES:
        request = lambda *contents, **fields: {"contents": [dumped(it, style) for it in contents], **fields}
        name = lambda what: f"{what}, {style}"
        for one in user:
            yield name("part of the user"), request(content(role="user", parts=[one, part(text="?")]))
        for one in model:
            yield name("part of the model"), request(ask, content(role="model", parts=[one, part(text="So.")]), ask)
        for calls, answers in gemini_calls():
            for role in ("user", "function"):
                contents = [ask, content(role="model", parts=calls), *(content(role=role, parts=it) for it in answers)]
                yield name("calls"), request(*contents, said, ask)
        yield name("side by side"), request(ask, ask, said, said, content(parts=[part(text="?")]))
        snake = style.startswith("snake")
        key = "system_instruction" if snake else "systemInstruction"
        for role in (None, "user", "system"):
            system = content(role=role, parts=[part(text="Be brief."), part(text="Be kind.")])
            yield name("system"), request(ask, **{key: dumped(system, style)})
        for tool in gemini_tools():
            yield name("tools"), request(ask, tools=[dumped(it, style) for it in tool])
        settings = {"toolConfig": fill(gemini.ToolConfig), "generationConfig": fill(gemini.GenerationConfig)}
        if not snake:
            config = {key: dumped(value, style) for key, value in settings.items()}
            choice = {"functionCallingConfig": {"mode": "ANY"}}
            yield name("settings"), request(ask, **{**config, "toolConfig": choice})
            yield name("settings"), request(ask, safetySettings=[dumped(fill(gemini.SafetySetting), style)])
    text = {"text": "Will it rain?"}
    for contents in ("Will it rain?", ["Will", "it rain?"], [text, text], {"role": "user", "parts": [text]}, [{"parts": text}]):
        yield "contents as the SDK takes them", {"contents": contents}
    yield "empty", {"contents": [{"role": "user", "parts": [text]}], "tools": [], "systemInstruction": None}


def gemini_tools():
    declaration, schema = gemini.FunctionDeclaration, gemini.Schema
    words = schema(type="STRING", nullable=True, enum=["a", "b"], description="words")
    numbers = schema(type="ARRAY", items=schema(any_of=[schema(type="INTEGER"), schema(type="NUMBER")]), min_items=1)
    arguments = schema(type="OBJECT", properties={"x": words, "y": numbers, "type": schema(type="BOOLEAN")}, required=["x"])
    json_schema = {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}
    first = declaration(name="f", description="A function.", parameters=arguments)
    second = declaration(name="g", parameters_json_schema=json_schema, response=words, behavior="BLOCKING")
    yield [gemini.Tool(function_declarations=[first, second, declaration(name="h")])]
    yield [gemini.Tool(function_declarations=[first]), gemini.Tool(function_declarations=[second])]
    yield [gemini.Tool(function_declarations=[first], google_search=gemini.GoogleSearch()), gemini.Tool(url_context={})]
    for name, field in gemini.Tool.model_fields.items():
        if name != "function_declarations":
            yield [gemini.Tool(**{name: fill(field.annotation, 2)})]


def samples():
    """Returns a name, a provider and a request of each."""
    for provider, requests in (("anthropic", claude_requests), ("gemini", gemini_requests)):
        for number, (name, request) in enumerate(requests()):
            yield f"{provider} {number}: {name}", provider, request
