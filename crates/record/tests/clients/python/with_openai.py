"""Conversations through the SDK of OpenAI: chat completions and responses."""

import asyncio
import contextlib

import openai
from pydantic import BaseModel
from transcript import headers, note, refused

MODEL = "gpt-5"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = {"name": "get_weather", "description": "Returns the weather.", "parameters": PARAMETERS, "strict": True}
CHAT_TOOL = {"type": "function", "function": WEATHER}
TOOL = {"type": "function", **WEATHER}


class Place(BaseModel):
    """A place."""

    city: str


def run():
    client = openai.OpenAI(api_key="sk-secret")
    chat(client)
    chat_tools(client)
    chat_streams(client)
    responses(client)
    responses_streams(client)
    errors(client)
    canceled(client)
    asyncio.run(together())


def ask(client, messages, **more):
    return client.chat.completions.create(model=MODEL, messages=messages, **more)


def chat(client):
    messages = [{"role": "developer", "content": "You are a weather bot."}]
    for text in ["Will it rain in Oslo?", "And tomorrow – “really”? 🌧", "Thanks."]:
        messages.append({"role": "user", "content": text})
        answer = ask(client, messages, temperature=0.5, seed=7, user="u1")
        note("chat talk", answer)
        messages.append(answer.choices[0].message.model_dump(exclude_none=True))
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    parts = [{"type": "text", "text": "What is this?"}, picture]
    note("chat picture", ask(client, [{"role": "user", "content": parts}]))
    raw = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=[{"role": "user", "content": "raw"}]
    )
    note("chat raw", [raw.status_code, headers(raw), raw.text])
    note("openai models", refused(lambda: client.models.list().data))


def chat_tools(client):
    messages = [{"role": "user", "content": "Please use the tool for Oslo."}]
    answer = ask(client, messages, tools=[CHAT_TOOL], parallel_tool_calls=False)
    note("chat tool call", answer)
    messages.append(answer.choices[0].message)
    call = answer.choices[0].message.tool_calls[0]
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "rain from 14:00"})
    note("chat tool result", ask(client, messages, tools=[CHAT_TOOL], parallel_tool_calls=False))


def chat_streams(client):
    messages = [{"role": "user", "content": "Tell me a story, word by word."}]
    for event in ask(client, messages, stream=True, stream_options={"include_usage": True}):
        note("chat events", event)
    with client.chat.completions.stream(
        model=MODEL, messages=[{"role": "user", "content": "Use the tool, please: use the tool."}], tools=[CHAT_TOOL]
    ) as stream:
        for event in stream:
            note("chat stream", event.type)
        note("chat stream, whole", stream.get_final_completion())


def responses(client):
    first = client.responses.create(model=MODEL, instructions="Be brief.", input="Will it rain in Oslo?")
    note("responses first", first)
    then = client.responses.create(model=MODEL, previous_response_id=first.id, input="And tomorrow?")
    note("responses then", then)
    items = [{"role": "user", "content": "Please use the tool for Oslo."}]
    answer = client.responses.create(model=MODEL, input=items, tools=[TOOL], store=False)
    note("responses tool call", answer)
    items += [item.model_dump(exclude_none=True) for item in answer.output]
    call = answer.output[0]
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": "rain from 14:00"})
    note("responses tool result", client.responses.create(model=MODEL, input=items, tools=[TOOL], store=False))
    note("responses parse", refused(lambda: client.responses.parse(model=MODEL, input="Where?", text_format=Place)))


def responses_streams(client):
    with client.responses.stream(model=MODEL, input="Tell me a story, word by word.") as stream:
        for event in stream:
            note("responses stream", event)
        note("responses stream, whole", stream.get_final_response())
    for event in client.responses.create(model=MODEL, input="use the tool", tools=[TOOL], stream=True):
        note("responses events", event)


def errors(client):
    def say(text, **more):
        return lambda: ask(client, [{"role": "user", "content": text}], **more)

    def respond(text, **more):
        return lambda: client.responses.create(model=MODEL, input=text, **more)

    for name, act in [("chat", say), ("responses", respond)]:
        note(f"{name} bad request", refused(act("This is a bad request.")))
        note(f"{name} limit", refused(act("Over the limit.")))
        note(f"{name} retry", refused(act("Please fail once.")))
        broken = act("Please break off in the middle.", stream=True)
        note(f"{name} broken", refused(lambda broken=broken: list(broken())))


def canceled(client):
    text = "Answer slowly so that I can leave before the end of it."
    with contextlib.closing(ask(client, [{"role": "user", "content": text}], stream=True)) as stream:
        for event, _ in zip(stream, range(5), strict=False):
            note("chat canceled", event)
    with contextlib.closing(client.responses.create(model=MODEL, input=text, stream=True)) as stream:
        for event, _ in zip(stream, range(5), strict=False):
            note("responses canceled", event)


async def together():
    client = openai.AsyncOpenAI(api_key="sk-secret")

    async def one(number):
        messages = []
        for turn in range(3):
            messages.append({"role": "user", "content": f"Conversation {number}, turn {turn}."})
            stream = await client.chat.completions.create(model=MODEL, messages=messages, stream=True)
            words = [chunk.choices[0].delta.content or "" async for chunk in stream]
            messages.append({"role": "assistant", "content": "".join(words)})
        return messages

    for conversation in await asyncio.gather(*(one(number) for number in range(4))):
        note("chat together", conversation)
