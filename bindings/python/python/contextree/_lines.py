"""The lines of a thread: lists of messages that only grow, each in a context of its own.

A checkpoint refers to the beginning of a line by a number of messages. A list that continues a line is appended to it. One that does not
begins another line: a fork at the newest snapshot that is still a beginning of the list, or an empty context.
"""

from __future__ import annotations

import json
from typing import Any

from . import _langchain as messages
from ._adapter import expecting, record
from ._errors import CorruptError, ExistsError

_LINE = "langgraph.line"


class Head:
    """The newest checkpoint of a thread, who wrote it, and how many messages its first line has."""

    __slots__ = ("counts", "lines", "newest", "value", "writer")

    def __init__(self, value: bytes | None) -> None:
        """Reads the record; `None` if the thread is new."""
        self.value = value
        fields = json.loads(value) if value else {}
        self.newest: str | None = fields.get("id")
        self.writer: str = fields.get("by", "")
        self.counts: dict[str, int] = fields.get("n", {})
        self.lines: int = fields.get("lines", 1)

    def with_newest(self, newest: str | None, writer: str) -> bytes:
        """Returns the record with another newest checkpoint."""
        return _head(newest, writer, self.counts, self.lines)


def _head(newest: str | None, writer: str, counts: dict[str, int], lines: int) -> bytes:
    fields: dict[str, Any] = {"id": newest, "by": writer, "n": counts}
    if lines > 1:
        fields["lines"] = lines
    return json.dumps(fields, separators=(",", ":")).encode()


class Line:
    """The messages of one line, by channel."""

    __slots__ = ("channels", "cycle", "name")

    def __init__(self, name: str) -> None:
        """Begins without messages."""
        self.name = name
        self.channels: dict[str, list[messages.Kept]] = {}
        # The commit that seals what is added next.
        self.cycle = 1

    @property
    def counts(self) -> dict[str, int]:
        """How many messages each channel has."""
        return {channel: len(kept) for channel, kept in self.channels.items()}

    def load(self, saver: Any) -> None:
        """Reads all messages again."""
        self.channels = {}
        row = saver._records.run("log", self.name, {"limit": 1})["entries"]
        self.cycle = row[0]["cycle"] + 1 if row else 1
        for node in saver._records.nodes(self.name):
            raw = node.get("data_lc")
            if raw is None:
                continue
            kept = self.channels.setdefault(node.get("data_lc_channel", "messages"), [])
            if node["data_lc_pos"] != len(kept):
                raise CorruptError(
                    f"message {len(kept)} of `{self.name}` is missing; was it pruned by a policy?",
                    code="E_STORE_CORRUPT",
                )
            message = messages.read(node.get("content") or "", raw, saver.serde)
            kept.append(messages.Kept(message, node["cycle"]))


class Step:
    """What a checkpoint adds to the first line, in the same step as its records, and where its lists are."""

    def __init__(self, head: Head, line: Line) -> None:
        self.refs: dict[str, Any] = {}
        self.operations: list[dict[str, Any]] = []
        self.commit = False
        self.added: dict[str, list[Any]] = {}
        self._lines = head.lines
        self._counts = dict(head.counts)
        self._line = line

    def append(self, saver: Any, channel: str, fresh: list[Any]) -> None:
        begin = self._counts.get(channel, 0)
        self.added[channel] = _add(self.operations, fresh, channel, begin, self._line.cycle, saver.serde)
        self._counts[channel] = begin + len(fresh)
        self.commit = self.commit or messages.awaits_model(fresh[-1])

    def forked(self, lines: int) -> None:
        self._lines = max(self._lines, lines)

    def head(self, newest: str, writer: str) -> bytes:
        return _head(newest, writer, self._counts, self._lines)

    def done(self, _: Any) -> None:
        """Remembers what was stored."""
        for channel, kept in self.added.items():
            self._line.channels.setdefault(channel, []).extend(kept)
        if self.commit:
            self._line.cycle += 1


class Lines:
    """All lines of a thread that this process has looked at."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines: dict[int, Line] = {}

    def forget(self) -> None:
        """Reads everything again when it is next needed."""
        self._lines.clear()

    def _line(self, saver: Any, number: int, counts: dict[str, int] | None) -> Line:
        """Returns a line with at least as many messages as are known to be stored."""
        line = self._lines.get(number)
        is_stale = line is None or (counts is not None and any(len(line.channels.get(name, ())) < count for name, count in counts.items()))
        if line is None:
            line = Line(self._name if number == 1 else f"{self._name}#{number}")
        if is_stale:
            if number > 1 or counts:
                line.load(saver)
            self._lines[number] = line
        return line

    def read(self, saver: Any, channel: str, ref: list[int]) -> list[Any]:
        """Returns the messages that a checkpoint refers to."""
        number, count = ref
        kept = self._line(saver, number, {channel: count}).channels.get(channel, [])
        return [one.copy() for one in kept[:count]]

    def add(self, saver: Any, head: Head, before: dict[str, Any], lists: dict[str, list[Any]]) -> Step:
        """Decides where lists are stored. Everything on other lines than the first is stored at once."""
        if not lists:
            return Step(head, self._lines.get(1) or Line(self._name))
        first = self._line(saver, 1, head.counts)
        if first.counts != head.counts:
            # What was added by a step that failed is not there.
            self.forget()
            first = self._line(saver, 1, head.counts)
        step = Step(head, first)
        for channel, value in lists.items():
            ref = before.get(channel)
            number = ref[0] if isinstance(ref, list) else 1
            line = self._line(saver, number, None)
            kept = line.channels.get(channel, [])
            same = _common(kept, value)
            if same == len(value):
                step.refs[channel] = [number, same]
            elif same == len(kept) and number == 1:
                step.append(saver, channel, value[same:])
                step.refs[channel] = [1, len(value)]
            elif same == len(kept):
                self._append(saver, line, channel, value[same:])
                step.refs[channel] = [number, len(value)]
            else:
                number = self._fork(saver, line, channel, value, same, head.lines)
                step.forked(number)
                step.refs[channel] = [number, len(value)]
        return step

    def _append(self, saver: Any, line: Line, channel: str, fresh: list[Any]) -> None:
        """Appends to a line that is not the first. Nothing refers to it before the checkpoint is stored."""
        begin = len(line.channels.get(channel, ()))
        operations: list[dict[str, Any]] = []
        kept = _add(operations, fresh, channel, begin, line.cycle, saver.serde)
        counts = {**line.counts, channel: begin + len(fresh)}
        old = json.dumps(line.counts).encode() if line.counts else None
        stored = saver._records.one(line.name, _LINE, "")
        change = record(_LINE, "", json.dumps(counts).encode(), **expecting(old if stored is not None else None))
        commit = messages.awaits_model(fresh[-1])
        saver._records.put(line.name, [change], operations, commit=commit)
        line.channels.setdefault(channel, []).extend(kept)
        line.cycle += commit

    def _fork(self, saver: Any, line: Line, channel: str, value: list[Any], same: int, lines: int) -> int:
        """Begins another line with a list, at the newest snapshot that is a beginning of it."""
        # A snapshot has what was added up to its commit. The first message that is not wanted must not be in it.
        unwanted = line.channels[channel][same].cycle
        for other, kept in line.channels.items():
            if other != channel:
                # Other lists stay with the line that they are on.
                unwanted = min(unwanted, kept[0].cycle if kept else unwanted)
        snapshot = unwanted - 1
        number = lines + 1
        while True:
            fresh = Line(f"{self._name}#{number}")
            try:
                if snapshot >= 1 and not saver._records.fork(line.name, fresh.name, snapshot):
                    # Retention dropped it. The messages are still in the line, and are copied.
                    snapshot = 0
                if snapshot < 1 and saver._records.exists(fresh.name):
                    raise ExistsError(fresh.name, code="E_CONTEXT_EXISTS")
                break
            except ExistsError:
                number += 1
        shared = [one for one in line.channels[channel][:same] if one.cycle <= snapshot]
        if shared:
            fresh.channels[channel] = shared
            fresh.cycle = snapshot + 1
        self._lines[number] = fresh
        self._append(saver, fresh, channel, value[len(shared) :])
        return number


def _add(operations: list[dict[str, Any]], fresh: list[Any], channel: str, begin: int, cycle: int, serde: Any) -> list[messages.Kept]:
    """Adds the operations for messages. Returns the messages as they will be read."""
    kept = []
    for position, message in enumerate(fresh, begin):
        added, stored = messages.operations(message, channel, position, serde)
        operations.extend(added)
        kept.append(messages.Kept(stored, cycle))
    return kept


def _common(kept: list[messages.Kept], value: list[Any]) -> int:
    """Returns how many messages two lists have in common at their beginning."""
    count = 0
    for one, message in zip(kept, value, strict=False):
        if not one.is_equal(message):
            break
        count += 1
    return count
