"""A LangGraph checkpointer that stores every message once.

    from contextree.langgraph import ContextreeSaver

    graph = builder.compile(checkpointer=ContextreeSaver("agent.db"))

A thread is a context: its messages are nodes, and everything else of a checkpoint is in side records that are written in the same step.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast
from urllib.parse import unquote
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ._adapter import Records, Target, expecting, frame, name_of, record, store_of, unframe
from ._errors import ConflictError, CorruptError, unserializable
from ._langchain import is_messages
from ._lines import Head, Lines
from ._threads import Lock, finish, tries

__all__ = ["ContextreeSaver"]

_T = TypeVar("_T")

_CHECKPOINT = "langgraph.checkpoint"
_VALUE = "langgraph.value"
_WRITE = "langgraph.write"
_HEAD = "langgraph.head"

# How many threads keep their messages in memory: those that were used last.
_WARM = 64
# How many checkpoints of a thread are remembered, and how many of them with their contents.
_NOTES = 1_000
_ROWS = 256

# What checkpoints usually contain. Part of the format: records that were compressed with it need it to be read.
_WORDS = (
    b"\x81\xa2ts\xd9 2026-01-01T00:00:00.000000+00:00\xa2id\xd9$1f0c0000-0000-6000-8000-000000000000"
    b"\xaalc_version\xa6run_id\xa6parent\xa7writes\xa6source\xa5input\xa4loop\xa6update\xa4fork\xa4step\xa7parents\x80"
    b"\xad__interrupt__\x8a__start__\xb0channel_versions\xa9branch:to:\xa8messages\xadversions_seen\xa9__input__\xa9__start__"
    b"\x81\xa8messages\xb0updated_channels\x91\xa8messages\xadpending_sends\x90\xa1v\x04\xa1c\xa1m\xa1p\xa1r"
    b"\xb7langchain_core.messages\xac.human\xacHumanMessage\xa9AIMessage\xabToolMessage\xb3model_validate_json"
    b"\xa7content\xb1additional_kwargs\x80\xb1response_metadata\x80\xa4type\xa5human\xa2ai\xa4name\xc0\xa2id"
    b"\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_metadata\xc0"
)


class ContextreeSaver(BaseCheckpointSaver[int]):
    """Keeps the checkpoints of LangGraph in a Contextree store.

    Every channel that is a list of messages is stored message by message, once, as nodes of a context named `<prefix><thread id>`. A list
    that does not continue the one before it becomes another line of the thread: a fork, named `<prefix><thread id>#2`.

    A writer that continues a checkpoint which is no longer the newest, although it was when it was read, gets a `ConflictError`. To go
    back on purpose, pass the `checkpoint_id`.
    """

    def __init__(
        self,
        store: Target,
        *,
        serde: SerializerProtocol | None = None,
        prefix: str = "langgraph/",
    ) -> None:
        """Uses a store: a path, a URL, or one that is open.

        With a serializer other than LangGraph's own, such as one that encrypts, messages are not mapped to nodes.
        """
        super().__init__(serde=serde)
        self.store = store_of(store)
        self.prefix = prefix
        self._records = Records(self.store)
        self._threads: dict[tuple[str, str], _Thread] = {}
        # Those that may have messages in memory, the one that was used last at the end.
        self._warm: dict[tuple[str, str], _Thread] = {}
        self._guard = Lock()

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint in one durable step.

        Raises `ConflictError` if the thread has moved on since it was read, and `SerializationError` if the serializer refuses a value;
        nothing is stored then.
        """
        thread = self._thread(config)
        saved = get_checkpoint_metadata(config, metadata)
        with thread.lock:
            thread.put(self, get_checkpoint_id(config), checkpoint, saved, new_versions)
        return thread.config(checkpoint["id"])

    def put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Stores the writes of a task. Of regular writes the first one stays, special ones are replaced.

        Raises `SerializationError` if the serializer refuses a value; nothing is stored then.
        """
        thread = self._thread(config)
        key = f"{get_checkpoint_id(config)}/{task_id}"
        fresh = [
            (WRITES_IDX_MAP.get(channel, index), channel, *self._dump(value, f"a write to the channel `{channel}`"))
            for index, (channel, value) in enumerate(writes)
        ]
        overwrite = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        before: bytes | None = None
        for _ in tries(f"the task `{task_id}`"):
            merged = {} if before is None else {row[0]: row for row in self._unpack(before)["w"]}
            for row in fresh:
                if overwrite or row[0] not in merged:
                    merged[row[0]] = row
            value = self._pack({"p": task_path, "w": list(merged.values())}, "the path of a task")
            try:
                self._records.put(thread.name, [record(_WRITE, key, value, **expecting(before))])
                return
            except ConflictError:
                found = self._records.one(thread.name, _WRITE, key)
                if found == before:
                    raise
                before = found

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread: all its checkpoints, writes and messages."""
        base = self.prefix + name_of(str(thread_id))
        # The thread itself last: what a crash leaves is deleted by the next try.
        for name in [*self._records.names(base + "/"), *self._records.names(base + "#"), base]:
            self._records.delete(name)
        with self._guard:
            for key in [key for key in self._threads if key[0] == str(thread_id)]:
                del self._threads[key]
                self._warm.pop(key, None)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of runs."""
        wanted = {str(run) for run in run_ids}
        for thread in self._all_threads(None, None):
            with thread.lock:
                rows = thread.rows(self)
                gone = {one for one, row in rows.items() if row["m"].get("run_id") in wanted}
                if gone:
                    thread.remove(self, rows, gone)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread with all its checkpoints. The messages are shared until one of the two changes."""
        source = self.prefix + name_of(str(source_thread_id))
        target = self.prefix + name_of(str(target_thread_id))
        names = [*self._records.names(source + "/"), *self._records.names(source + "#")]
        if self._records.exists(source):
            names.append(source)
        for name in names:
            copy = target + name[len(source) :]
            self._records.run("fork", name, {"name": copy})
            rows = [
                record(kind, key, value)
                for kind in (_CHECKPOINT, _VALUE, _WRITE, _HEAD)
                for key, value in self._records.by_prefix(name, kind)
            ]
            self._records.put(copy, rows)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Deletes all checkpoints but the newest of each namespace, or all of them with `strategy="delete"`.

        What a `DeltaChannel` of the newest checkpoint needs is kept: its ancestors back to one that has the value.
        """
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"unknown strategy {strategy!r}; expected 'keep_latest' or 'delete'")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
                continue
            for thread in self._all_threads(str(thread_id), None):
                with thread.lock:
                    rows = thread.rows(self)
                    if rows:
                        thread.remove(self, rows, set(rows) - _needed(rows))

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Returns a checkpoint: the one that is named, or the newest."""
        thread = self._thread(config)
        with thread.lock:
            found = thread.read(self, get_checkpoint_id(config))
            if not found:
                return None
            return thread.stored(self, found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Iterates over checkpoints, the newest first. They are read as they are asked for."""
        options = config["configurable"] if config else {}
        thread_id = options.get("thread_id")
        only = options.get("checkpoint_id")
        end = get_checkpoint_id(before) if before else None
        # So LangGraph looks for the checkpoint that a subgraph goes back to.
        goes_back = end is not None and limit == 1

        def rows(thread: _Thread) -> Iterator[tuple[str, Any, _Thread]]:
            for key, value in self._records.newest_first(thread.name, _CHECKPOINT, end):
                yield key, self._unpack(value), thread

        threads = self._all_threads(thread_id, options.get("checkpoint_ns"))
        if goes_back:
            for thread in threads:
                thread.goes_back_to(None)
        merged = heapq.merge(*(rows(thread) for thread in threads), key=lambda row: row[0], reverse=True)
        for key, row, thread in merged:
            if only is not None and key != only:
                continue
            if filter and any(row["m"].get(name) != value for name, value in filter.items()):
                continue
            if limit is not None and limit <= 0:
                return
            with thread.lock:
                if goes_back:
                    thread.read(self, key)
                try:
                    found = thread.tuple(self, key, row)
                except _Pruned:
                    if thread.row(self, key) is not None:
                        raise
                    # Another process deleted it after it was listed.
                    continue
            if limit is not None:
                limit -= 1
            yield found

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        """Returns what a `DeltaChannel` is computed from: writes of the ancestors back to one that has the value."""
        thread = self._thread(config)
        with thread.lock:
            return thread.history(self, get_checkpoint_id(config), channels)

    # The same for asynchronous code

    async def aget_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        """Like `get_delta_channel_history`."""
        return await self._run(lambda: self.get_delta_channel_history(config=config, channels=channels))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Like `get_tuple`."""
        return await self._run(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Like `list`."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await self._run(next, found, None)) is not None:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Like `put`."""
        return await self._run(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Like `put_writes`."""
        await self._run(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Like `delete_thread`."""
        await self._run(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Like `delete_for_runs`."""
        await self._run(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Like `copy_thread`."""
        await self._run(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Like `prune`."""
        await self._run(lambda: self.prune(thread_ids, strategy=strategy))

    async def _run(self, work: Callable[..., _T], *values: Any) -> _T:
        return await finish(lambda: work(*values))

    # Inside

    @property
    def _maps(self) -> bool:
        """Whether messages become nodes. What another serializer would hide must not be in the open."""
        return type(self.serde) is JsonPlusSerializer

    def _dump(self, value: Any, what: str) -> tuple[str, bytes]:
        try:
            return self.serde.dumps_typed(value)
        except Exception as error:
            raise unserializable(what, error) from error

    def _pack(self, value: Any, what: str) -> bytes:
        return frame(*self._dump(value, what), _WORDS, squeeze=self._maps)

    def _unpack(self, framed: bytes) -> Any:
        return self.serde.loads_typed(unframe(framed, _WORDS))

    def _thread(self, config: RunnableConfig) -> _Thread:
        options = config["configurable"]
        return self._thread_of(str(options["thread_id"]), options.get("checkpoint_ns") or "")

    def _thread_of(self, thread_id: str, namespace: str) -> _Thread:
        with self._guard:
            key = (thread_id, namespace)
            if key not in self._threads:
                name = self.prefix + name_of(thread_id)
                name += f"/{name_of(namespace)}" if namespace else ""
                self._threads[key] = _Thread(thread_id, namespace, name)
            thread = self._threads[key]
            self._warm.pop(key, None)
            self._warm[key] = thread
            for _ in range(len(self._warm) - _WARM):
                oldest = next(iter(self._warm))
                idle = self._warm.pop(oldest)
                if not idle.cool():
                    self._warm[oldest] = idle
            return thread

    def _all_threads(self, thread_id: str | None, namespace: str | None) -> Sequence[_Thread]:
        """Returns the threads that are stored: all of them, those of one id, or one."""
        if thread_id is not None and namespace is not None:
            return [self._thread_of(str(thread_id), namespace)]
        if thread_id is None:
            names = self._records.names(self.prefix)
        else:
            base = self.prefix + name_of(str(thread_id))
            names = [base, *self._records.names(base + "/")]
        found = []
        for name in names:
            own, _, inner = name[len(self.prefix) :].partition("/")
            if "#" not in name and namespace in (None, unquote(inner)):
                found.append(self._thread_of(unquote(own), unquote(inner)))
        return found


class _Pruned(CorruptError):
    """A value of a checkpoint is missing: the checkpoint was deleted after it was read, or the store is damaged."""


class _Thread:
    """What this process knows of one namespace of a thread."""

    def __init__(self, thread_id: str, namespace: str, name: str) -> None:
        self.thread_id = thread_id
        self.namespace = namespace
        self.name = name
        self.lock = Lock()
        self.writer = uuid4().hex[:12]
        self.lines = Lines(name)
        self._rows: dict[str, Any] = {}
        # Checkpoints that were written here, and those that were the newest when they were read (`None` if there was none). A writer that
        # continues one of them does not mean to go back. Both are sets in the order of their use.
        self._written: dict[str, None] = {}
        self._read: dict[str | None, None] = {}

    def cool(self) -> bool:
        """Frees what can be read again. Returns false if the thread is being used."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            self.lines.forget()
            self._rows.clear()
        finally:
            self.lock.release()
        return True

    def config(self, checkpoint_id: str) -> RunnableConfig:
        options = {
            "thread_id": self.thread_id,
            "checkpoint_ns": self.namespace,
            "checkpoint_id": checkpoint_id,
        }
        return {"configurable": options}

    def head(self, saver: ContextreeSaver) -> Head:
        return Head(saver._records.one(self.name, _HEAD, ""))

    def read(self, saver: ContextreeSaver, wanted: str | None) -> str | None:
        """Notes what the reader knows: that it continues the newest checkpoint, or goes back to another one on purpose. Returns its id."""
        newest = self.head(saver).newest
        if not wanted:
            _note(self._read, newest)
        elif wanted != newest:
            self.goes_back_to(wanted)
        return wanted or newest

    def goes_back_to(self, checkpoint_id: str | None) -> None:
        """Notes that what is put on a checkpoint, or on none, is meant to be another line."""
        self._read.pop(checkpoint_id, None)
        if checkpoint_id is not None:
            self._written.pop(checkpoint_id, None)

    def row(self, saver: ContextreeSaver, checkpoint_id: str) -> Any:
        """Returns what is stored of a checkpoint."""
        value = saver._records.one(self.name, _CHECKPOINT, checkpoint_id)
        return None if value is None else saver._unpack(value)

    def rows(self, saver: ContextreeSaver) -> dict[str, Any]:
        found = saver._records.by_prefix(self.name, _CHECKPOINT)
        return {key: saver._unpack(value) for key, value in found}

    def put(
        self,
        saver: ContextreeSaver,
        parent: str | None,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> None:
        records = saver._records
        head = self.head(saver)
        own = checkpoint["id"]
        is_foreign = head.writer != self.writer
        # A copy of a checkpoint, the framework's "fork", is meant to be beside what follows its parent.
        is_copy = metadata.get("source") == "fork"
        if head.newest != parent and not is_copy and (parent in self._read or (is_foreign and parent in self._written)):
            raise ConflictError(
                f"thread `{self.thread_id}` has moved on to checkpoint {head.newest} since {parent} was read",
                code="E_CONFLICT",
                details={"hints": ["run the turn again on the newest checkpoint, or pass `checkpoint_id` to branch off"]},
            )
        # Another writer may have deleted checkpoints with their values.
        before = self._rows.get(parent) if parent and not is_foreign else None
        if before is None and parent:
            before = self.row(saver, parent)
        values = checkpoint["channel_values"]
        refs: dict[str, Any] = {}
        rows: list[dict[str, Any]] = []
        lists: dict[str, list[Any]] = {}
        for channel, version in checkpoint["channel_versions"].items():
            inherited = before["r"].get(channel) if before else None
            is_known = before is not None and before["c"]["channel_versions"].get(channel) == version
            if channel not in new_versions and inherited is not None and is_known:
                refs[channel] = inherited
            elif channel not in values:
                continue
            elif saver._maps and is_messages(values[channel]):
                lists[channel] = values[channel]
            elif values[channel] is None:
                refs[channel] = 0
            else:
                refs[channel] = own
                rows.append(record(_VALUE, f"{own}/{channel}", saver._pack(values[channel], f"the channel `{channel}`")))
        try:
            step = self.lines.add(saver, head, before["r"] if before else {}, lists)
            refs.update(step.refs)
            plain = {name: value for name, value in checkpoint.items() if name != "channel_values"}
            row = {"c": plain, "m": metadata, "p": parent, "r": refs}
            rows.append(record(_CHECKPOINT, own, saver._pack(row, "the checkpoint")))
            newest = own if head.newest is None else max(own, head.newest)
            rows.append(record(_HEAD, "", step.head(newest, self.writer), **expecting(head.value)))
            done = records.put(self.name, rows, step.operations, commit=step.commit)
        except BaseException:
            # Lines may have more than what is stored.
            self.lines.forget()
            raise
        step.done(done)
        _note(self._written, own)
        if len(self._rows) >= _ROWS:
            del self._rows[next(iter(self._rows))]
        self._rows[own] = row

    def stored(self, saver: ContextreeSaver, checkpoint_id: str) -> CheckpointTuple | None:
        """Returns a checkpoint, or `None` if it does not exist, also if another process deletes it meanwhile."""
        row = self.row(saver, checkpoint_id)
        if row is None:
            return None
        try:
            return self.tuple(saver, checkpoint_id, row)
        except _Pruned:
            if self.row(saver, checkpoint_id) is not None:
                raise
            return None

    def tuple(self, saver: ContextreeSaver, checkpoint_id: str, row: Any) -> CheckpointTuple:
        """Returns a checkpoint with its values and pending writes."""
        checkpoint = cast(Checkpoint, {**row["c"], "channel_values": self.values(saver, row["r"])})
        parent = self.config(row["p"]) if row["p"] else None
        return CheckpointTuple(self.config(checkpoint_id), checkpoint, row["m"], parent, self.writes(saver, checkpoint_id))

    def values(self, saver: ContextreeSaver, refs: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        keys = [f"{ref}/{channel}" for channel, ref in refs.items() if isinstance(ref, str)]
        stored = saver._records.get(self.name, _VALUE, keys) if keys else {}
        for channel, ref in refs.items():
            if ref == 0:
                values[channel] = None
            elif isinstance(ref, str):
                packed = stored.get(f"{ref}/{channel}")
                if packed is None:
                    what = f"the value of the channel `{channel}` in the thread `{self.thread_id}` is missing; was it pruned meanwhile?"
                    raise _Pruned(what, code="E_STORE_CORRUPT")
                values[channel] = saver._unpack(packed)
            else:
                values[channel] = self.lines.read(saver, channel, ref)
        return values

    def writes(self, saver: ContextreeSaver, checkpoint_id: str) -> list[PendingWrite]:
        writes: list[Any] = []
        for key, value in saver._records.by_prefix(self.name, _WRITE, checkpoint_id + "/"):
            task = saver._unpack(value)
            task_id = key[len(checkpoint_id) + 1 :]
            writes.extend((task["p"], task_id, *one) for one in task["w"])
        writes.sort(key=lambda one: one[:3])
        return [(one[1], one[3], saver.serde.loads_typed((one[4], one[5]))) for one in writes]

    def history(self, saver: ContextreeSaver, wanted: str | None, channels: Sequence[str]) -> dict[str, DeltaChannelHistory]:
        """Walks from a checkpoint to its ancestors. This does not tell what the caller is going to continue, so it is not noted."""
        found: dict[str, DeltaChannelHistory] = {channel: {"writes": []} for channel in channels}
        missing = set(channels)
        at = wanted or self.head(saver).newest
        row = self.row(saver, at) if at and missing else None
        seen = {at}
        while row is not None and missing and row["p"] and row["p"] not in seen:
            at = row["p"]
            seen.add(at)
            row = self.row(saver, at)
            if row is None:
                break
            for write in reversed(self.writes(saver, at)):
                if write[1] in missing:
                    found[write[1]]["writes"].append(write)
            for channel, value in self.values(saver, {channel: ref for channel, ref in row["r"].items() if channel in missing}).items():
                found[channel]["seed"] = value
                missing.discard(channel)
        for history in found.values():
            history["writes"].reverse()
        return found

    def remove(self, saver: ContextreeSaver, rows: dict[str, Any], gone: set[str]) -> None:
        """Deletes checkpoints with what only they need, in one step."""
        head = self.head(saver)
        kept = {key: row for key, row in rows.items() if key not in gone}
        used = {f"{ref}/{channel}" for row in kept.values() for channel, ref in row["r"].items() if isinstance(ref, str)}
        changes = [record(_CHECKPOINT, key) for key in sorted(gone)]
        for key, _ in saver._records.by_prefix(self.name, _VALUE):
            if key not in used:
                changes.append(record(_VALUE, key))
        for key, _ in saver._records.by_prefix(self.name, _WRITE):
            if key.split("/", 1)[0] in gone:
                changes.append(record(_WRITE, key))
        head_value = head.with_newest(max(kept, default=None), self.writer)
        changes.append(record(_HEAD, "", head_value, **expecting(head.value)))
        saver._records.put(self.name, changes)
        for key in gone:
            self._rows.pop(key, None)


def _note(notes: dict[Any, None], key: str | None) -> None:
    """Adds to a set, or makes an element the newest one. Only the oldest is dropped: writers in flight rely on the others."""
    notes.pop(key, None)
    notes[key] = None
    if len(notes) > _NOTES:
        del notes[next(iter(notes))]


def _needed(rows: dict[str, Any]) -> set[str]:
    """Returns the newest checkpoint, and the ancestors that its delta channels are computed from."""
    newest = max(rows)
    needed = {newest}
    row = rows[newest]
    counters = row["m"].get("counters_since_delta_snapshot") or {}
    missing = {channel for channel in counters if channel not in row["r"]}
    while missing and row["p"] in rows:
        needed.add(row["p"])
        row = rows[row["p"]]
        missing -= set(row["r"])
    return needed
