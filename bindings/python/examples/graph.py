"""A LangGraph graph on a scripted model, with its threads in a Contextree store.

    pip install "contextree[langgraph]"
    python graph.py [STORE]

The thread is a tree that `ctx --store STORE -c langgraph/trip show` draws, too.
"""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph

import contextree
from contextree.langgraph import ContextreeSaver


def model(state: MessagesState) -> dict[str, Any]:
    """Takes the place of a chat model: looks the weather up once for every question."""
    if isinstance(state["messages"][-1], HumanMessage):
        call = {"name": "forecast", "args": {"city": "Oslo"}, "id": f"call_{len(state['messages'])}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}
    return {"messages": [AIMessage("It rains in Oslo from two o'clock on.")]}


def tool(state: MessagesState) -> dict[str, Any]:
    """Answers the tool calls of the last message."""
    last = state["messages"][-1]
    calls = last.tool_calls if isinstance(last, AIMessage) else []
    return {"messages": [ToolMessage("rain from 14:00", tool_call_id=call["id"], name=call["name"]) for call in calls]}


def next_node(state: MessagesState) -> str:
    """Calls tools until the model answers."""
    last = state["messages"][-1]
    return "tool" if isinstance(last, AIMessage) and last.tool_calls else END


def main(path: str) -> None:
    store = contextree.open(path)
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tool", tool)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", next_node)
    graph.add_edge("tool", "model")
    agent = graph.compile(checkpointer=ContextreeSaver(store))

    config: Any = {"configurable": {"thread_id": "trip"}}
    for question in ("Will it rain in Oslo?", "And tomorrow?"):
        result = agent.invoke({"messages": [HumanMessage(question)]}, config)
    print(result["messages"][-1].content)

    thread = store.context("langgraph/trip")
    print(thread)
    print("tool results:", [node.text for node in thread.select(".block[kind=result]")])
    print("checkpoints:", len(list(agent.get_state_history(config))))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "memory:")
