"""Uses every tool of `ctx mcp` with the official client, over both transports and in every era of the protocol.

Arguments: the program, the URL of a store, the URL of a server of the same store, and its token.
"""

import asyncio
import json
import subprocess
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

PROGRAM, STORE, URL, TOKEN = sys.argv[1:5]

# Each tool with arguments that it accepts, in an order in which each has something to do.
CALLS = [
    ("contexts", {}),
    ("show", {"what": "@t0", "full": True}),
    ("select", {"selector": "@* .block[role=user]"}),
    ("diff", {"from": "@c1", "to": "@t0"}),
    ("log", {"calls": 5}),
    ("tokens", {"at": "@t0", "by": "role"}),
    ("cache", {"misses_only": False}),
    ("note", {"text": "The user prefers metric units.", "ttl": 3, "key": "units", "tags": ["preference"]}),
    ("pin", {"nodes": ["#units"]}),
    ("unpin", {"nodes": ["#units"]}),
    ("set_priority", {"nodes": ["USER"], "priority": 5}),
    ("fork", {"name": "FORK", "at": "@c1"}),
    ("restore", {"node": "EXPIRED", "at": "@c1", "ttl": 2}),
]

DEEP = []
for _ in range(100):
    DEEP = [DEEP]

# Arguments that are wrong, huge or meant to do harm, with the code of the error.
HOSTILE = [
    ("contexts", {"extra": 1}, "E_JSON_SHAPE"),
    ("show", {"what": 7}, "E_JSON_SHAPE"),
    ("show", {"what": DEEP}, "E_JSON_SHAPE"),
    ("show", {"what": "@t-999999999999999999999"}, "E_"),
    ("show", {"what": "../../etc/passwd"}, "E_"),
    ("show", {"context": "no such context"}, "E_CONTEXT_NOT_FOUND"),
    ("show", {"context": "a\u0000b"}, "E_"),
    ("show", {"limit": 10**30}, "E_"),
    ("show", {"limit": 1}, "E_USAGE"),
    ("show", {"cursor": "x" * 10_000}, "E_USAGE"),
    ("select", {"selector": "(" * 50_000}, "E_"),
    ("select", {"selector": ".block[role='" + "x" * 100_000}, "E_"),
    ("select", {}, "E_JSON_SHAPE"),
    ("diff", {"from": "yesterday", "to": None, "full": "yes"}, "E_"),
    ("log", {"calls": -1}, "E_JSON_SHAPE"),
    ("tokens", {"by": "'; DROP TABLE contexts; --"}, "E_USAGE"),
    ("cache", {"misses_only": "maybe"}, "E_JSON_SHAPE"),
    ("note", {"text": " "}, "E_USAGE"),
    ("note", {"text": "x", "ttl": -1}, "E_"),
    ("pin", {"nodes": []}, "E_"),
    ("pin", {"nodes": ["block:9.9"]}, "E_NODE_NOT_FOUND"),
    ("unpin", {"nodes": "USER"}, "E_JSON_SHAPE"),
    ("set_priority", {"nodes": ["USER"], "priority": 1.5}, "E_JSON_SHAPE"),
    ("fork", {"name": ""}, "E_"),
    ("fork", {"name": "x" * 100_000}, "E_"),
    ("restore", {"node": "block:9.9"}, "E_NODE_NOT_FOUND"),
    ("restore", {"node": "EXPIRED", "ttl": 0}, "E_"),
]

# Every tool that writes refuses a cursor and a limit out of range before it writes.
for tool, arguments in CALLS[7:]:
    given = {**arguments, "name": "another"} if tool == "fork" else arguments
    HOSTILE.append((tool, {**given, "limit": 1}, "E_USAGE"))
    HOSTILE.append((tool, {**given, "cursor": "1.0.0"}, "E_USAGE"))


def ctx(*arguments, given=None):
    """Runs the program; returns what it prints."""
    command = [PROGRAM, "--store", STORE, *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def prepare():
    """Adds two calls; what only the first saw has expired. Returns the ids of a message that stays and of the one that expired."""
    ctx("add", "--into", "^sys", "--role", "system", "You are a weather bot.")
    user = ctx("add", "--role", "user", "Will it rain in Oslo?").split()[0]
    expired = ctx("add", "--ttl", "1", "--role", "user", "A forecast that one call sees.").split()[0]
    for number in range(2):
        ctx("request", "--as", "openai-chat", "--model", "gpt-5")
        message = {"role": "assistant", "content": f"Answer {number}."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 34, "completion_tokens": 9}
        ctx("answer", given=json.dumps({"id": f"r{number}", "choices": [choice], "usage": usage}))
        ctx("add", "--role", "user", f"And on day {number}?")
    return {"USER": user, "EXPIRED": expired}


def filled(value, ids):
    """Returns arguments with ids in the place of their names."""
    if isinstance(value, dict):
        return {key: filled(item, ids) for key, item in value.items()}
    if isinstance(value, list) and value is not DEEP:
        return [filled(item, ids) for item in value]
    return ids.get(value, value) if isinstance(value, str) else value


def text_of(result):
    return "".join(part.text for part in result.content)


async def use(client, name, ids):
    """Uses every tool; hostile arguments change nothing."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [tool for tool, _ in CALLS], [tool.name for tool in tools]
    for tool in tools:
        assert tool.description and tool.input_schema["type"] == "object", tool.name
    ids = {**ids, "FORK": f"fork-{name}"}
    for tool, arguments in CALLS:
        result = await client.call_tool(tool, filled(arguments, ids))
        assert not result.is_error, f"{tool}: {text_of(result)}"
        assert text_of(result), f"{tool} answers nothing"
    before = ctx("export")
    for tool, arguments, code in HOSTILE:
        result = await client.call_tool(tool, filled(arguments, ids))
        text = text_of(result)
        assert result.is_error, f"{tool} accepted {str(arguments)[:80]}: {text[:200]}"
        assert code in text.split(":")[0], f"{tool} {str(arguments)[:80]}: {text[:200]}"
        assert len(text) < 10_000, f"{tool}: an error of {len(text)} characters"
    assert ctx("export") == before, "hostile arguments changed the context"
    resources = (await client.list_resources()).resources
    read = await client.read_resource(str(resources[0].uri))
    json.loads(read.contents[0].text)
    for call in [lambda: client.call_tool("drop_everything", {}), lambda: client.read_resource("contextree://none/c1")]:
        try:
            await call()
        except Exception as error:
            assert "none" in str(error).lower() or "unknown tool" in str(error), error
        else:
            raise AssertionError("an unknown name was accepted")
    print(f"{name}: protocol {client.protocol_version}, {len(CALLS)} tools, {len(HOSTILE)} hostile calls refused")


async def main():
    ids = prepare()
    stdio = StdioServerParameters(command=PROGRAM, args=["--store", STORE, "mcp", "--write"])
    for mode in ["auto", "legacy"]:
        async with Client(stdio, mode=mode) as client:
            await use(client, f"stdio-{mode}", ids)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            async with Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
                await use(client, f"http-{mode}", ids)
    async with Client(StdioServerParameters(command=PROGRAM, args=["--store", STORE, "mcp"])) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [tool for tool, _ in CALLS[:7]], names
    print("without --write: the tools that read")


asyncio.run(main())
