"""Nodes, and the lazy sequence of them that a selector returns."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from . import _native
from ._record import Field, Record, many, texts

__all__ = ["Node", "Nodes", "RangeChange", "RangeDiff", "RangeSnapshot", "RangeStep"]


class Derived(Record):
    """What follows from a node's place and content."""

    __slots__ = ()
    bytes: Field[int] = Field()
    content_hash: Field[str] = Field()
    depth: Field[int | None] = Field()
    parent: Field[str | None] = Field()
    path: Field[tuple[str, ...]] = texts()
    region: Field[str | None] = Field()
    tool: Field[str | None] = Field()
    pinned: Field[bool | None] = Field()
    priority: Field[Any] = Field()


class Node(Record):
    """A node of a tree, without its children. It is read when a field other than `id` is looked at."""

    __slots__ = ("_id", "_load")

    def __init__(
        self,
        data: dict[str, Any] | None = None,
        *,
        id: str | None = None,
        load: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        """Wraps the JSON of a node, or a way to read it."""
        super().__init__(data if data is not None else {})
        object.__setattr__(self, "_id", id if id is not None else (data or {}).get("id"))
        object.__setattr__(self, "_load", load)

    _id: str
    _load: Callable[[], dict[str, Any]] | None

    def _json(self) -> dict[str, Any]:
        if self._load is not None:
            object.__setattr__(self, "_data", self._load())
            object.__setattr__(self, "_load", None)
        return self._data

    @property
    def id(self) -> str:
        """The id, unique within the context."""
        return self._id

    type: Field[str] = Field("nodeType")
    role: Field[str | None] = Field()
    kind: Field[str | None] = Field()
    key: Field[str | None] = Field()
    tags: Field[tuple[str, ...]] = texts()
    content: Field[Any] = Field()
    ttl: Field[int | None] = Field()
    priority: Field[Any] = Field(default=0)
    offset: Field[Any] = Field()
    cycle: Field[int] = Field()
    created_at_ns: Field[int] = Field()
    created_at_iso: Field[str] = Field()
    creation_index: Field[int] = Field()
    removable: Field[bool] = Field(default=False)
    provenance: Field[str | None] = Field()
    mime: Field[str | None] = Field()
    encoding: Field[str | None] = Field()
    derived: Field[Derived] = Field(make=Derived)

    @property
    def pinned(self) -> bool:
        """Whether the node is protected from pruning."""
        later = self.derived.pinned
        return bool(self._json().get("pinned")) if later is None else later

    @property
    def text(self) -> str:
        """The content as text; empty if it is not a text."""
        content = self._json().get("content")
        return content if isinstance(content, str) else ""

    def __getitem__(self, name: str) -> Any:
        """Returns a header or an attribute by its name in JSON: `node["data_call_id"]`."""
        return self._json()[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a header or an attribute, or the default."""
        return self._json().get(name, default)

    def __repr__(self) -> str:
        """Returns one line."""
        if self._load is not None:
            return f"<Node {self._id}>"
        names = [str(self._json()[name]) for name in ("role", "kind") if self._json().get(name)]
        return f"<Node {self._id}{' ' if names else ''}{' '.join(names)}>"


# How many nodes an iteration reads at once.
_AHEAD = 256


class Nodes(Sequence[Node]):
    """The nodes that a selector matched, in its order, in a state that does not change any more.

    Only nodes that are looked at are read.
    """

    __slots__ = ("_found", "_page", "warnings")

    def __init__(self, found: _native.Selection | None, warnings: Sequence[str] = ()) -> None:
        """Wraps what the engine found."""
        self._found = found
        # Shared by nodes that are taken one by one: the second one is a sign that more will follow.
        self._page = None if found is None else _Page(found, 1)
        self.warnings: tuple[str, ...] = tuple(warnings)
        """Messages about what is suspicious in the selector."""

    @property
    def ids(self) -> list[str]:
        """The ids, without reading the nodes."""
        return self._found.ids() if self._found is not None else []

    def __len__(self) -> int:
        """Returns the number of nodes."""
        return len(self._found) if self._found is not None else 0

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | list[Node]:
        """Returns one node, or several."""
        if isinstance(index, slice):
            span = range(*index.indices(len(self)))
            return list(self._read(span))
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"there are {len(self)} nodes")
        found, page = self._found, self._page
        assert found is not None
        assert page is not None
        return Node(id=found.id(at), load=functools.partial(page.get, at))

    def __iter__(self) -> Iterator[Node]:
        """Iterates over the nodes."""
        return self._read(range(len(self)))

    def to_dict(self) -> Any:
        """Returns all nodes as JSON data: a list of dictionaries."""
        return [node.to_dict() for node in self]

    def __repr__(self) -> str:
        """Returns one line."""
        ids = self.ids
        shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
        return f"<{len(ids)} nodes: {shown}>" if ids else "<no nodes>"

    def _read(self, span: range) -> Iterator[Node]:
        found = self._found
        if found is None or not span:
            return
        ids = found.ids()
        # Neighbours are read together, from either end.
        page = _Page(found, min(len(span), _AHEAD), min(span[0], span[-1]))
        for at in span:
            yield Node(id=ids[at], load=functools.partial(page.get, at))


class _Page:
    """The nodes that were read last. Each reading evaluates the selector again, so a whole page is read if more than one is wanted.

    Pages have fixed borders, so that going backwards reads each of them once, too.
    """

    __slots__ = ("_ahead", "_base", "_found", "_last")

    def __init__(self, found: _native.Selection, ahead: int, base: int = 0) -> None:
        self._found = found
        self._ahead = ahead
        self._base = base
        self._last: tuple[int, list[dict[str, Any]]] = (0, [])

    def get(self, at: int) -> dict[str, Any]:
        # Taken together: another thread may turn the page.
        start, nodes = self._last
        if not start <= at < start + len(nodes):
            ahead = self._ahead
            start = at - (at - self._base) % ahead
            nodes = self._found.nodes(start, ahead)
            self._last = (start, nodes)
            self._ahead = min(max(16, ahead * 16), _AHEAD)
        return nodes[at - start]


class RangeSnapshot(Record):
    """A snapshot of a range, and how the selector addressed it."""

    __slots__ = ()
    kind: Field[str] = Field()
    value: Field[int] = Field()
    label: Field[str] = Field()
    cycle: Field[int] = Field()


class RangeChange(Record):
    """A node that matched in both snapshots and differs."""

    __slots__ = ()
    id: Field[str] = Field()
    fields: Field[tuple[str, ...]] = texts()
    delta: Field[dict[str, dict[str, Any]] | None] = Field()
    """The values of scalar fields: `from` the newer snapshot, `to` the older one."""
    content_diff: Field[dict[str, Any] | None] = Field()
    materialized: Field[dict[str, Any] | None] = Field()


class RangeStep(Record):
    """What changed between two snapshots. As in the specification, `newer` is `from` and `older` is `to` in JSON."""

    __slots__ = ()
    newer: Field[RangeSnapshot] = Field("from", make=RangeSnapshot)
    older: Field[RangeSnapshot] = Field("to", make=RangeSnapshot)
    added: Field[tuple[str, ...]] = Field("added_ids", make=tuple)
    removed: Field[tuple[str, ...]] = Field("removed_ids", make=tuple)
    changed: Field[tuple[RangeChange, ...]] = many(RangeChange)
    stats: Field[dict[str, int]] = Field()


class Range(Record):
    """The fields of a `RangeDiff`."""

    __slots__ = ()
    query: Field[str] = Field()
    snapshots: Field[tuple[RangeSnapshot, ...]] = many(RangeSnapshot)
    diffs: Field[tuple[RangeStep, ...]] = many(RangeStep)
    mode: Field[str] = Field()
    limits: Field[dict[str, Any] | None] = Field()


class RangeDiff(Nodes):
    """What the matches of a range of snapshots gained, lost and changed, in the form of the specification. It has no nodes of its own."""

    __slots__ = ("_data", "_typed")

    def __init__(self, data: dict[str, Any], warnings: Sequence[str] = ()) -> None:
        """Wraps the JSON of a diff."""
        super().__init__(None, warnings)
        self._data = data
        self._typed = Range(data)

    @property
    def query(self) -> str:
        """The selector."""
        return self._typed.query

    @property
    def snapshots(self) -> tuple[RangeSnapshot, ...]:
        """The snapshots that were compared, in the order of the range."""
        return self._typed.snapshots

    @property
    def diffs(self) -> tuple[RangeStep, ...]:
        """What changed between each two of them."""
        return self._typed.diffs

    @property
    def mode(self) -> str:
        """How they were compared: `pairwise`."""
        return self._typed.mode

    @property
    def truncated(self) -> bool:
        """Whether a limit left anything out."""
        return bool((self._typed.limits or {}).get("truncated"))

    def __bool__(self) -> bool:
        """Returns true, although there are no nodes: it is an answer."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """Returns the diff as JSON data, a copy."""
        return copy.deepcopy(self._data)

    def __repr__(self) -> str:
        """Returns one line."""
        return f"<RangeDiff: {', '.join(self._data)}>"
