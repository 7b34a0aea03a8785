"""OpenAI Agents SDK, SQLiteSession: SYSTEM is `turn` (get_items and add_items, what a run of an agent does) or `append` (add_items alone).

The SDK hands each step of a run to the session: for an agent run, a step is a call and its output.
"""
import asyncio
import json
import os
import sqlite3
from importlib.metadata import version

from agents import SQLiteSession

from common import Run, remove, sizes


def items(line):
    if "result" in line:
        say = {"role": "assistant", "content": line["say"]}
        call = {"type": "function_call", "call_id": line["id"], "name": line["name"], "arguments": line["arguments"]}
        return [say, call, {"type": "function_call_output", "call_id": line["id"], "output": line["result"]}]
    said = [{"role": "user", "content": line["user"]}]
    if "assistant" in line:
        said.append({"role": "assistant", "content": line["assistant"]})
    return said


def read(items):
    texts = [item.get("content", item.get("output")) for item in items if item.get("type") != "function_call"]
    return len(texts), sum(len(text) for text in texts)


def main():
    run = Run()
    answer = run.answer
    path = os.path.join(run.folder, "openai.sqlite")
    loop = asyncio.new_event_loop()
    call = loop.run_until_complete

    async def turn(session, new):
        if run.system == "turn":
            await session.get_items()
        await session.add_items(new)

    remove(path)
    session = SQLiteSession("s", path)
    for line in run.lines(5):
        call(turn(session, items(line)))
    session.close()
    remove(path)
    session = SQLiteSession("s", path)
    run.began()
    for line in run.lines():
        new = items(line)
        run.step(lambda: call(turn(session, new)))
    run.ended()
    everything = call(session.get_items())
    run.kept("last", read(everything))
    answer.fields["versions"] = {"openai-agents": version("openai-agents")}
    connection = session._get_connection()
    pragma = lambda name: connection.execute(f"PRAGMA {name}").fetchone()[0]
    answer.fields["settings"] = (
        f"journal_mode={pragma('journal_mode')}, synchronous={pragma('synchronous')} (2 is FULL), SQLite {sqlite3.sqlite_version}"
    )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    answer.fields["rendered"] = answer.measure("render", lambda: len(json.dumps(everything)))
    session.close()
    answer.fields["bytes"] = sizes(path)

    def again():
        session = SQLiteSession("s", path)
        count = read(call(session.get_items()))
        session.close()
        return count

    answer.measure("open", again)
    answer.skip("keeps the present only", "middle", "middle_cold", "page", "history")
    answer.skip("no query over the items", "select")
    answer.skip("no diff", "diff")
    answer.print()
    remove(path)


main()
