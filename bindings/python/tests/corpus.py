"""What the package answers to the cases of the corpus, kind by kind; `crates/conformance/corpus/README.md` describes the kinds."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contextree
from conftest import ROOT
from contextree import _native
from contextree._call import Caller
from contextree._context import Context, View

EDITIONS = {"E1": "0.1", "E2": "0.2", "E3": "0.3"}

_HANDLES = "a handle that keeps a node alive is an object of the Rust library"
_POLICY = "a single call takes a budget in tokens; a policy belongs to a commit or to the context"
_FLAT = "`import_log` reads flat logs like other logs, by its own rules: "

NOT_IN_PYTHON = {
    **dict.fromkeys(["CT-CASCADE-HELD", "LC-REF", "LC-REF-PRUNE", "LC-REF-CONTAINER", "CT-REF-RELEASE", "CT-UNICODE-IDS"], _HANDLES),
    "CT-LOOP-CLEARS-OLD-RESULTS": _POLICY,
    "CT-LOOP-PRUNES-INSIDE-A-TURN": _POLICY,
    "CT-FLAT-EMPTY": _FLAT + "a log without messages is refused",
    "CT-FLAT-JSON": _FLAT + "`null` is not content",
    "CT-FLAT-SYSTEM-LATER": _FLAT + "an unknown role is a user, who begins a turn",
}
"""The cases that no call of the package can express, and why."""

Case = dict[str, Any]
Got = dict[str, Any]


def cases() -> list[Case]:
    """Returns every case, with its fixture in place of its name."""
    found: list[Case] = []
    for file in sorted((ROOT / "crates/conformance/corpus").glob("*.json")):
        data = json.loads(file.read_text())
        if not isinstance(data, dict):
            continue
        for case in data.get("cases", []):
            if "fixture" in case:
                case["fixture"] = data["fixtures"][case["fixture"]]
            found.append(case)
    return found


class Place:
    """A store with one context."""

    def __init__(self, edition: str, url: str = "memory:") -> None:
        """Opens the store; the context does not exist yet."""
        self.url = url
        self.edition = edition
        self.open()

    def open(self) -> None:
        """Opens the store as another process would."""
        self.store = contextree.open(self.url, clock="logical")
        self.call = Caller(self.store._engine, "case", EDITIONS[self.edition])
        self.context = Context(self.call, "case")

    def new(self) -> Place:
        """Creates the context without content."""
        Caller(self.call.engine, None, self.call.edition).run("new", name="case")
        return self

    def read(self, document: Any, kind: str = "snapshot", **options: Any) -> Place:
        """Creates the context from a document."""
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.call.import_log({"from": kind, **options}, text)
        return self

    def before(self, document: Any, cycle: int) -> Place:
        """Creates the context with a working state whose next commit has this number."""
        return self.read({**document, "cycle": cycle - 1})

    def history(self, *documents: Any) -> Place:
        """Creates the context with these snapshots, oldest first."""
        lines = [json.dumps({**document, "cycle": number}) for number, document in enumerate(documents, 1)]
        return self.read("\n".join(lines).encode(), "history")

    def export(self, at: str) -> Any:
        """Returns a state as a document."""
        return json.loads(self.call.run("export", at=at)["document"])


EMPTY = {"root": {"id": "root"}}


def head_with(nodes: list[Any]) -> Any:
    """Returns a document with these nodes in its head."""
    return {"root": {"id": "root", "children": [{"id": "ah", "nodeType": "^ah", "children": nodes}]}}


def nodes_of(view: View) -> dict[str, Any]:
    """Returns the nodes of a state by id, and the regions by their type."""
    found = [node.to_dict() for node in view.nodes()]
    regions = {node["nodeType"]: node for node in found if node["nodeType"].startswith("^")}
    return {**regions, **{node["id"]: node for node in found}}


def children_of(view: View, parent: str) -> list[str]:
    """Returns the ids of the children of a node, in their order."""
    nodes = nodes_of(view)
    id = nodes[parent]["id"]
    return list(dict.fromkeys(node["id"] for node in nodes.values() if node["derived"]["parent"] == id))


def ids_of_thread(view: View) -> list[str]:
    """Returns the ids of the blocks of a state."""
    return [block["id"] for block in view.thread()]


# The selector language.


def select(case: Case, edition: str) -> Any:
    """Runs the query of a case on its fixture."""
    engine = _native.Engine.document("fixture", json.dumps(case["fixture"]).encode())
    options = case.get("options", {})
    request: dict[str, Any] = {"selector": case["query"], "range": {}}
    for name in ("where", "skip", "limit"):
        if name in options:
            request[name] = options[name]
    wanted = (
        ("includeContent", "content"),
        ("contentMode", "content_mode"),
        ("maxSnapshots", "max_snapshots"),
        ("maxChangesPerSnapshot", "max_changes"),
    )
    for name, own in wanted:
        if name in options:
            request["range"][own] = options[name]
    request["range"]["as_nodes"] = options.get("select_range_returns_diff") is False
    return engine.select(None, request, EDITIONS[edition])


def select_nodes(case: Case, edition: str) -> Got:
    """Answers `select` and `range`."""
    found = select(case, edition)
    return found[0] if isinstance(found, tuple) else {"ids": found.ids()}


def content_diff(case: Case, edition: str) -> Got:
    """Answers `content_diff`: the diff of the node that the case names."""
    blocks = select(case, edition)[0]["diffs"]
    changed = [node for block in blocks for node in block.get("changed", [])]
    named = [node for node in changed if node["id"] == case["expect"]["changed_id"]]
    return {"changed_id": named[0]["id"], "content_diff": named[0].get("content_diff")}


def parse(case: Case, edition: str) -> Got:
    """Answers `parse`. Selectors of the cases name snapshots up to the 42nd."""
    place = Place(edition).history(*[EMPTY] * 42)
    explained = place.call.run("explain", selector=case["query"])["explanation"]
    return {"result": "range" if explained.get("comparison") else "ids"}


# Nodes and trees.


def content_hash(case: Case, edition: str) -> Got:
    """Answers `content_hash`. Content that is not JSON is given as a text."""
    text = json.dumps(case["node"]) if "node" in case else case.get("text", '{"content":NaN}')
    call = Caller(contextree.open("memory:")._engine, None, EDITIONS[edition])
    hash = call.run("hash", nodes={"name": "node", "text": text})["nodes"][0]["content_hash"]
    # The package returns the hash only; the text that was hashed is the one with this hash.
    hashed = case["expect"].get("hashed_json", "")
    return {"content_hash": hash, "hashed_json": hashed if hashlib.sha256(hashed.encode()).hexdigest() == hash else None}


def serialize_snapshot(case: Case, edition: str) -> Got:
    """Answers `serialize_snapshot`."""
    call = Caller(contextree.open("memory:")._engine, None, EDITIONS[edition])
    text = call.run("canon", node={"name": "tree", "text": json.dumps(case["tree"])})["text"]
    return {"bytes_ascii": text, "length": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def order(case: Case, edition: str) -> Got:
    """Answers `order`: the order of the tree does not depend on the order of the document."""
    found = [children_of(Place(edition).read(head_with(nodes)).context, "^ah") for nodes in (case["siblings"], case["siblings"][::-1])]
    assert found[0] == found[1]
    return {"ids": found[0]}


def prune_order(case: Case, edition: str) -> Got:
    """Answers `prune_order`: the order in which a commit prunes all of them."""
    place = Place(edition).before(head_with(case["nodes"]), 2)
    policy = {"limits": [{"limit": "remove", "count": len(case["nodes"])}], "protect_turns": 0}
    return {"ids": [node["id"] for node in place.context.commit(policy=policy).report.pruned]}


def thread(case: Case, edition: str) -> Got:
    """Answers `thread`."""
    place = Place(edition).read(case["tree"])
    compact = place.call.run("thread", at="@t0")["thread"]
    thread = place.context.at("@t0").thread()
    sha256 = hashlib.sha256(compact.encode()).hexdigest()
    return {"thread": thread, "compact": compact, "sha256": sha256, "ids": [block["id"] for block in thread]}


def diff(case: Case, edition: str) -> Got:
    """Answers `diff`; the direction does not depend on the order of the states."""
    context = Place(edition).history(case["older"], case["newer"]).context
    found = [context.at(older).diff(newer, select=case.get("selector")) for older, newer in (("@t-1", "@t0"), ("@t0", "@t-1"))]
    assert found[0].diff.to_dict() == found[1].diff.to_dict()
    return found[0].diff.to_dict()


def read_document(case: Case, edition: str) -> Got:
    """Answers `import`: the export is accepted again and has the same digest."""
    strict = case.get("profile") == "strict"
    place = Place(edition).read(case["document"], strict=strict)
    exported = place.export("@t0")
    again = Place(edition).read(exported, strict=strict)
    assert place.context.log()[0].digest == again.context.log()[0].digest
    return {"ids": [node.id for node in place.context.at("@t0").nodes()], "export": exported}


# Changes and commits.


def insert(case: Case, edition: str) -> Got:
    """Answers `insert`: by a position in the selector language and by a cue, which must agree."""

    def place() -> tuple[Place, str]:
        before = Place(edition).new()
        for id in case.get("before", []):
            before.context.add(id, id=id)
        if not case.get("before"):
            before = Place(edition).before(EMPTY, 1)
        head = children_of(before.context, "^ah")
        core = next(id for id in head if nodes_of(before.context)[id]["derived"]["class"] != "block")
        if case.get("sealed_core"):
            before.context.commit()
        return before, core

    def added(**where: Any) -> tuple[Place, str, str | None, str | None]:
        at, core = place()
        untouched = at.export("@")
        try:
            if "cue" in where:
                where["into"] = core
            return at, core, at.context.add("new", **where), None
        except contextree.ContextreeError as error:
            assert at.export("@") == untouched, "the refused insertion changed the tree"
            return at, core, None, error.code

    written = case["call"].split('"')[3] if "call" in case else "block"
    by_position = added(at=case["position"], spec=written)
    by_cue = added(cue=case.get("cue", ""))
    assert by_position[3] == by_cue[3]
    if by_position[3] is not None:
        return {"error": by_position[3]}
    orders = []
    for at, core, id, _ in (by_position, by_cue):
        orders.append([case["new"] if child == id else child for child in children_of(at.context, core)])
    assert orders[0] == orders[1]
    node = nodes_of(by_position[0].context)[str(by_position[2])]
    return {"order": orders[0], "node": {name: header(node, name) for name in case["expect"].get("node", {})}}


def header(node: Any, name: str) -> Any:
    """Returns a header of a node by the name that expectations use."""
    if name.startswith("derived."):
        return node["derived"].get(name.removeprefix("derived."))
    return node["derived"]["parent"] if name == "parent" else node.get(name)


def headers(view: View, wanted: Any) -> Any:
    """Returns the headers that an expectation names, by node."""
    nodes = nodes_of(view)
    found: dict[str, Any] = {}
    for id, names in wanted.items():
        own = {name: children_of(view, id) if name == "children" else header(nodes[id], name) for name in names} if id in nodes else None
        found[id] = own
    return found


def report_of(report: Any) -> Got:
    """Returns the report of a commit under the names that expectations use."""
    found = report.to_dict()
    for name in ("deferred", "cleared", "pruned"):
        found[name] = [one["id"] for one in found.get(name, [])]
    return found


def lifetime(place: Place, id: str, commits: int) -> Got:
    """Follows a node over commits."""
    trace = []
    for _ in range(commits):
        cycle = place.context.commit().report.cycle
        node = nodes_of(place.context.at("@t0")).get(id)
        trace.append({"cycle": cycle, "present": node is not None, "ttl": node["ttl"] if node else None})
    absent = [row["cycle"] for row in trace if not row["present"]]
    present = [row["cycle"] for row in trace if row["present"]]
    return {"removed_at_commit": absent[0] if absent else None, "present_in_snapshots": present, "trace": trace}


def ttl(case: Case, edition: str) -> Got:
    """Answers `ttl`."""
    place = Place(edition).before(EMPTY, case["created_cycle"])
    place.context.add("x", id="x", ttl=case["ttl"])
    return lifetime(place, "x", len(case["expect"].get("trace", [0] * 4)))


def rag_insert(case: Case, edition: str) -> Got:
    """Answers `rag_insert`."""
    inserted = case["expect"]["inserted_in_cycle"]
    place = Place(edition).before(EMPTY, inserted)
    node = dict(case["node"])
    offset = node.pop("offset")
    place.context.apply([{"op": "add", "parent": "^ah", "offset": offset, "node": node}])
    got = lifetime(place, node["id"], 4)
    stored = nodes_of(place.context.at(f"@c{inserted}"))
    own = stored[node["id"]]
    assert stored[own["derived"]["parent"]]["derived"]["class"] == "turn"
    return {**got, "inserted_in_cycle": inserted, "offset": own["offset"]}


def commit(case: Case, edition: str) -> Got:
    """Answers `commit`."""
    expect, args = case["expect"], case.get("args", {})
    place = Place(edition).before(case["working"], case["cycle"])
    head = nodes_of(place.context)["^ah"]["id"]
    policy = args.get("policy")
    if "prune" in args:
        policy = {"protect_turns": args["prune"].get("protect", 0), "limits": [{"limit": "remove", "count": args["prune"]["remove"]}]}
    report = place.context.commit(policy=policy).report
    snapshot = place.context.at("@t0")
    nodes = nodes_of(snapshot)
    now = [nodes_of(view)["^ah"]["id"] for view in (snapshot, place.context)]
    # The vectors name the core of an empty head in their own way.
    own = {report.core: f"mc:c{case['cycle']}"}
    return {
        **report_of(report),
        "present_includes": [id for id in expect.get("present_includes", []) if id in nodes],
        "absent": [id for id in expect.get("absent", []) if id not in nodes],
        "thread_ids": ids_of_thread(snapshot),
        "new_turn_children": [own.get(id, id) for id in children_of(snapshot, report.sealed)],
        "ah_is_fresh": now == [head] * 2 and not children_of(snapshot, "^ah") and not children_of(place.context, "^ah"),
        "headers": headers(snapshot, expect.get("headers", {})),
    }


def seal_neutral(case: Case, edition: str) -> Got:
    """Answers `seal_neutral`."""
    place = Place(edition).before(case["working"], case["cycle"])
    before = place.context.thread()
    place.context.commit()
    return {"thread_before": before, "thread_after_equal": place.context.at("@t0").thread() == before}


class Session:
    """A context to which steps are applied."""

    def __init__(self, case: Case, edition: str, folder: str) -> None:
        """Begins with an empty context, or with a document."""
        self.place = Place(edition, f"{folder}/case.db")
        if "document" in case:
            self.place.read(case["document"], strict=case.get("profile") == "strict")
        else:
            self.place.new()

    def step(self, step: Any) -> Got:
        """Carries out a step; what is refused must change nothing."""
        before = self.place.export("@")
        try:
            return self.carry_out({name: value for name, value in step.items() if name != "expect"})
        except contextree.ContextreeError as error:
            assert self.place.export("@") == before, "the refused operation changed the tree"
            return {"error": error.code, "reason": error.details.get("reason", ""), "place": error.details.get("place", "")}

    def carry_out(self, step: Any) -> Got:
        """Carries out a step."""
        place, call = self.place, self.place.call
        match step["op"]:
            case "commit":
                return report_of(place.context.commit(policy=step.get("policy")).report)
            case "reopen":
                place.store.close()
                place.open()
                return {}
            case "begin":
                begun = call.run("request", provider=step["provider"], settings={"model": step["model"]})
                return {"request": json.loads(begun["request"]), **report_of(contextree.Report(begun["report"]))}
            case "complete":
                response = step["response"]
                text = response if isinstance(response, str) else json.dumps(response)
                running = [attempt.attempt_id for attempt in place.context.attempts() if attempt.status == "running"]
                sent = call.run("running")["request"] if running else None
                call.run("answer", id=self.newest(), response={"name": "response", "text": text})
                return {"exact": place.context.at("@t0").sent().request == sent}
            case "attach":
                call.run("attach", id=self.newest(), partial={"name": "partial", "text": step["partial"]})
                return {}
            case "cancel" | "fail":
                why = step.get("why", "") if step["op"] == "fail" else None
                call.run("cancel", id=self.newest(), error=why)
                return {}
            case op:
                done = place.context.apply(step["steps"] if op == "batch" else [step])[0].to_dict()
                renamed = [[one["from"], one["to"]] for one in done.get("renamed", [])]
                return {"id": done["node"], "core": None, "removed": [], **done, "renamed": renamed}

    def newest(self) -> str | None:
        """Returns the newest call."""
        attempts = self.place.context.attempts()
        return attempts[-1].attempt_id if attempts else None

    def attempts(self) -> list[Got]:
        """Returns the calls as expectations describe them."""
        found = []
        for attempt in self.place.context.attempts():
            is_running = attempt.status == "running"
            request = json.loads(self.place.call.run("running")["request"]) if is_running else None
            found.append({"status": attempt.status, "partial": attempt.partial, "request": request})
        return found


def session(case: Case, edition: str) -> Got:
    """Answers `session`."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(case, edition, folder)
        for number, step in enumerate(case["steps"], 1):
            got = session.step(step)
            wanted = step.get("expect", {})
            assert "error" not in got or "error" in wanted, f"step {number}: {got}"
            for key, value in wanted.items():
                assert got.get(key) == value, f"step {number}: {key}: {got}"
        context, expect = session.place.context, case["expect"]
        nodes = nodes_of(context)
        cycles = [entry.cycle for entry in reversed(context.log())]
        # `apply` gives texts their usual kind, which the operations of the library do not.
        without_kind = {step["node"]["id"] for step in case["steps"] if step["op"] == "add" and "kind" not in step["node"]}
        thread = [
            {name: value for name, value in block.items() if (name, value) != ("kind", "text") or block["id"] not in without_kind}
            for block in context.thread()
        ]
        got = {
            "thread": thread,
            "thread_ids": ids_of_thread(context),
            "headers": headers(context, expect.get("headers", {})),
            "children": {id: children_of(context, id) for id in expect.get("children", {})},
            "absent": [id for id in expect.get("absent", []) if id not in nodes],
            "snapshots": cycles,
            "attempts": session.attempts(),
        }
        if "diff" in expect:
            older, newer = expect["diff"]["from"], expect["diff"]["to"]
            got["diff"] = {"from": older, "to": newer, **context.at(older).diff(newer).diff.to_dict()}
        if "strict" in expect:
            for cycle in cycles:
                Place(edition).read(session.place.export(f"@c{cycle}"), strict=True)
            got["strict"] = True
        session.place.store.close()
        return got


# Logs of other programs.


def flat_log(case: Case, edition: str) -> Got:
    """Answers `flat_log`."""
    place = Place(edition).read(case["input"], "flat", open=True)
    return {"tree_before_commit": place.export("@")}


def flat_log_commit(case: Case, edition: str) -> Got:
    """Answers `flat_log_commit`."""
    place = Place(edition).read(case["input"], "flat")
    snapshot = place.context.at("@t0")
    regions = place.export("@t0")["root"]["children"]
    thread = snapshot.thread()
    return {
        "seq_shape": next(region["children"] for region in regions if region["nodeType"] == "^seq"),
        "ah_children": children_of(snapshot, "^ah"),
        "thread_roles": [block.get("role") for block in thread],
        "thread": thread,
    }


def log_of(lines: list[Any]) -> bytes:
    """Returns a log: a text is a line as it is, anything else is written as JSON."""
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()


def said(view: View) -> list[str]:
    """Returns the messages of a state in short form."""
    try:
        request = json.loads(view.render("openai-chat").request)
    except contextree.ContextreeError as error:
        assert error.code == "E_REQUEST_EMPTY", error
        return []
    return [short(message) for message in request["messages"]]


def short(message: Any) -> str:
    """Returns a message in short form: `user: Hi`, `assistant: [t1 f {}]`, `tool t1: noon`."""
    line: str = message["role"]
    if "tool_call_id" in message:
        line += f" {message['tool_call_id']}"
    elif message["role"] == "function":
        line += f" {message.get('name', '')}"
    line += ":"
    content = message.get("content")
    if isinstance(content, str):
        line += f" {content}"
    for part in content if isinstance(content, list) else []:
        line += f" {part.get('text', '')}"
    for call in message.get("tool_calls", []):
        line += f" [{call['id']} {call['function']['name']} {call['function']['arguments']}]"
    # The deprecated form has no id.
    if function := message.get("function_call"):
        line += f" [{function['name']} {function['arguments']}]"
    return line


def import_log(case: Case, edition: str) -> Got:
    """Answers `import_log`."""
    lines, expect = case["lines"], case["expect"]
    place = Place(edition)
    request = {"from": "auto", **case.get("options", {})}
    try:
        report = place.call.import_log(request, log_of(lines))["import"]
    except contextree.ContextreeError as error:
        detected = re.search(r"detected as `([^`]+)`", str(error))
        return {"error": error.code, "detected": detected and detected[1]}
    context = place.context
    calls = [attempt for attempt in context.attempts() if attempt.status == "completed"]
    sent = [context.at(f"@c{call.cycle_id}") for call in calls]
    got = {
        "format": report["format"],
        "calls": report["calls"],
        "commits": report["commits"],
        "findings": report["findings"],
        "skipped": report["left_out"],
        "requests": [said(view) for view in sent],
        "snapshots": [said(context.at(entry.address)) for entry in reversed(context.log())],
        "said": said(context),
        "started_at": [call.started_at for call in calls],
    }
    if "exact" in expect:
        got["exact"] = [json.loads(view.sent().request) for view in sent]
    if "texts" in expect:
        got["texts"] = [view.sent().request for view in sent]
    if "tokens" in expect:
        request = {"from": "@", "format": "anthropic", "tokenizer": "o200k_base"}
        got["tokens"] = place.call.run("cache", request)["calls"][-1]["tokens"]
    if "lint" in expect:
        # A list of messages without a request around it does not tell its provider.
        format = "openai-chat" if isinstance(lines[0], list) else None
        document = {"name": "log", "text": log_of(lines).decode()}
        found = Caller(place.call.engine, None).run("lint", document=document, format=format)["findings"]
        got["lint"] = [finding["code"] for finding in found]
    if "conversations" in expect:
        got["conversations"] = conversations(lines)
    if "digest" in expect:
        again = Place(edition)
        again.call.import_log(request, log_of(lines))
        digests = {it.call.run("status")["head"]["history_digest"] for it in (place, again)}
        got["digest"] = digests.pop() if len(digests) == 1 else sorted(digests)
    if "select" in expect:
        got["select"] = {selector: [node.content for node in context.select(selector)] for selector in expect["select"]}
    if "rendered" in expect:
        got["rendered"] = {name: messages_of(json.loads(context.render(name).request)) for name in expect["rendered"]}
    if "cache" in expect:
        got["cache"] = [
            {
                "tokens": call["tokens"],
                "predicted": call["cached"],
                "billed": call.get("billed", {}).get("cached"),
                "miss": call.get("miss", {}).get("reason"),
            }
            for call in place.call.run("cache")["calls"]
        ]
    if "serves" in expect:
        entries = place.call.run("log", reverse=True)["entries"]
        got["serves"] = [entry["call"]["question"] for entry in entries if entry.get("call")]
    return got


def messages_of(request: Any) -> Any:
    """Returns the messages of a request, whatever its provider calls them."""
    return next(request[name] for name in ("messages", "input", "contents") if name in request)


def conversations(lines: list[Any]) -> list[list[str]]:
    """Returns what `ctx import --split` makes of a file; the program is a part of the package."""
    from test_api import run_ctx

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "log.jsonl")
        file.write_bytes(log_of(lines))
        done = run_ctx("--store", f"sqlite:{folder}/split.db", "import", str(file), "--split")
        assert done.returncode == 0, done.stderr
        with contextree.open(f"{folder}/split.db") as store:
            return [said(context) for context in store]


def import_grown(case: Case, edition: str) -> Got:
    """Answers `import_grown`: the log as it is at each import into the same context."""

    def state(place: Place) -> Any:
        try:
            attempts = [attempt.to_dict() for attempt in place.context.attempts()]
            digests = [entry.history_digest for entry in place.context.log()]
            return attempts, digests, place.export("@")
        except contextree.NotFoundError:
            return None

    grown, last, imports = Place(edition), None, []
    for lines in case["logs"]:
        before = state(grown)
        try:
            done = grown.call.import_log({}, log_of(lines))
            imports.append({"calls": (done.get("import") or {"calls": 0})["calls"], "updated": done["updated"]})
            last = lines
        except contextree.ContextreeError as error:
            assert state(grown) == before, "the context changed"
            imports.append({"error": error.code})
    at_once = Place(edition)
    if last is not None:
        at_once.call.import_log({}, log_of(last))
    same = last is not None and state(at_once) == state(grown)
    return {"imports": imports, "as_at_once": same, "said": said(grown.context)}


ANSWERS: dict[str, Callable[[Case, str], Got]] = {
    "commit": commit,
    "content_diff": content_diff,
    "content_hash": content_hash,
    "diff": diff,
    "flat_log": flat_log,
    "flat_log_commit": flat_log_commit,
    "import": read_document,
    "import_grown": import_grown,
    "import_log": import_log,
    "insert": insert,
    "order": order,
    "parse": parse,
    "prune_order": prune_order,
    "rag_insert": rag_insert,
    "range": select_nodes,
    "seal_neutral": seal_neutral,
    "select": select_nodes,
    "serialize_snapshot": serialize_snapshot,
    "session": session,
    "thread": thread,
    "ttl": ttl,
}


def answer(case: Case, edition: str) -> Got:
    """Returns what the package answers to a case."""
    try:
        return ANSWERS[case["kind"]](case, edition)
    except contextree.ContextreeError as error:
        return {"error": error.code, "reason": error.details.get("reason")}


# Comparing with what is expected, as `crates/conformance/src/agree.rs` does.

REMARKS = {("select", "golden_text"), ("flat_log", "compare"), ("content_hash", "log"), ("rag_insert", "placement")}


def differing(case: Case, got: Got) -> dict[str, tuple[Any, Any]]:
    """Returns what the answer to a case does not agree with: wanted and got."""
    kind = case["kind"]
    return {key: (wanted, got.get(key)) for key, wanted in case["expect"].items() if not agrees(kind, key, wanted, got)}


def agrees(kind: str, key: str, wanted: Any, got: Got) -> bool:
    """Returns whether an answer agrees with one key of the expectation."""
    if (kind, key) in REMARKS:
        return True
    found = got.get(key)
    if (kind, key) == ("content_diff", "content_diff"):
        if wanted is None or found is None:
            return wanted is found
        return all(value in found if name == "has" else found.get(name) == value for name, value in wanted.items())
    if key not in got:
        return False
    if kind == "range" or (kind, key) == ("import", "export"):
        return contains(found, wanted)
    if kind.startswith("flat_log") and key in ("tree_before_commit", "seq_shape", "thread"):
        return has_shape(found, wanted)
    return bool(found == wanted)


def contains(found: Any, wanted: Any) -> bool:
    """Returns whether an answer contains what is expected: objects may have more keys, lists must be as long."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(name in found and contains(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(contains, found, wanted))
    return bool(found == wanted)


def has_shape(found: Any, wanted: Any) -> bool:
    """Like `contains`, for trees: ids are illustrative, and empty regions may be left out."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name == "id" or has_shape(_shown(found.get(name), value) if name == "children" else found.get(name), value)
            for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(has_shape, found, wanted))
    return bool(found == wanted)


def _shown(children: Any, wanted: Any) -> Any:
    types = [child.get("nodeType") for child in wanted]

    def is_left_out(child: Any) -> bool:
        kind = child.get("nodeType", "")
        return kind.startswith("^") and not child.get("children") and kind not in types

    return [child for child in children or [] if not is_left_out(child)]
