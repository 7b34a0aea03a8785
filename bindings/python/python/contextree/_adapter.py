"""What the adapters share: steps with side records, and how values are framed in them."""

from __future__ import annotations

import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union
from urllib.parse import quote

from ._call import is_unicode, run
from ._errors import ContextreeError, usage
from ._store import Store, open

Target = Union[str, "os.PathLike[str]", Store]

# Characters of a foreign id that stay as they are in the name of a context. `/` and `#` separate the parts of a name.
_PLAIN = " -_.~:@+=,()!"


def store_of(target: Target) -> Store:
    """Returns an open store: the one that is given, or the one at a path or URL."""
    return target if isinstance(target, Store) else open(target)


def name_of(part: str) -> str:
    """Returns an id as a part of a context's name."""
    if not is_unicode(part):
        raise usage(f"the id {part!r} has a lone surrogate, which is not Unicode", "id")
    return quote(part, safe=_PLAIN)


def record(kind: str, key: str, value: bytes | None = None, **conditions: Any) -> dict[str, Any]:
    """Returns the change of a side record: a new value, or a deletion if the value is `None`."""
    change: dict[str, Any] = {"kind": kind, "key": key, **conditions}
    if value is None:
        change["delete"] = True
    else:
        change["value"] = b64encode(value).decode("ascii")
    return change


def expecting(value: bytes | None) -> dict[str, Any]:
    """Returns the condition that a record has a value, or does not exist."""
    return {"absent": True} if value is None else {"expect": b64encode(value).decode("ascii")}


class Records:
    """Commands on the contexts of a store, with side records."""

    __slots__ = ("_engine", "store")

    def __init__(self, store: Store) -> None:
        """Works on an open store."""
        self.store = store
        self._engine = store._engine

    def run(self, command: str, context: str | None, request: dict[str, Any]) -> Any:
        """Runs a command of the catalogue."""
        return run(self._engine, command, context, request)

    def put(
        self,
        context: str,
        records: Sequence[dict[str, Any]] = (),
        operations: Sequence[dict[str, Any]] = (),
        *,
        commit: bool = False,
        commit_before: bool = False,
        revision: int | None = None,
    ) -> Any:
        """Takes one durable step; the context is created if it does not exist.

        `commit_before` seals the turn in progress before the operations, if it has a block; `commit` seals after them. With the revision
        of a context that exists, raises `ConflictError` if it has another one by now.
        """
        request: dict[str, Any] = {"create": True, "records": list(records)}
        if operations:
            request["operations"] = list(operations)
        if commit_before:
            request["commit_before"] = True
        if commit:
            request["commit"] = True
        if revision:
            request["if_revision"] = revision
        return run(self._engine, "put", context, request)

    def get(self, context: str, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Returns records by key, those that exist. A context that does not exist has none."""
        return dict(self._read(context, {"kind": kind, "keys": list(keys)}))

    def one(self, context: str, kind: str, key: str) -> bytes | None:
        """Returns the value of a record."""
        return self.get(context, kind, [key]).get(key)

    def revision_and(self, context: str, kind: str, key: str) -> tuple[int, bytes | None]:
        """Returns the revision of a context, 0 if it does not exist, and the value of a record."""
        try:
            found = self.run("records", context, {"kind": kind, "keys": [key]})
        except ContextreeError as error:
            if error.code == "E_CONTEXT_NOT_FOUND":
                return 0, None
            raise
        records = found["records"]
        return found["revision"], b64decode(records[0]["value"]) if records else None

    def by_prefix(self, context: str, kind: str, prefix: str = "") -> list[tuple[str, bytes]]:
        """Returns the records of a kind whose keys begin with a prefix, by key."""
        return list(self._read(context, {"kind": kind, "prefix": prefix}))

    def newest_first(self, context: str, kind: str, before: str | None = None, page: int = 32) -> Iterator[tuple[str, bytes]]:
        """Iterates over the records of a kind, the greatest key first, a page at a time."""
        while True:
            request: dict[str, Any] = {"kind": kind, "reverse": True, "limit": page}
            if before is not None:
                request["after"] = before
            found = list(self._read(context, request))
            yield from found
            if len(found) < page:
                return
            before = found[-1][0]

    def fork(self, context: str, name: str, cycle: int) -> bool:
        """Makes a context that begins with a snapshot. Returns whether it did: retention may have dropped the snapshot."""
        try:
            self.run("fork", context, {"name": name, "at": f"@c{cycle}"})
        except ContextreeError as error:
            if error.code != "E_SNAPSHOT_RETIRED":
                raise
            return False
        return True

    def names(self, prefix: str) -> list[str]:
        """Returns the names of the contexts that begin with a prefix, the prefix itself excluded."""
        return [row["name"] for row in self.rows(prefix)]

    def rows(self, prefix: str) -> list[dict[str, Any]]:
        """Returns the contexts whose names begin with a prefix, the prefix itself excluded."""
        found: list[dict[str, Any]] = []
        after = prefix
        while True:
            rows = self.run("contexts", None, {"after": after, "limit": 200})["contexts"]
            for row in rows:
                if not row["name"].startswith(prefix):
                    return found
                found.append(row)
            if len(rows) < 200:
                return found
            after = found[-1]["name"]

    def exists(self, context: str) -> bool:
        """Returns whether there is a context of this name."""
        return context in self.store

    def delete(self, context: str) -> None:
        """Deletes a context if it exists."""
        try:
            self.run("delete", None, {"name": context})
        except ContextreeError as error:
            if error.code != "E_CONTEXT_NOT_FOUND":
                raise

    def nodes(self, context: str) -> list[dict[str, Any]]:
        """Returns the blocks of the working state in the order of the thread."""
        found: list[dict[str, Any]] = self.run("thread", context, {"at": "@", "nodes": True}).get("nodes", [])
        return found

    def _read(self, context: str, request: dict[str, Any]) -> Iterable[tuple[str, bytes]]:
        try:
            found = self.run("records", context, request)["records"]
        except ContextreeError as error:
            if error.code == "E_CONTEXT_NOT_FOUND":
                return []
            raise
        return [(one["key"], b64decode(one["value"])) for one in found]


def frame(kind: str, data: bytes, words: bytes, *, squeeze: bool = True) -> bytes:
    """Returns bytes with the name of their serializer, compressed if that makes them shorter.

    `words` is what values of this sort usually contain. It must never change: it is needed to read them again.
    """
    name = kind.encode()
    if squeeze:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=words)
        packed = packer.compress(data) + packer.flush()
        if len(packed) < len(data):
            return bytes([1, len(name)]) + name + packed
    return bytes([0, len(name)]) + name + data


def unframe(framed: bytes, words: bytes) -> tuple[str, bytes]:
    """Returns what `frame` was given."""
    end = 2 + framed[1]
    kind, data = framed[2:end].decode(), framed[end:]
    if framed[0] == 1:
        data = zlib.decompressobj(-15, zdict=words).decompress(data)
    return kind, data
