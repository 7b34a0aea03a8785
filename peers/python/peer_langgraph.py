"""LangGraph with its own savers: SYSTEM is BACKEND:CHANNEL:DURABILITY.

BACKEND memory, sqlite, postgres; CHANNEL full (MessagesState, what everybody gets) or delta (DeltaChannel, opt-in);
DURABILITY async (the default), sync, exit. Whatever the mode, a turn counts as done when `invoke` returns, and by then it is stored.
A chat turn is one `invoke` of a graph of one node with a canned reply. An agent run is one `invoke` of a graph of two nodes, model
and tools, that take turns.
"""
import json
import os
import sqlite3
from importlib.metadata import version
from typing import Annotated, TypedDict

for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
    os.environ.pop(name, None)

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_openai_messages
from langgraph.graph import END, START, MessagesState, StateGraph

from common import LONGEST_SECONDS, MOST_BYTES, Run, clock, remove, sizes

THREAD = {"configurable": {"thread_id": "t"}}
# Bytes that a message takes once it is read; seen on CPython 3.11.
MESSAGE_BYTES = 2_200


class Peer:
    def __init__(self, run):
        self.run = run
        self.backend, self.channel, self.durability = run.system.split(":")
        self.path = os.path.join(run.folder, "langgraph.sqlite")
        self.reply = None
        self.steps = None

    def state(self):
        if self.channel == "full":
            return MessagesState
        from langgraph.channels.delta import DeltaChannel
        from langgraph.graph.message import _messages_delta_reducer

        class Delta(TypedDict):
            messages: Annotated[list, DeltaChannel(_messages_delta_reducer)]

        return Delta

    def saver(self, fresh):
        if self.backend == "memory":
            from langgraph.checkpoint.memory import InMemorySaver

            return InMemorySaver(), None
        if self.backend == "sqlite":
            from langgraph.checkpoint.sqlite import SqliteSaver

            if fresh:
                remove(self.path)
            # As its own `from_conn_string` opens it.
            connection = sqlite3.connect(self.path, check_same_thread=False)
            saver = SqliteSaver(connection)
            saver.setup()
            return saver, connection
        import psycopg
        from psycopg.rows import dict_row

        from langgraph.checkpoint.postgres import PostgresSaver

        server = os.environ["PEERS_POSTGRES"]
        if fresh:
            with psycopg.connect(server, autocommit=True) as admin:
                admin.execute("DROP DATABASE IF EXISTS peer_langgraph")
                admin.execute("CREATE DATABASE peer_langgraph")
        address = server.rsplit("/", 1)[0] + "/peer_langgraph"
        connection = psycopg.connect(address, autocommit=True, prepare_threshold=0, row_factory=dict_row)
        saver = PostgresSaver(connection)
        if fresh:
            saver.setup()
        return saver, connection

    def graph(self, saver):
        graph = StateGraph(self.state())
        if self.run.kind == "chat":
            graph.add_node("reply", lambda state: {"messages": [AIMessage(self.reply)]})
            graph.add_edge(START, "reply")
            graph.add_edge("reply", END)
        else:
            graph.add_node("model", self.model)
            graph.add_node("tools", self.tools)
            graph.add_edge(START, "model")
            graph.add_edge("model", "tools")
            graph.add_conditional_edges("tools", lambda state: "model" if self.steps["next"] else END)
        return graph.compile(checkpointer=saver)

    def model(self, state):
        steps = self.steps
        now = clock()
        if steps["began"]:
            steps["times"].append(now - steps["began"])
        steps["line"], steps["next"] = steps["next"], next(steps["lines"], None)
        line = steps["line"]
        call = {"name": line["name"], "args": json.loads(line["arguments"]), "id": line["id"]}
        steps["began"] = clock()
        return {"messages": [AIMessage(line["say"], tool_calls=[call])]}

    def tools(self, state):
        line = self.steps["line"]
        return {"messages": [ToolMessage(line["result"], tool_call_id=line["id"])]}

    def follow(self, app, limit=None, measured=True):
        """Follows the conversation; returns the messages of the last state."""
        run = self.run
        lines = run.lines(limit)
        invoke = {"durability": self.durability}
        if run.kind == "chat":
            for line in lines:
                self.reply = line["assistant"]
                message = HumanMessage(line["user"])
                work = lambda: app.invoke({"messages": [message]}, THREAD, **invoke)
                result = run.step(work) if measured else work()
            return result["messages"]
        task = next(lines)
        self.steps = {"lines": lines, "next": next(lines), "began": 0, "times": []}
        config = {**THREAD, "recursion_limit": 10 * run.length + 50}
        result = app.invoke({"messages": [HumanMessage(task["user"])]}, config, **invoke)
        self.steps["times"].append(clock() - self.steps["began"])
        if measured:
            run.times = self.steps["times"]
        return result["messages"]

    def checkpoints(self, saver, connection):
        """The ids of all checkpoints, oldest first, without reading any."""
        if self.backend == "memory":
            return sorted(saver.storage["t"][""])
        query = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = 't' ORDER BY checkpoint_id"
        rows = connection.execute(query).fetchall()
        return [row["checkpoint_id"] if isinstance(row, dict) else row[0] for row in rows]

    def bytes(self, connection):
        if self.backend == "sqlite":
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return sizes(self.path)
        tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
        rows = [connection.execute(f"SELECT pg_total_relation_size('{table}') AS n").fetchone() for table in tables]
        return sum(row["n"] for row in rows)

    def settings(self, connection):
        if self.backend == "sqlite":
            pragma = lambda name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            return f"journal_mode={pragma('journal_mode')}, synchronous={pragma('synchronous')} (2 is FULL), SQLite {sqlite3.sqlite_version}"
        if self.backend == "postgres":
            show = lambda name: connection.execute(f"SHOW {name}").fetchone()[name]
            return f"fsync={show('fsync')}, synchronous_commit={show('synchronous_commit')}, PostgreSQL {show('server_version')}"
        return "memory"


def read(messages):
    return len(messages), sum(len(message.content) for message in messages)


def main():
    run = Run()
    answer = run.answer
    peer = Peer(run)
    saver, connection = peer.saver(fresh=True)
    peer.follow(peer.graph(saver), limit=6, measured=False)
    if connection:
        connection.close()
    saver, connection = peer.saver(fresh=True)
    app = peer.graph(saver)
    run.began()
    messages = peer.follow(app)
    run.ended()
    run.kept("last", read(messages))
    names = ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres", "langchain-core")
    answer.fields["versions"] = {name: version(name) for name in names}
    answer.fields["settings"] = peer.settings(connection)

    ids = peer.checkpoints(saver, connection)
    per_turn = 1 if peer.durability == "exit" else 3 if run.kind == "chat" else 2
    # A chat writes all checkpoints of a turn before the next; an agent run has two before its first step.
    last_of = lambda turn: per_turn * turn - 1 if run.kind == "chat" else 1 + per_turn * turn
    if peer.durability == "exit" and run.kind == "agent":
        answer.skip("only the end of the run is stored", "middle", "middle_cold", "page", "history")
    else:
        at = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": ids[last_of(run.length // 2)]}}
        state = lambda app: read(app.get_state(at).values["messages"])
        run.kept("middle", answer.measure("middle", lambda: state(app)))
        history = lambda limit: sum(1 for _ in app.get_state_history(THREAD, limit=limit))
        answer.fields["page_entries"] = answer.measure("page", lambda: history(10 * per_turn), 5) // per_turn
        page = min(answer.fields["page"])
        seconds = page / 1e9 * run.length / 10 / 2
        needed = len(ids) * len(messages) / 2 * MESSAGE_BYTES if peer.channel == "full" else 0
        if needed > MOST_BYTES:
            answer.skip(f"not run: it reads every version of every message at once, about {needed / 1e9:.0f} GB", "history")
        elif seconds > LONGEST_SECONDS:
            answer.skip(f"not run: ten turns of it take {page / 1e9:.1f} s, all would take about {seconds:.0f} s", "history")
        else:
            answer.fields["history_entries"] = answer.measure("history", lambda: history(None), 3) // per_turn
    answer.fields["rendered"] = answer.measure("render", lambda: len(json.dumps(convert_to_openai_messages(messages))))
    answer.skip("no query over the messages", "select")
    answer.skip("no diff", "diff")

    if peer.backend == "memory":
        answer.skip("in memory only", "bytes", "open", "middle_cold")
    else:
        answer.fields["bytes"] = peer.bytes(connection)
        connection.close()

        def again(work):
            saver, connection = peer.saver(fresh=False)
            result = work(peer.graph(saver))
            connection.close()
            return result

        answer.measure("open", lambda: again(lambda app: read(app.get_state(THREAD).values["messages"])))
        if "middle" in answer.fields:
            answer.measure("middle_cold", lambda: again(state))
    answer.print()
    remove(peer.path)
    if peer.backend == "postgres":
        import psycopg

        with psycopg.connect(os.environ["PEERS_POSTGRES"], autocommit=True) as admin:
            admin.execute("DROP DATABASE IF EXISTS peer_langgraph")


main()
