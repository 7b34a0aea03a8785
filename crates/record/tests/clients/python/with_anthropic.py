"""Conversations through the SDK of Anthropic."""

import asyncio
import contextlib

import anthropic
from transcript import described, headers, note, refused

MODEL = "claude-sonnet-4-5"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WEATHER = {
    "name": "get_weather",
    "description": "Returns the weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SYSTEM = [{"type": "text", "text": "You are a weather bot.", "cache_control": {"type": "ephemeral"}}]


def run():
    client = anthropic.Anthropic(api_key="sk-ant-secret")
    talk(client)
    tools(client)
    streams(client)
    errors(client)
    canceled(client)
    asyncio.run(together())


def ask(client, messages, **more):
    return client.messages.create(model=MODEL, max_tokens=64, messages=messages, **more)


def talk(client):
    messages = []
    for text in ["Will it rain in Oslo?", "And tomorrow – “really”? 🌧", "Thanks."]:
        messages.append({"role": "user", "content": text})
        answer = ask(client, messages, system=SYSTEM, stop_sequences=["END"], metadata={"user_id": "u1"})
        note("anthropic talk", answer)
        messages.append({"role": "assistant", "content": answer.content})
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    parts = [{"type": "text", "text": "What is this?"}, picture]
    note("anthropic picture", ask(client, [{"role": "user", "content": parts}]))
    raw = client.messages.with_raw_response.create(
        model=MODEL, max_tokens=64, messages=[{"role": "user", "content": "raw"}]
    )
    note("anthropic raw", [raw.status_code, headers(raw), raw.http_response.text])
    note("anthropic models", refused(lambda: client.models.list().data))


def tools(client):
    messages = [{"role": "user", "content": "Please use the tool for Oslo."}]
    answer = ask(client, messages, tools=[WEATHER], tool_choice={"type": "auto"})
    note("anthropic tool call", answer)
    messages.append({"role": "assistant", "content": answer.content})
    call = next(part for part in answer.content if part.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain from 14:00"}
    messages.append({"role": "user", "content": [result]})
    note("anthropic tool result", ask(client, messages, tools=[WEATHER], tool_choice={"type": "auto"}))

    @anthropic.beta_tool
    def look_up(city: str) -> str:
        """Looks a city up.

        Args:
            city: The city.
        """
        return f"{city}: sun"

    question = [{"role": "user", "content": "Now use the tool in a loop."}]
    runner = client.beta.messages.tool_runner(model=MODEL, max_tokens=64, tools=[look_up], messages=question)
    for answer in runner:
        note("anthropic tool runner", answer)


def streams(client):
    messages = [{"role": "user", "content": "Tell me a story, word by word."}]
    with client.messages.stream(model=MODEL, max_tokens=64, messages=messages) as stream:
        for event in stream:
            note("anthropic stream", event)
        final = stream.get_final_message()
    note("anthropic stream, whole", final)
    messages += [
        {"role": "assistant", "content": final.content},
        {"role": "user", "content": "Use the tool, please: use the tool."},
    ]
    for event in ask(client, messages, tools=[WEATHER], stream=True):
        note("anthropic events", event)


def errors(client):
    def say(text, **more):
        return lambda: ask(client, [{"role": "user", "content": text}], **more)

    note("anthropic bad request", refused(say("This is a bad request.")))
    note("anthropic limit", refused(say("Over the limit.")))
    note("anthropic retry", refused(say("Please fail once.")))
    note("anthropic broken", refused(lambda: list(say("Please break off in the middle.", stream=True)())))


def canceled(client):
    messages = [{"role": "user", "content": "Answer slowly so that I can leave before the end of it."}]
    with contextlib.closing(ask(client, messages, stream=True)) as stream:
        for event, _ in zip(stream, range(5), strict=False):
            note("anthropic canceled", event)


async def together():
    client = anthropic.AsyncAnthropic(api_key="sk-ant-secret")

    async def one(number):
        messages = []
        for turn in range(3):
            messages.append({"role": "user", "content": f"Conversation {number}, turn {turn}: answer slowly."})
            async with client.messages.stream(model=MODEL, max_tokens=64, messages=messages) as stream:
                final = await stream.get_final_message()
            messages.append({"role": "assistant", "content": final.content})
        return messages

    for conversation in await asyncio.gather(*(one(number) for number in range(4))):
        note("anthropic together", conversation)
    task = asyncio.create_task(
        client.messages.create(
            model=MODEL, max_tokens=64, messages=[{"role": "user", "content": "plain"}], timeout=20
        )
    )
    note("anthropic async", await task)
    try:
        slow = [{"role": "user", "content": "Take your time, slowly, and more than I have."}]
        async with asyncio.timeout(0.3):
            stream = await client.messages.create(model=MODEL, max_tokens=64, messages=slow, stream=True)
            async for _ in stream:
                pass
    except TimeoutError as error:
        note("anthropic timeout", described(error))
