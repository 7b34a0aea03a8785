"""LangChain agents within a budget, in a Contextree store.

    from contextree.langchain import ContextreeMiddleware

    agent = create_agent(model, tools, middleware=[ContextreeMiddleware("agent.db", budget=100_000)])

Replaces trimming and summarizing: every request is a snapshot, and what a request left out is in `result["receipts"]`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse, OmitFromInput
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import NotRequired

from ._adapter import Records, Target, name_of, store_of
from ._langchain import operations
from ._threads import finish
from ._window import Budget, Message, Receipt, Sent, Window, Windows, _digest, tool_node

__all__ = ["ContextreeMiddleware", "ContextreeState", "Receipt"]

_SERDE = JsonPlusSerializer()


class ContextreeState(AgentState[Any]):
    """The state of an agent, with a receipt for each model call of the run."""

    receipts: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput]]


class ContextreeMiddleware(AgentMiddleware[ContextreeState, Any, Any]):
    """Sends what a budget leaves of the messages. The state of the agent keeps all of them.

    Tool calls and their results are left out together. Pruning takes large steps, so that the beginning of the request, which the provider
    has cached, seldom changes. Every request is a snapshot of the context `langchain/` + the id of the thread.
    """

    state_schema = ContextreeState

    def __init__(self, store: Target, *, budget: Budget, prefix: str = "langchain/") -> None:
        """Uses a store, and a budget: a number of tokens, TOML, or a dictionary."""
        super().__init__()
        self.store = store_of(store)
        self.prefix = prefix
        self._windows = Windows(Records(self.store), "langchain.window", budget)

    def before_agent(self, state: ContextreeState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Begins the receipts of a run."""
        return {"receipts": []}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Leaves out what the budget prunes. A call that fails seals nothing."""
        if not request.messages:
            return handler(request)
        window = self._window(request.messages)
        sent = window.begin(_system(request), _messages(request.messages))
        response = handler(_with(request, sent))
        window.done(sent)
        return _told(request, response, sent)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Like `wrap_model_call`."""
        if not request.messages:
            return await handler(request)
        window = self._window(request.messages)
        sent = await finish(lambda: window.begin(_system(request), _messages(request.messages)))
        response = await handler(_with(request, sent))
        await finish(lambda: window.done(sent))
        return _told(request, response, sent)

    def after_agent(self, state: ContextreeState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Adds the last answer."""
        if state.get("receipts"):
            self._window(state["messages"]).add(_messages(state["messages"]))
        return None

    async def aafter_agent(self, state: ContextreeState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Like `after_agent`."""
        if state.get("receipts"):
            window = self._window(state["messages"])
            await finish(lambda: window.add(_messages(state["messages"])))
        return None

    def _window(self, messages: Sequence[BaseMessage]) -> Window:
        """Returns the window of the thread; without a thread, that of conversations with the same first message."""
        options = get_config().get("configurable", {})
        thread = options.get("thread_id")
        name = f"{self.prefix}{name_of(str(thread))}" if thread is not None else f"{self.prefix}untitled"
        # An agent that is a tool of another one has the thread of that one.
        if thread is None or "|" in options.get("checkpoint_ns", ""):
            name += f"/{_digest(_messages(messages[:1])[0].raw)[:16]}"
        return self._windows.window(name)


def _with(request: ModelRequest[Any], sent: Sent) -> ModelRequest[Any]:
    return request.override(messages=[request.messages[at] for at in sent.positions])


def _told(request: ModelRequest[Any], response: ModelResponse[Any], sent: Sent) -> ExtendedModelResponse[Any]:
    before = cast("list[dict[str, Any]]", request.state.get("receipts", []))
    receipts = [*before, sent.receipt.to_dict()]
    return ExtendedModelResponse(response, Command(update={"receipts": receipts}))


def _messages(messages: Sequence[BaseMessage]) -> list[Message]:
    found = []
    for message in messages:
        added, _ = operations(message, "messages", 0, _SERDE)
        nodes = [operation["node"] for operation in added]
        for node in nodes:
            node.pop("data_lc_pos", None)
        found.append(
            Message(_identity(nodes), nodes, isinstance(message, (HumanMessage, SystemMessage)), isinstance(message, SystemMessage))
        )
    return found


def _identity(nodes: list[dict[str, Any]]) -> str:
    """Returns a text that differs if what the model reads differs: without the id, which is made anew for every run without a thread."""
    first, *rest = nodes
    raw = first["data_lc"]
    if raw.startswith("["):
        name, fields = json.loads(raw)
        fields.pop("id", None)
        raw = [name, fields]
    return json.dumps([{**first, "data_lc": raw}, *rest], sort_keys=True)


def _system(request: ModelRequest[Any]) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = []
    if request.system_message is not None:
        nodes.append({"role": "system", "kind": "text", "content": request.system_message.text})
    for tool in request.tools:
        described = convert_to_openai_tool(tool)
        function = described.get("function", described)
        name = str(function.get("name") or function.get("type") or "tool")
        nodes.append(tool_node(name, str(function.get("description", "")), function.get("parameters", {})))
    return nodes
