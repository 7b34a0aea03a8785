"""Egregore: SYSTEM is `memory`. A turn is add_user, add_assistant and seal, until the snapshot is kept.

Its own store writes every snapshot again after each seal; what is measured is its best case, with snapshots in memory only. It
prints on hot paths; that goes nowhere. After each seal the queue is joined: `flush` polls in steps of 100 ms.
"""
import gc
import json
import logging
import os
import socket
import sys
import tempfile
import types
import warnings
from importlib.metadata import version

from common import Run


def refuse(*arguments, **options):
    raise OSError("no network in a benchmark")


def main():
    run = Run()
    answer = run.answer
    if run.kind == "agent":
        answer.skip("tool calls only through its Agent class", "turn")
        answer.print()
        return
    home = tempfile.mkdtemp(dir=run.folder)
    os.environ["HOME"] = home
    os.environ["XDG_DATA_HOME"] = home
    socket.socket.connect = refuse
    socket.socket.connect_ex = refuse
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    out = sys.stdout
    sys.stdout = open(os.devnull, "w", encoding="utf-8")

    from egregore.core.agent.message_scheduler import MessageScheduler
    from egregore.core.context_management import Context
    from egregore.core.context_management.history import context_snapshot
    from egregore.core.context_management.history.context_history import ContextHistory
    from egregore.providers.core.translation import GeneralPurposeTranslator

    class Nowhere:
        def add_snapshot(self, snapshot):
            return True

        def save_history(self, snapshots, group):
            return ""

        def list_snapshots(self, agent, limit=None):
            return []

        def get_snapshot_by_offset(self, agent, offset):
            return None

        def get_snapshot_by_cycle(self, agent, cycle):
            return None

    def fresh():
        context = Context()
        history = ContextHistory(folder="bench", agent_id="bench", enable_logging=False)
        history.loader = Nowhere()
        context._set_context_history(history)
        context.context_manager = types.SimpleNamespace(context_history=history)
        return context, history

    def turn(context, history, line):
        context.add_user(line["user"])
        context.add_assistant(line["assistant"])
        context.seal()
        history._pending_snapshots.join()

    context, history = fresh()
    for line in run.lines(3):
        turn(context, history, line)
    history.stop_processing()
    context, history = fresh()
    gc.collect()
    run.began()
    for line in run.lines():
        run.step(lambda: turn(context, history, line))
    run.ended()
    answer.fields["versions"] = {"egregore": version("egregore")}
    answer.fields["settings"] = "snapshots in memory, nothing stored"

    def texts(node, found):
        kind = node.get("nodeType") or node.get("type")
        content = node.get("content")
        if isinstance(content, str) and content:
            found.append(content)
        organ = node.get("org")
        if isinstance(organ, dict) and isinstance(organ.get("text"), str):
            found.append(organ["text"])
        for child in node.get("children") or []:
            texts(child, found)
        return found

    def snapshot(index):
        found = texts(history.snapshots[index].pact_tree, [])
        return len(found), sum(len(text) for text in found)

    run.kept("last", snapshot(-1))
    run.kept("middle", answer.measure("middle", lambda: snapshot(run.length // 2 - 1)))
    answer.measure("page", lambda: [(snapshot.id, snapshot.timestamp) for snapshot in history.snapshots[-10:]])
    answer.measure("history", lambda: [(snapshot.id, snapshot.timestamp) for snapshot in history.snapshots])
    answer.fields["page_entries"] = 10
    answer.fields["history_entries"] = len(history.snapshots)
    older, newer = history.snapshots[-2], history.snapshots[-1]
    answer.measure("diff", lambda: context_snapshot.diff_snapshots(older, newer))
    answer.fields["selected"] = len(answer.measure("select", lambda: context.select("{role='user'}")))
    scheduler = MessageScheduler(context)
    translator = GeneralPurposeTranslator("openai")
    render = lambda: len(json.dumps(translator._convert_messages(scheduler.render_readonly())))
    answer.fields["rendered"] = answer.measure("render", render, 5)
    answer.skip("in memory only (its own store does not survive the process)", "bytes", "open", "middle_cold")
    answer.print(out)
    # Its threads would keep the process.
    os._exit(0)


main()
