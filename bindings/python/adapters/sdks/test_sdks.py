"""The call loop with the clients of the official SDKs: their own objects, over a transport that answers with samples."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai

import contextree

SAMPLES = Path(__file__).resolve().parents[4] / "crates/provider/tests/streams"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Wire:
    """Takes the place of the network: answers with a sample, and remembers what was sent."""

    def __init__(self, sample: str) -> None:
        self.sample = sample
        self.sent: list[Any] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.sent.append(body)
        if body.get("stream") or "streamGenerateContent" in request.url.path:
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=self.text("sse"))
        return httpx2.Response(200, headers={"content-type": "application/json"}, text=self.text("json"))

    def text(self, form: str) -> str:
        text = (SAMPLES / f"{self.sample}.{form}").read_text()
        # A second response has ids of its own.
        again = rf'"\1-{len(self.sent)}"'
        return text if len(self.sent) == 1 else re.sub(r'"((?:msg|toolu|srvtoolu|chatcmpl|call|resp|rs|fc)[_-][0-9]+|r1|c1)"', again, text)

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self))

    def async_client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self))


class Anthropic:
    provider, model, settings = "anthropic", "claude-opus-5", {"max_tokens": 500}
    samples = ("anthropic-tools", "anthropic-search")

    def __init__(self, wire: Wire) -> None:
        self.client = anthropic.Anthropic(api_key="none", http_client=wire.client())
        self.async_client = anthropic.AsyncAnthropic(api_key="none", http_client=wire.async_client())

    def create(self, request: Any) -> Any:
        return self.client.messages.create(**request)

    async def acreate(self, request: Any) -> Any:
        return await self.async_client.messages.create(**request)

    def stream(self, request: Any) -> Iterator[Any]:
        yield from self.client.messages.create(**request, stream=True)

    def helper(self, request: Any) -> Iterator[Any]:
        with self.client.messages.stream(**request) as stream:
            yield from stream


class Chat:
    provider, model, settings = "openai", "gpt-5", {}
    samples = ("openai-chat-tools", "openai-chat-text")

    def __init__(self, wire: Wire) -> None:
        self.client = openai.OpenAI(api_key="none", http_client=wire.client())
        self.async_client = openai.AsyncOpenAI(api_key="none", http_client=wire.async_client())

    def create(self, request: Any) -> Any:
        return self.client.chat.completions.create(**request)

    async def acreate(self, request: Any) -> Any:
        return await self.async_client.chat.completions.create(**request)

    def stream(self, request: Any) -> Iterator[Any]:
        yield from self.client.chat.completions.create(**request, stream=True)

    def helper(self, request: Any) -> Iterator[Any]:
        with self.client.chat.completions.stream(**request) as stream:
            yield from stream


class Responses(Chat):
    provider, samples = "openai-responses", ("openai-responses-tools",)

    def create(self, request: Any) -> Any:
        return self.client.responses.create(**request)

    async def acreate(self, request: Any) -> Any:
        return await self.async_client.responses.create(**request)

    def stream(self, request: Any) -> Iterator[Any]:
        yield from self.client.responses.create(**request, stream=True)

    def helper(self, request: Any) -> Iterator[Any]:
        with self.client.responses.stream(**request) as stream:
            yield from stream


class Gemini:
    provider, model, settings = "gemini", "gemini-3-pro", {"generationConfig": {"temperature": 0.5, "maxOutputTokens": 500}}
    samples = ("gemini-tools",)

    def __init__(self, wire: Wire) -> None:
        options = {"httpx_client": wire.client(), "httpx_async_client": wire.async_client()}
        self.client = genai.Client(api_key="none", http_options=genai.types.HttpOptions(**options))

    def create(self, request: Any) -> Any:
        return self.client.models.generate_content(**request)

    async def acreate(self, request: Any) -> Any:
        return await self.client.aio.models.generate_content(**request)

    def stream(self, request: Any) -> Iterator[Any]:
        yield from self.client.models.generate_content_stream(**request)

    helper = stream


CASES = [pytest.param(sdk, sample, id=sample) for sdk in (Anthropic, Chat, Responses, Gemini) for sample in sdk.samples]


def question(sdk: Any) -> contextree.Context:
    context = contextree.open("memory:", clock="logical").context("c")
    context.system("You are a travel agent.")
    context.tool("forecast", "The weather of today in a city", CITY)
    context.tool("clock", "The time", {"type": "object", "properties": {}})
    context.user("Will it rain in Oslo? ☔")
    return context


def ask(context: contextree.Context, sdk: Any) -> contextree.Attempt:
    return context.attempt(sdk.provider, model=sdk.model, **sdk.settings)


def shown(context: contextree.Context) -> Any:
    """Returns the nodes, without when they were made."""
    return [{name: value for name, value in node.items() if not name.startswith("created_at")} for node in map(dict, context.thread())]


def sent(sdk: Any, body: Any) -> Any:
    """Returns a body as `Attempt.body` has it. Gemini's SDK puts the model into the address, and writes one name as Python does."""
    if sdk.provider != "gemini":
        return body
    text = json.dumps(body).replace('"parameters_json_schema"', '"parametersJsonSchema"')
    return {"model": sdk.model, **json.loads(text)}


@pytest.mark.parametrize(("sdk", "sample"), CASES)
def test_the_sdk_sends_what_the_snapshot_says_and_its_response_is_an_answer(sdk: Any, sample: str) -> None:
    context, wire = question(sdk), Wire(sample)
    client = sdk(wire)
    with ask(context, sdk) as attempt:
        assert attempt.accepted, attempt.findings
        answer = attempt.complete(client.create(attempt.request))
        assert sent(sdk, wire.sent[0]) == json.loads(attempt.body)
    assert answer.nodes
    document = question(sdk)
    with ask(document, sdk) as attempt:
        attempt.complete((SAMPLES / f"{sample}.json").read_text())
    assert shown(context) == shown(document)


@pytest.mark.parametrize("form", ["stream", "helper"])
@pytest.mark.parametrize(("sdk", "sample"), CASES)
def test_the_events_of_the_sdk_are_the_same_answer(sdk: Any, sample: str, form: str) -> None:
    streamed, whole, client = question(sdk), question(sdk), sdk(Wire(sample))
    with ask(streamed, sdk) as attempt:
        for event in getattr(client, form)(attempt.request):
            attempt.feed(event)
        attempt.complete()
    with ask(whole, sdk) as attempt:
        attempt.complete(sdk(Wire(sample)).create(attempt.request))
    assert shown(streamed) == shown(whole)


@pytest.mark.parametrize(("sdk", "sample"), CASES)
def test_tools_are_answered_and_the_sdk_accepts_the_next_request(sdk: Any, sample: str) -> None:
    context, wire = question(sdk), Wire(sample)
    client = sdk(wire)
    with ask(context, sdk) as attempt:
        answer = attempt.complete(client.create(attempt.request))
    for call in answer.tool_calls:
        assert isinstance(json.loads(call.arguments), dict)
        context.tool_result(call.id, {"rain": True})
    context.user("And tomorrow?")
    with ask(context, sdk) as attempt:
        assert attempt.accepted, attempt.findings
        attempt.complete(client.create(attempt.request))
        assert sent(sdk, wire.sent[1]) == json.loads(attempt.body)
    assert len(context.log()) == 2


@pytest.mark.parametrize(("sdk", "sample"), CASES)
def test_asynchronous_clients(sdk: Any, sample: str, tmp_path: Path) -> None:
    async def run() -> None:
        client = sdk(Wire(sample))
        async with await contextree.open_async(tmp_path / "a.db") as store:
            context = await store.context("c")
            await context.user("Will it rain in Oslo?")
            async with context.attempt(sdk.provider, model=sdk.model, **sdk.settings) as attempt:
                answer = await attempt.complete(await client.acreate(attempt.request))
            assert answer.nodes

    asyncio.run(run())


FAILURES: list[Callable[[httpx2.Request], httpx2.Response]] = [
    lambda request: httpx2.Response(401, json={"error": {"type": "authentication_error", "message": "no key"}}),
    lambda request: httpx2.Response(400, json={"error": {"type": "invalid_request_error", "message": "no"}}),
]


@pytest.mark.parametrize("sdk", [Anthropic, Chat, Responses, Gemini])
@pytest.mark.parametrize("failure", range(len(FAILURES)))
def test_an_error_of_the_sdk_seals_nothing(sdk: Any, failure: int) -> None:
    context = question(sdk)
    wire = Wire("")
    wire.__class__ = type("Failing", (Wire,), {"__call__": lambda self, request: FAILURES[failure](request)})
    client = sdk(wire)
    with pytest.raises((anthropic.APIError, openai.APIError, genai.errors.APIError)), ask(context, sdk) as attempt:
        attempt.complete(client.create(attempt.request))
    assert context.log() == []
    assert [one.status for one in context.attempts()] == ["error"]
