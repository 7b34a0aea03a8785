"""A session of the OpenAI Agents SDK in a Contextree store.

    from contextree.openai_agents import ContextreeSession

    result = await Runner.run(agent, "Hello", session=ContextreeSession("user-42", "agent.db"))

A session is a context: every item is a node, and what the model saw at each call is a snapshot.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any, TypeVar, cast

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from ._adapter import Records, Target, expecting, name_of, record, store_of
from ._call import is_unicode
from ._errors import ConflictError, ExistsError, unserializable
from ._store import Store
from ._threads import Lock, finish, tries

__all__ = ["ContextreeSession"]

_T = TypeVar("_T")
_KIND = "openai-agents.session"

# The attribute that has what a node's role and content do not say of its item; see `_pack`.
_RAW = "data_oa"
# Where the text of the node belongs. The text of an item is ASCII, so it has no such character.
_HERE = "¶"
# What items usually contain. Part of the format: attributes that were compressed with it need it to be read.
_WORDS = (
    b'{"id": "rs_", "summary": [{"text": \xb6, "type": "summary_text"}], "type": "reasoning", "encrypted_content": "gAAAAAB'
    b'{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,'
    b'{"role": "user", "content": [{"type": "input_text", "text": \xb6}]}'
    b'{"call_id": "call_", "output": \xb6, "type": "function_call_output"}'
    b'{"arguments": \xb6, "call_id": "call_", "name": "", "type": "function_call", "id": "fc_0123456789abcdef", "status": "completed"}'
    b'{"id": "msg_0123456789abcdef", "content": [{"annotations": [], "text": \xb6, "type": "output_text", "logprobs": []}], '
    b'"role": "assistant", "status": "completed", "type": "message"}'
)


class ContextreeSession(SessionABC):
    """The history of one session.

    Items are added to the turn in progress. It is sealed when the next user message follows an answer, so what a retry pops is still open.
    Popping what is sealed, and clearing, begin another line of the session; the old one stays readable.

    Several processes may add to one session: every item is kept, in the order of the steps.
    """

    def __init__(
        self,
        session_id: str,
        store: Target,
        *,
        session_settings: SessionSettings | None = None,
        prefix: str = "openai-agents/",
    ) -> None:
        """Uses a store: a path, a URL, or one that is open."""
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self.store = store_of(store)
        self.prefix = prefix
        self._records = Records(self.store)
        self._lock = Lock()
        self._owns_store = not isinstance(store, Store)
        self._line = _Line(prefix + name_of(session_id))
        # Reading a local store takes microseconds, a thread takes fifty of them.
        self._is_local = not self.store.url.startswith("postgres")

    @property
    def context(self) -> str:
        """The name of the context that the session is at."""
        with self._lock:
            self._refresh()
            return self._line.name

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the newest items, oldest first; all of them without a limit."""
        most = resolve_session_limit(limit, self.session_settings)
        if self._is_local and self._lock.acquire(blocking=False):
            # A call on the event loop must not wait: neither for another thread, nor for reading a session.
            try:
                if self._line.is_current(self):
                    return self._newest(most)
            finally:
                self._lock.release()
        return await finish(lambda: self._items(most))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items in one durable step."""
        if items:
            await finish(lambda: self._change(lambda: self._add(items)))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it."""
        return await finish(lambda: self._change(self._pop))

    async def clear_session(self) -> None:
        """Begins with an empty line. The old one stays readable under its name."""
        await finish(lambda: self._change(lambda: self._line.move(self, 0)))

    def close(self) -> None:
        """Closes the store, unless it was open before the session."""
        if self._owns_store:
            self.store.close()

    async def branch(self, session_id: str, *, turn: int | None = None) -> ContextreeSession:
        """Returns a new session that begins with this one: all of it, or what is before a turn.

        Turns are counted from 1; each begins with a user message.
        """

        def make() -> ContextreeSession:
            with self._lock:
                self._refresh()
                count = len(self._line.items)
                if turn is not None:
                    begins = [index for index, item in enumerate(self._line.items) if item.fields.get("role") == "user"]
                    if not 1 <= turn <= len(begins):
                        raise ValueError(f"there is no turn {turn}; the session has {len(begins)}")
                    count = begins[turn - 1]
                name = self.prefix + name_of(session_id)
                self._line.fork(self, count, name)
            return ContextreeSession(session_id, self.store, session_settings=self.session_settings, prefix=self.prefix)

        return await finish(make)

    def _items(self, most: int | None) -> list[TResponseInputItem]:
        with self._lock:
            self._refresh()
            return self._newest(most)

    def _newest(self, most: int | None) -> list[TResponseInputItem]:
        items = self._line.items
        if most is not None and most >= 0:
            items = items[-most:] if most else []
        return [item.copy() for item in items]

    def _refresh(self) -> None:
        """Reads what other processes did since the last call, if anything."""
        while True:
            found = self._line.read(self)
            if found is None:
                return
            self._line = _Line(found)

    def _change(self, change: Callable[[], _T]) -> _T:
        """Changes the newest state; again if another process was faster."""
        for _ in tries(f"session `{self.session_id}`"):
            with self._lock:
                self._refresh()
                try:
                    return change()
                except (ConflictError, ExistsError):
                    self._line.forget()
        raise AssertionError("the last try raises")

    def _add(self, items: list[TResponseInputItem]) -> None:
        fresh = [_Item(_json(item)) for item in items]
        line = self._line
        if line.left_over and not all(cycle == line.cycle for _, cycle in line.left_over):
            # What was popped is sealed: the session continues from before it.
            line.move(self, len(line.items))
            self._refresh()
            line = self._line
        line.add(self, fresh)

    def _pop(self) -> TResponseInputItem | None:
        if not self._line.items:
            return None
        return self._line.pop(self)


class _Item:
    """An item as text, and the node that has it."""

    __slots__ = ("cycle", "fields", "is_plain", "node", "raw")

    def __init__(self, raw: str, node: str = "", cycle: int = 0) -> None:
        self.raw = raw
        self.node = node
        self.cycle = cycle
        value = json.loads(raw)
        # Anything that is JSON is kept, whether it is an item or not.
        self.fields: dict[str, Any] = value if isinstance(value, dict) else {}
        self.is_plain = value is self.fields and all(isinstance(one, str) for one in self.fields.values())

    def copy(self) -> TResponseInputItem:
        value = self.fields.copy() if self.is_plain else json.loads(self.raw)
        return cast(TResponseInputItem, value)

    def to_node(self) -> dict[str, Any]:
        """Returns the node of the item."""
        item = self.fields
        kind = item.get("type", "message")
        node: dict[str, Any] = {"role": item.get("role"), "kind": "text", "content": _text(item.get("content"))}
        if kind == "function_call":
            node.update(role="assistant", kind="call", content=str(item.get("arguments", "")))
            node.update(data_name=item.get("name"), data_call_id=item.get("call_id"))
        elif kind == "function_call_output":
            output = item.get("output")
            shown = output if isinstance(output, str) else json.dumps(output)
            node.update(role="tool", kind="result", content=shown, data_call_id=item.get("call_id"))
        elif kind == "reasoning":
            node.update(role="assistant", kind="reasoning", content=_text(item.get("summary")))
        elif kind != "message" or not isinstance(node["role"], str):
            node["role"] = f"openai:{kind}"
        node = {name: value for name, value in node.items() if isinstance(value, str) and is_unicode(value)}
        node.setdefault("content", "")
        packed = _pack(self.raw, node)
        if packed is not None:
            node[_RAW] = packed
        return node

    @property
    def opens_a_turn(self) -> bool:
        return self.fields.get("role") in ("user", "system", "developer")


def _json(item: Any) -> str:
    try:
        return json.dumps(item)
    except Exception as error:
        raise unserializable("the item", error) from error


def _plain(node: dict[str, Any]) -> str:
    """Returns the item that a node without the attribute stands for."""
    return json.dumps({"role": node.get("role"), "content": node.get("content", "")})


def _turned(node: dict[str, Any]) -> str:
    """Returns the same with its members as the SDK's runner writes them."""
    return json.dumps({"content": node.get("content", ""), "role": node.get("role")})


def _pack(raw: str, node: dict[str, Any]) -> str | None:
    """Returns the text of an item without that of its node, for the attribute; `None` if the node says everything.

    `c` is an item of role and content in the other order; `z` and Base64 is a text that was compressed. Anything else is the text itself: a
    text that has more than the node must stay readable, so that a redaction finds it.
    """
    if raw == _plain(node):
        return None
    if raw == _turned(node):
        return "c"
    short = raw.replace(json.dumps(node["content"]), _HERE, 1) if node["content"] else raw
    if short == raw:
        return raw
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=_WORDS)
    packed = "z" + b64encode(packer.compress(short.encode("latin-1")) + packer.flush()).decode("ascii")
    return packed if len(packed) < len(short) else short


def _unpack(node: dict[str, Any]) -> str:
    """Returns the text of the item of a node."""
    packed = node.get(_RAW)
    if packed is None:
        return _plain(node)
    if packed == "c":
        return _turned(node)
    if packed.startswith("z"):
        packed = zlib.decompressobj(-15, zdict=_WORDS).decompress(b64decode(packed[1:])).decode("latin-1")
    text: str = packed.replace(_HERE, json.dumps(node.get("content", "")), 1)
    return text


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = [one.get("text") for one in parts if isinstance(one, dict)]
    return "\n".join(one for one in found if isinstance(one, str))


class _Line:
    """The items of one context, as far as they are known."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[_Item] = []
        # Nodes after the items: popped, and sealed before that.
        self.left_over: list[tuple[str, int]] = []
        self.cycle = 1
        self._revision: int | None = None
        self._value: bytes | None = None

    def forget(self) -> None:
        self._revision = None

    def is_current(self, session: ContextreeSession) -> bool:
        """Returns whether the items are those that are stored. It reads one record of the store."""
        return self._revision is not None and session._records.revision_and(self.name, _KIND, "")[0] == self._revision

    def read(self, session: ContextreeSession) -> str | None:
        """Brings the items up to date. Returns the name of the line that continues this one."""
        records = session._records
        revision, value = records.revision_and(self.name, _KIND, "")
        if revision == self._revision:
            return None
        fields = json.loads(value) if value else {"n": 0}
        self._value = value
        if "to" in fields:
            self._revision = None
            return str(fields["to"])
        items = []
        head = 0
        if revision:
            row = records.run("log", self.name, {"limit": 1})["entries"]
            head = row[0]["cycle"] if row else 0
            for node in records.nodes(self.name):
                items.append(_Item(_unpack(node), node["id"], node["cycle"]))
        count = fields["n"]
        self.items, rest = items[:count], items[count:]
        self.left_over = [(item.node, item.cycle) for item in rest]
        self.cycle = head + 1
        self._revision = revision
        return None

    def add(self, session: ContextreeSession, items: list[_Item]) -> None:
        """Adds items in one step. Seals the turn before if they begin a new one."""
        begins = items[0].opens_a_turn and bool(self.items) and not self.items[-1].opens_a_turn
        seals = begins and any(item.cycle == self.cycle for item in self.items[-1:])
        operations: list[dict[str, Any]] = [{"op": "remove", "node": node} for node, _ in self.left_over]
        if seals and operations:
            # What was popped must not be in the snapshot.
            self._put(session, len(self.items), operations)
            operations = []
        operations += [{"op": "add", "node": item.to_node()} for item in items]
        done = self._put(session, len(self.items) + len(items), operations, seals=seals)
        added = [one["node"] for one in done["applied"] if one["op"] == "add"]
        for item, node in zip(items, added, strict=True):
            item.node, item.cycle = node, self.cycle
        self.items.extend(items)

    def pop(self, session: ContextreeSession) -> TResponseInputItem:
        item = self.items[-1]
        is_open = item.cycle == self.cycle
        operations = [{"op": "remove", "node": node} for node, _ in self.left_over] if is_open else []
        if is_open:
            operations.append({"op": "remove", "node": item.node})
        self._put(session, len(self.items) - 1, operations)
        self.items.pop()
        if not is_open:
            self.left_over.insert(0, (item.node, item.cycle))
        return item.copy()

    def _put(self, session: ContextreeSession, count: int, operations: list[dict[str, Any]], *, seals: bool = False) -> Any:
        value = b'{"n":%d}' % count
        change = record(_KIND, "", value, **expecting(self._value))
        # The count alone would not tell that another process committed, or popped one item and added another.
        done = session._records.put(self.name, [change], operations, commit_before=seals, revision=self._revision)
        self._value, self._revision = value, done["revision"]
        if operations:
            self.left_over = []
        self.cycle += seals
        return done

    def move(self, session: ContextreeSession, count: int) -> None:
        """Continues on another line that begins with the first items of this one."""
        base, _, text = self.name.partition("#")
        number = int(text or 1) + 1
        # Another writer may be about to use it, or a step that did not end made it.
        while session._records.exists(name := f"{base}#{number}"):
            number += 1
        self.fork(session, count, name)
        change = record(_KIND, "", json.dumps({"to": name}).encode(), **expecting(self._value))
        session._records.put(self.name, [change])
        self.forget()

    def fork(self, session: ContextreeSession, count: int, name: str) -> None:
        """Makes a context with the first items: a fork at the newest snapshot that is a beginning of them."""
        snapshot = self.cycle - 1
        if count < len(self.items):
            snapshot = min(snapshot, self.items[count].cycle - 1)
        elif self.left_over:
            snapshot = min(snapshot, self.left_over[0][1] - 1)
        shared = 0
        if snapshot >= 1 and session._records.fork(self.name, name, snapshot):
            # Otherwise retention dropped it, and all items are copied.
            shared = sum(item.cycle <= snapshot for item in self.items[:count])
        rest = [{"op": "add", "node": item.to_node()} for item in self.items[shared:count]]
        change = record(_KIND, "", b'{"n":%d}' % count, absent=True)
        session._records.put(name, [change], rest)
