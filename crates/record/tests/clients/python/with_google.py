"""Conversations through the SDK of Google."""

import asyncio

from google import genai
from google.genai import types
from transcript import note, plain, refused

MODEL = "gemini-2.5-pro"


def run():
    retry = types.HttpRetryOptions(attempts=3, initial_delay=0.01, jitter=0, max_delay=0.05)
    client = genai.Client(api_key="google-secret", http_options=types.HttpOptions(retry_options=retry))
    talk(client)
    tools(client)
    errors(client)
    canceled(client)
    asyncio.run(together(client))


def look_up(city: str) -> str:
    """Looks a city up."""
    return f"{city}: sun"


def received(answer):
    """Returns an answer without the time at which it arrived."""
    whole = plain(answer)
    http = whole.get("sdk_http_response") or {}
    if http.get("headers"):
        kept = {"content-type", "request-id", "retry-after"}
        http["headers"] = {name.lower(): value for name, value in http["headers"].items() if name.lower() in kept}
    return whole


def talk(client):
    config = types.GenerateContentConfig(system_instruction="You are a weather bot.", temperature=0.5, seed=7)
    chat = client.chats.create(model=MODEL, config=config)
    for text in ["Will it rain in Oslo?", "And tomorrow – “really”? 🌧"]:
        note("google talk", received(chat.send_message(text)))
    for piece in chat.send_message_stream("Tell me a story, word by word."):
        note("google stream", received(piece))
    note("google history", chat.get_history())
    picture = types.Part.from_bytes(data=b"\x89PNG\r\n", mime_type="image/png")
    note("google picture", received(client.models.generate_content(model=MODEL, contents=["What is this?", picture])))


def tools(client):
    config = types.GenerateContentConfig(tools=[look_up])
    answer = client.models.generate_content(model=MODEL, contents="Please use the tool for Oslo.", config=config)
    note("google tool", received(answer))
    config = types.GenerateContentConfig(
        tools=[
            types.Tool(
                function_declarations=[
                    types.FunctionDeclaration(
                        name="get_weather",
                        parameters_json_schema={"type": "object", "properties": {"city": {"type": "string"}}},
                    )
                ]
            )
        ],
        tool_config=types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="AUTO")),
    )
    for piece in client.models.generate_content_stream(model=MODEL, contents="use the tool", config=config):
        note("google tool events", received(piece))


def errors(client):
    def say(text):
        return lambda: received(client.models.generate_content(model=MODEL, contents=text))

    note("google bad request", refused(say("This is a bad request.")))
    note("google limit", refused(say("Over the limit.")))
    note("google retry", refused(say("Please fail once.")))
    stream = client.models.generate_content_stream(model=MODEL, contents="Please break off in the middle.")
    note("google broken", refused(lambda: [received(piece) for piece in stream]))


def canceled(client):
    text = "Answer slowly so that I can leave before the end of it."
    stream = client.models.generate_content_stream(model=MODEL, contents=text)
    for piece, _ in zip(stream, range(5), strict=False):
        note("google canceled", received(piece))
    stream.close()


async def together(client):
    async def one(number):
        chat = client.aio.chats.create(model=MODEL)
        for turn in range(3):
            async for _ in await chat.send_message_stream(f"Conversation {number}, turn {turn}."):
                pass
        return plain(chat.get_history())

    for conversation in await asyncio.gather(*(one(number) for number in range(4))):
        note("google together", conversation)
