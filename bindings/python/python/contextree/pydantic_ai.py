"""Conversations of Pydantic AI in a Contextree store, and requests within a budget.

    from contextree.pydantic_ai import ContextreeConversationStore

    store = ContextreeConversationStore("agent.db")
    conversation = await store.load("user-42") or Conversation(conversation_id="user-42")
    await store.save(await agent.run("Hello", conversation=conversation))

A conversation is a context: every part of a message is a node.
"""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.conversation_store import ConversationConflict, ConversationEntry, ConversationRecord, ConversationStore
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import RunContext

from ._adapter import Records, Target, expecting, name_of, record, store_of
from ._errors import ConflictError, ContextreeError, ExistsError, unserializable
from ._pydantic import RAW, to_messages, to_nodes
from ._threads import Lock, finish
from ._window import Budget, Message, Receipt, Sent, Windows, tool_node

__all__ = ["ContextreeBudget", "ContextreeConversationStore", "Receipt"]

_KIND = "pydantic-ai.record"
_RECORD: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


class ContextreeConversationStore(ConversationStore):
    """Keeps conversations; every save is one turn.

    A history that branches, and a fork of a conversation, go on in another context that shares the past. Several processes may use one
    store: of two saves of one conversation the second gets a `ConversationConflict`. Deleting a conversation deletes its entries, except
    those that a fork shares.
    """

    def __init__(self, store: Target, *, prefix: str = "pydantic-ai/") -> None:
        """Uses a store: a path, a URL, or one that is open."""
        self.store = store_of(store)
        self.prefix = prefix
        self._records = Records(self.store)
        self._lock = Lock()
        self._lines: dict[str, _Line] = {}
        # The context in which an entry was last seen.
        self._places: dict[str, str] = {}

    def context(self, conversation_id: str) -> str:
        """Returns the name of the context that a conversation is at."""
        with self._lock:
            return self._state(conversation_id).line

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Returns what is stored of a conversation besides its messages."""

        def read() -> ConversationRecord | None:
            with self._lock:
                return self._state(conversation_id).record()

        return await finish(read)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        """Returns the records of a scope, or all of them; the conversation that was saved last is the first."""

        def read() -> list[ConversationRecord]:
            names = [name for name in self._records.names(self.prefix) if "#" not in name]
            states = [_State(name, self._records.one(name, _KIND, "")) for name in names]
            found = [one for state in states if (one := state.record()) is not None and scope in (None, one.scope)]
            return sorted(found, key=lambda one: one.updated_at, reverse=True)[:limit]

        return await finish(read)

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Stores a record with its new entries.

        Raises `SerializationError` if the framework cannot serialize one of them; nothing is stored then.
        """
        for entry, before in zip(new_entries[1:], new_entries, strict=False):
            if entry.parent_id != before.id:
                raise UserError("`new_entries` must be one history, each entry after the one that it points at.")
        if new_entries and new_entries[-1].id != record.head_id:
            raise UserError("`new_entries` must end with the newest entry of the record.")

        def write() -> None:
            with self._lock:
                try:
                    self._write(record, new_entries, expected_revision)
                except (ConflictError, ExistsError) as error:
                    # Another process was faster.
                    self._lines.clear()
                    raise ConversationConflict(record.conversation_id) from error

        await finish(write)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Deletes a conversation and its entries. Those that another conversation shares stay."""

        def delete() -> None:
            with self._lock:
                state = self._state(conversation_id)
                if state.value is None or state.revision != expected_revision:
                    raise ConversationConflict(conversation_id)
                try:
                    self._records.put(state.name, [record(_KIND, "", **expecting(state.value))])
                except ConflictError as error:
                    raise ConversationConflict(conversation_id) from error
                # It is deleted now. What a crash leaves is never read again.
                for name in [*self._records.names(state.name + "#"), state.name]:
                    self._records.delete(name)
                    self._lines.pop(name, None)

        await finish(delete)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Returns an entry; `KeyError` if there is none."""
        history = await finish(lambda: self._history(entry_id, 1))
        return history[-1]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Returns the entries up to `head_id`, or the last `limit` of them, oldest first."""
        if head_id is None:
            return []
        return await finish(lambda: self._history(head_id, limit))

    def _state(self, conversation_id: str) -> _State:
        name = self.prefix + name_of(conversation_id)
        state = _State(name, self._records.one(name, _KIND, ""))
        if state.head is not None:
            self._places[state.head] = state.line
        return state

    def _history(self, head_id: str, limit: int | None) -> list[ConversationEntry]:
        with self._lock:
            name = self._find(head_id)
            if name is None:
                raise KeyError(head_id)
            return self._line(name).history(head_id, limit)

    def _line(self, name: str) -> _Line:
        line = self._lines.get(name)
        if line is None or not line.is_fresh(self._records):
            if len(self._lines) > 64:
                self._lines.clear()
            line = self._lines[name] = _Line(name, self._records)
        return line

    def _find(self, entry_id: str, first: str | None = None) -> str | None:
        """Returns a context that has an entry: `first` if it has it, else one that is known, else any."""
        for name in (first, self._places.get(entry_id)):
            if name is not None and entry_id in self._line(name).index:
                return name
        for name in self._records.names(self.prefix):
            try:
                self._records.run("node", name, {"id": entry_id, "at": "@"})
            except ContextreeError as error:
                if error.code in ("E_NODE_NOT_FOUND", "E_CONTEXT_NOT_FOUND"):
                    continue
                raise
            if len(self._places) > 10_000:
                self._places.clear()
            self._places[entry_id] = name
            return name
        return None

    def _write(self, wanted: ConversationRecord, entries: Sequence[ConversationEntry], expected: str | None) -> None:
        state = self._state(wanted.conversation_id)
        if state.revision != expected:
            raise ConversationConflict(wanted.conversation_id)
        # The entry that the new ones follow, and the line and the position where it is.
        parent = entries[0].parent_id if entries else wanted.head_id
        name = self._find(parent, state.line) if parent is not None else None
        if parent is not None and name is None:
            raise ConversationConflict(wanted.conversation_id)
        count = self._line(name).index[parent] + 1 if name is not None and parent is not None else 0
        is_own = name is not None and (name == state.name or name.startswith(state.name + "#"))
        if name is None and state.value is None and not self._records.exists(state.name):
            target = state.name
        elif is_own and name is not None and (not entries or count == len(self._line(name).ids)):
            target = name
        else:
            target = self._fork(state, name, count)
        new = state.with_record(wanted, target)
        change = record(_KIND, "", new, **expecting(state.value))
        operations = [operation for entry in entries for operation in _operations(entry)]
        if target == state.name:
            self._put(target, [change], operations)
        else:
            # Nothing refers to the entries before the record is stored.
            if operations:
                self._put(target, [], operations)
            self._records.put(state.name, [change])
        if entries:
            self._places[entries[-1].id] = target

    def _put(self, name: str, changes: list[dict[str, Any]], operations: list[dict[str, Any]]) -> None:
        request: dict[str, Any] = {"create": True, "records": changes, "operations": operations, "commit": bool(operations)}
        line = self._lines.pop(name, None)
        if operations and line is not None:
            # What another process appended meanwhile is not part of this history.
            request["if_revision"] = line.revision
        self._records.run("put", name, request)

    def _fork(self, state: _State, name: str | None, count: int) -> str:
        """Returns a new context with the first entries of a line: a fork at the newest snapshot that is a beginning of them."""
        line = self._line(name) if name is not None else None
        snapshot = 0 if line is None else line.snapshot(count)
        number = 1 if state.value is None else 2
        while True:
            target = state.name if number == 1 else f"{state.name}#{number}"
            number += 1
            if self._records.exists(target):
                continue
            if line is not None and snapshot and not self._records.fork(line.name, target, snapshot):
                # Retention dropped it: the entries are copied.
                snapshot = 0
            break
        if line is not None:
            shared = sum(cycle <= snapshot for cycle in line.cycles[:count])
            rest = [operation for entry in line.entries(shared, count) for operation in _operations(entry)]
            if rest:
                self._records.put(target, [], rest, commit=True)
        if self._records.exists(target):
            self._lines[target] = _Line(target, self._records)
        return target


class _State:
    """What is stored of a conversation: its record, and the context that it is at."""

    __slots__ = ("_fields", "head", "line", "name", "revision", "value")

    def __init__(self, name: str, value: bytes | None) -> None:
        self.name = name
        self.value = value
        self._fields = json.loads(value) if value else {}
        stored = self._fields.get("record", {})
        self.line: str = name + self._fields.get("line", "")
        self.head: str | None = stored.get("head_id")
        self.revision: str | None = stored.get("revision")

    def record(self) -> ConversationRecord | None:
        return _RECORD.validate_python(self._fields["record"]) if self._fields else None

    def with_record(self, wanted: ConversationRecord, line: str) -> bytes:
        try:
            stored = _RECORD.dump_python(wanted, mode="json")
        except Exception as error:
            raise unserializable("the record of the conversation", error) from error
        fields = {"line": line[len(self.name) :], "record": stored}
        return json.dumps(fields, separators=(",", ":")).encode()


class _Line:
    """The entries of one context, oldest first: one history from its first message on."""

    __slots__ = ("_nodes", "cycles", "ids", "index", "name", "revision")

    def __init__(self, name: str, records: Records) -> None:
        self.name = name
        self.revision, _ = records.revision_and(name, _KIND, "")
        self._nodes: list[list[dict[str, Any]]] = []
        for node in records.nodes(name) if self.revision else []:
            if RAW in node:
                self._nodes.append([node])
            elif self._nodes:
                self._nodes[-1].append(node)
        self.ids: list[str] = [nodes[0]["id"] for nodes in self._nodes]
        self.cycles: list[int] = [nodes[0]["cycle"] for nodes in self._nodes]
        self.index = {entry: at for at, entry in enumerate(self.ids)}

    def is_fresh(self, records: Records) -> bool:
        return records.revision_and(self.name, _KIND, "")[0] == self.revision

    def snapshot(self, count: int) -> int:
        """Returns the number of the newest snapshot with nothing but the first entries; 0 if there is none."""
        if count == 0:
            return 0
        newest = self.cycles[count - 1]
        return newest if count == len(self.cycles) or self.cycles[count] > newest else newest - 1

    def entries(self, begin: int, end: int) -> list[ConversationEntry]:
        found = []
        for at in range(begin, end):
            ((_, message),) = to_messages(self._nodes[at])
            found.append(ConversationEntry(id=self.ids[at], parent_id=self.ids[at - 1] if at else None, message=message))
        return found

    def history(self, head_id: str, limit: int | None) -> list[ConversationEntry]:
        end = self.index[head_id] + 1
        return self.entries(0 if limit is None else max(end - limit, 0), end)


def _operations(entry: ConversationEntry) -> list[dict[str, Any]]:
    first, *rest = to_nodes(entry.message)
    return [{"op": "add", "node": node} for node in [{"id": entry.id, **first}, *rest]]


class ContextreeBudget(AbstractCapability[Any]):
    """Sends what a budget leaves of the conversation. What the run keeps and the store saves is not changed.

        agent = Agent(model, capabilities=[ContextreeBudget("agent.db", budget=100_000)])

    Tool calls and their results are left out together. Pruning takes large steps, so that the beginning of the request, which the provider
    has cached, seldom changes. Every request is a snapshot of the context `pydantic-ai-requests/` + the id of the conversation.
    """

    def __init__(
        self,
        store: Target,
        *,
        budget: Budget,
        on_receipt: Callable[[Receipt], None] | None = None,
        prefix: str = "pydantic-ai-requests/",
    ) -> None:
        """Uses a store, and a budget: a number of tokens, TOML, or a dictionary. `on_receipt` is called after every request."""
        self.store = store_of(store)
        self.prefix = prefix
        self.receipts: list[Receipt] = []
        """What each request of the last run left out."""
        self._on_receipt = on_receipt
        self._windows = Windows(Records(self.store), "pydantic-ai.window", budget)
        self._sent: Sent | None = None

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Returns `None`: it cannot be part of an agent's specification."""
        return None

    async def for_run(self, ctx: RunContext[Any]) -> ContextreeBudget:
        """Returns a copy for one run. Its receipts are those of this object, too."""
        own = copy.copy(self)
        self.receipts = own.receipts = []
        own._sent = None
        return own

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Leaves out what the budget prunes."""
        messages = request_context.messages
        if not messages:
            return request_context
        window = self._windows.window(self.prefix + name_of(ctx.conversation_id or "-"))
        system = _system(request_context)
        sent = await finish(lambda: window.begin(system, [_message(one) for one in messages]))
        self._sent = sent
        return dataclasses.replace(request_context, messages=[messages[at] for at in sent.positions])

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Seals what was sent."""
        sent = self._sent
        if sent is not None:
            self._sent = None
            window = self._windows.window(self.prefix + name_of(ctx.conversation_id or "-"))
            await finish(lambda: window.done(sent))
            self.receipts.append(sent.receipt)
            if self._on_receipt is not None:
                self._on_receipt(sent.receipt)
        return response

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Adds the last answer."""
        if self.receipts:
            window = self._windows.window(self.prefix + name_of(ctx.conversation_id or "-"))
            messages = result.all_messages()
            await finish(lambda: window.add([_message(one) for one in messages]))
        return result


def _message(message: ModelMessage) -> Message:
    nodes = to_nodes(message)
    roles = {node["role"] for node in nodes}
    # What differs between two runs although the model reads the same is not part of the identity.
    parts = [{name: value for name, value in node.items() if name != RAW} for node in nodes]
    return Message(json.dumps(parts, sort_keys=True), nodes, bool(roles & {"user", "system"}) and "tool" not in roles, "system" in roles)


def _system(request: ModelRequestContext) -> list[dict[str, Any]]:
    parameters = request.model_request_parameters
    texts = [part.content for part in parameters.instruction_parts or ()]
    nodes: list[dict[str, Any]] = [{"role": "system", "kind": "text", "content": text} for text in texts]
    for tool in [*parameters.function_tools, *parameters.output_tools]:
        nodes.append(tool_node(tool.name, tool.description or "", tool.parameters_json_schema))
    return nodes
