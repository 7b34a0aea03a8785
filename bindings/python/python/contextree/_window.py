"""What a budget leaves of a list of messages: the request of each model call as a snapshot, and a receipt of what was left out.

A window is a context. New messages are added to it before a call; a call that succeeds commits them under the budget. What was pruned stays
pruned, so the beginning of the request, which the provider has cached, only changes when something is pruned. A list that does
not continue the last one begins at the newest snapshot that is still a beginning of it, in another line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ._adapter import Records, expecting, record
from ._context import budget_document
from ._errors import ConflictError, ExistsError, usage
from ._plain import plain
from ._record import Field, Record, many, texts
from ._threads import Lock, tries

Budget = int | str | Mapping[str, Any]


class Message(NamedTuple):
    """A message as a window sees it."""

    raw: str
    """A text that differs if the message differs."""
    nodes: list[dict[str, Any]]
    opens: bool
    """Whether a request may begin with it."""
    is_pinned: bool = False


class PrunedMessage(Record):
    """A message that a call left out for the first time."""

    __slots__ = ()
    position = Field[int]()
    """Its position in the list of messages."""
    nodes = texts()
    tokens = Field[int]()
    rule = Field[str]()
    """The rule of the budget."""
    reason = Field[str]()


class Receipt(Record):
    """What was sent in a model call, and what was left out and why."""

    __slots__ = ()
    context = Field[str]()
    """The context that has the request as a snapshot."""
    snapshot = Field[str]()
    """The address of the snapshot, such as `@c12`."""
    sent = Field[int]()
    """How many messages were sent."""
    left_out = Field[int]()
    """How many messages were not sent, those pruned earlier included."""
    pruned = many(PrunedMessage)
    tokens_before = Field[int]()
    """Tokens of the request with everything that earlier calls had left."""
    tokens_after = Field[int]()
    """Tokens of the request."""
    tokenizer = Field[str]()
    kept = Field[bool]()
    """Whether all rules of the budget are kept; if not, everything left is protected."""


class Sent(NamedTuple):
    """A call that is about to be made."""

    positions: list[int]
    """The messages to send, by their position in the list."""
    receipt: Receipt
    head: int
    is_open: bool
    """Whether anything is to be committed."""


class Windows:
    """The windows of a store, by name."""

    def __init__(self, records: Records, kind: str, budget: Budget) -> None:
        """Makes windows under a budget; `kind` is that of their side records."""
        self.records = records
        self.kind = kind
        self.budget = _budget(budget)
        self._guard = Lock()
        self._windows: dict[str, Window] = {}

    def window(self, name: str) -> Window:
        """Returns the window of a conversation."""
        with self._guard:
            if len(self._windows) > 1_000:
                self._windows.clear()
            return self._windows.setdefault(name, Window(self, name))


class Window:
    """The window of one conversation."""

    def __init__(self, windows: Windows, name: str) -> None:
        """Use `Windows.window`."""
        self._windows = windows
        self._records = windows.records
        self._lock = Lock()
        self._name = name

    def begin(self, system: Sequence[dict[str, Any]], messages: Sequence[Message]) -> Sent:
        """Adds what is new and returns what the budget leaves. `system` are nodes of instructions and tools."""
        with self._lock:
            head, is_open = self._bring(system, messages)
            return self._preview(head, is_open, messages)

    def done(self, sent: Sent) -> None:
        """Seals what was sent."""
        if not sent.is_open:
            return
        with self._lock:
            try:
                self._commit({"if_head": sent.head}, sent.receipt.context)
            except ConflictError:
                # Another process sent the same messages and was faster.
                return

    def add(self, messages: Sequence[Message]) -> None:
        """Adds what is new, such as an answer: it opens the next request."""
        with self._lock:
            self._bring(None, messages)

    def _commit(self, change: dict[str, Any], name: str) -> Any:
        return self._records.run("commit", name, {"budget": self._windows.budget, "change": change})

    def _preview(self, head: int, is_open: bool, messages: Sequence[Message]) -> Sent:
        places, counts = self._places()
        fields: dict[str, Any] = {"context": self._name, "snapshot": f"@c{head + is_open}", "kept": True}
        gone: dict[int, dict[str, Any]] = {}
        if is_open:
            done = self._commit({"dry_run": True}, self._name)
            report = done["budget"]
            fields.update({name: report[name] for name in ("tokens_before", "tokens_after", "tokenizer", "kept")})
            for one in report["going"]:
                at = places.pop(one["node"], None)
                if at is not None:
                    told = gone.setdefault(at, {"position": at, "nodes": [], "tokens": 0, "rule": one["rule"], "reason": one["reason"]})
                    told["nodes"].append(one["node"])
                    told["tokens"] += one["tokens"]
        positions = sorted(set(places.values()) - set(gone))
        if len(places) != sum(counts.get(at, 0) for at in positions):
            raise usage(f"`{self._name}` has parts of messages only; was it changed by another program?", "context")
        begin = next((index for index, at in enumerate(positions) if messages[at].opens), 0)
        positions = positions[begin:]
        fields["sent"] = len(positions)
        fields["left_out"] = len(messages) - len(positions)
        fields["pruned"] = list(gone.values())
        return Sent(positions, Receipt(fields), head, is_open)

    def _places(self) -> tuple[dict[str, int], dict[int, int]]:
        """Returns the position of the message that each node belongs to, and how many nodes each message has."""
        places: dict[str, int] = {}
        counts: dict[int, int] = {}
        for node in self._records.nodes(self._name):
            if "data_pos" in node:
                at, counts[at] = node["data_pos"]
                places[node["id"]] = at
        return places, counts

    def _bring(self, system: Sequence[dict[str, Any]] | None, messages: Sequence[Message]) -> tuple[int, bool]:
        """Brings the working state up to date. Returns the newest snapshot and whether anything follows it."""
        digests = _digests(messages)
        for _ in tries(f"`{self._name}`"):
            head, step = self._read()
            try:
                if step.is_beginning(digests):
                    return self._add(head, step, system, messages, digests)
                self._rewind(head, digests)
            except (ConflictError, ExistsError):
                # Another process was faster: look again at what is stored.
                continue
        raise AssertionError("the last try raises")

    def _read(self) -> tuple[int, _Step]:
        """Returns the number of the newest snapshot and the newest step, of the line that is in use."""
        while True:
            found = self._records.one(self._name, self._windows.kind, "to")
            if found is None:
                break
            self._name = found.decode()
        if not self._records.exists(self._name):
            return 0, _Step(0, None)
        row = self._records.run("log", self._name, {"limit": 1})["entries"]
        head = row[0]["cycle"] if row else 0
        newest = next(self._records.newest_first(self._name, f"{self._windows.kind}-step", page=1), None)
        return head, _Step(0, None) if newest is None else _Step(int(newest[0]), newest[1])

    def _add(
        self,
        head: int,
        step: _Step,
        system: Sequence[dict[str, Any]] | None,
        messages: Sequence[Message],
        digests: list[str],
    ) -> tuple[int, bool]:
        listed, operations = self._system(head, step, system)
        for at, message in enumerate(messages[step.count :], step.count):
            operations.extend(_operations(at, message))
        if operations:
            value = _Step.write(len(messages), digests[-1] if digests else "", listed)
            key = f"{head + 1:010}"
            old = step.value if step.cycle == head + 1 else None
            self._records.put(self._name, [record(f"{self._windows.kind}-step", key, value, **expecting(old))], operations)
        return head, bool(operations) or step.cycle > head

    def _system(self, head: int, step: _Step, system: Sequence[dict[str, Any]] | None) -> tuple[list[list[str]], list[dict[str, Any]]]:
        """Returns the nodes of instructions and tools with their digests, and the operations that replace those that changed."""
        if system is None:
            return step.system, []
        wanted = [_digest(json.dumps(node, sort_keys=True)) for node in system]
        same = 0
        while same < len(wanted) and same < len(step.system) and step.system[same][1] == wanted[same]:
            same += 1
        operations: list[dict[str, Any]] = [{"op": "remove", "node": node} for node, _ in step.system[same:]]
        fresh: list[list[str]] = []
        for index, node in enumerate(system[same:], same):
            # An id is free again only after a commit, so it names the commit.
            own = f"system:{head + 1}.{index}.{wanted[index][:8]}"
            fresh.append([own, wanted[index]])
            operations.append({"op": "add", "parent": "^sys", "node": {**node, "id": own, "pinned": True}})
        return [*step.system[:same], *fresh], operations

    def _rewind(self, head: int, digests: list[str]) -> None:
        """Continues from the newest snapshot that is a beginning of the list."""
        kind = f"{self._windows.kind}-step"
        base = _Step(0, None)
        for key, value in self._records.newest_first(self._name, kind):
            older = _Step(int(key), value)
            if older.cycle <= head and older.is_beginning(digests):
                base = older
                break
        number = int(self._name.rpartition("#")[2]) if "#" in self._name else 1
        name = self._name.rpartition("#")[0] if number > 1 else self._name
        while self._records.exists(f"{name}#{number + 1}"):
            number += 1
        fresh = f"{name}#{number + 1}"
        # If retention dropped the snapshot, the messages are added again.
        if base.cycle and base.value is not None and self._records.fork(self._name, fresh, base.cycle):
            self._records.put(fresh, [record(kind, f"{base.cycle:010}", base.value, absent=True)])
        else:
            self._records.put(fresh)
        self._records.put(self._name, [record(self._windows.kind, "to", fresh.encode(), absent=True)])


class _Step:
    """What a line had when a call was made: how many messages, their digest, and the nodes of instructions and tools."""

    __slots__ = ("count", "cycle", "digest", "system", "value")

    def __init__(self, cycle: int, value: bytes | None) -> None:
        self.cycle = cycle
        self.value = value
        fields: dict[str, Any] = json.loads(value) if value else {"n": 0, "h": "", "sys": []}
        self.count: int = fields["n"]
        self.digest: str = fields["h"]
        self.system: list[list[str]] = fields["sys"]

    @staticmethod
    def write(count: int, digest: str, system: list[list[str]]) -> bytes:
        return json.dumps({"n": count, "h": digest, "sys": system}, separators=(",", ":")).encode()

    def is_beginning(self, digests: list[str]) -> bool:
        return self.count == 0 or (self.count <= len(digests) and digests[self.count - 1] == self.digest)


def tool_node(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """Returns the node of a tool's definition."""
    definition = {"name": name, "description": description, "parameters": parameters}
    return {"role": "system", "kind": "tool", "content": plain(definition, "tools"), "data_name": name}


def _operations(at: int, message: Message) -> list[dict[str, Any]]:
    """Returns the operations that add a message. Its nodes are pruned together or not at all."""
    nodes = message.nodes
    calls = [node["data_call_id"] for node in nodes if node.get("kind") == "call" and "data_call_id" in node]
    if len(nodes) > 1 and all(node.get("kind") == "call" for node in nodes):
        # Two calls are never one unit by an id of their own, because an id that is used again means another call.
        nodes = [{"role": "assistant", "kind": "text", "content": ""}, *nodes]
    operations: list[dict[str, Any]] = []
    for node in nodes:
        own: dict[str, Any] = {**node, "data_pos": [at, len(nodes)]}
        if len(nodes) > 1 and node.get("kind") != "call":
            own["data_call_ids"] = [*calls, f"message:{at}"]
        if message.is_pinned:
            own["pinned"] = True
        operations.append({"op": "add", "node": own})
    return operations


def _budget(budget: Budget) -> dict[str, str]:
    if isinstance(budget, bool) or (isinstance(budget, int) and budget <= 0):
        raise usage("a budget is a number of tokens above 0, TOML, or a dictionary", "budget")
    if isinstance(budget, int):
        # In large steps: every pruning changes the beginning of the request, which the provider has cached.
        budget = {"max_tokens": budget, "clear_at_least": budget // 4} if budget >= 4 else {"max_tokens": budget}
    document = budget_document(budget)
    if document is None:
        raise usage("a window needs a budget", "budget")
    return document


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _digests(messages: Sequence[Message]) -> list[str]:
    """Returns a digest of every beginning of the list."""
    found: list[str] = []
    last = ""
    for message in messages:
        last = _digest(last + message.raw)
        found.append(last)
    return found
