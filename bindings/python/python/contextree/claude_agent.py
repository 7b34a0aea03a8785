"""Sessions of the Claude Agent SDK in a Contextree store.

    from contextree.claude_agent import ContextreeSessionStore

    options = ClaudeAgentOptions(session_store=ContextreeSessionStore("agent.db"))

A transcript is a context: every entry is a node. Transcripts of subagents are contexts of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar, cast
from urllib.parse import unquote

from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from ._adapter import Records, Target, expecting, name_of, record, store_of
from ._errors import ConflictError, unserializable
from ._parts import part_nodes
from ._parts import shown as _clean
from ._threads import Lock, finish, tries

__all__ = ["ContextreeSessionStore"]

_T = TypeVar("_T")
_ENTRY = "claude-agent.entry"
_SUMMARY = "claude-agent.summary"


class ContextreeSessionStore(SessionStore):
    """Keeps the transcripts that the SDK mirrors, and returns them for resuming.

    An entry with a `uuid` that is stored already is ignored, so a batch that is sent again is stored once. Entries without one are always
    added. Several processes may append to one session.
    """

    def __init__(self, store: Target, *, prefix: str = "claude-agent/") -> None:
        """Uses a store: a path, a URL, or one that is open."""
        self.store = store_of(store)
        self.prefix = prefix
        self._records = Records(self.store)
        self._lock = Lock()

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Adds entries in one durable step, with the session's summary.

        Raises `SerializationError` if one of them is not JSON; nothing is stored then.
        """
        if entries:
            await self._run(self._append, key, entries)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Returns all entries; `None` if nothing was ever appended."""
        return await self._run(self._load, self._name(key))

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Lists the sessions of a project, with the time of their last step."""
        found = await self._run(self._sessions, project_key)
        return [{"session_id": session, "mtime": mtime} for session, _, mtime in found]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Returns the summaries of all sessions of a project."""

        def read() -> list[SessionSummaryEntry]:
            summaries = []
            for session, name, mtime in self._sessions(project_key):
                value = self._records.one(name, _SUMMARY, "")
                if value is not None:
                    summaries.append({"session_id": session, "mtime": mtime, "data": json.loads(value)})
            return cast("list[SessionSummaryEntry]", summaries)

        return await self._run(read)

    async def delete(self, key: SessionKey) -> None:
        """Deletes a transcript; with it those of its subagents, unless the key names one of them."""

        def delete() -> None:
            name = self._name(key)
            below = [] if key.get("subpath") else self._records.names(name + "/")
            # The session itself last: what a crash leaves is deleted by the next try.
            for one in [*below, name]:
                self._records.delete(one)

        await self._run(delete)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Lists the transcripts of the session's subagents."""
        name = self._name(cast(SessionKey, key)) + "/"
        names = await self._run(self._records.names, name)
        return [unquote(one[len(name) :]) for one in names]

    async def _run(self, work: Callable[..., _T], *values: Any) -> _T:
        return await finish(lambda: work(*values))

    def _name(self, key: SessionKey) -> str:
        name = f"{self.prefix}{name_of(key['project_key'])}/{name_of(key['session_id'])}"
        subpath = key.get("subpath")
        return f"{name}/{name_of(subpath)}" if subpath else name

    def _sessions(self, project_key: str) -> list[tuple[str, str, int]]:
        prefix = f"{self.prefix}{name_of(project_key)}/"
        rows = [row for row in self._records.rows(prefix) if "/" not in row["name"][len(prefix) :]]
        return [(unquote(row["name"][len(prefix) :]), row["name"], row["updated_ns"] // 1_000_000) for row in rows]

    def _load(self, name: str) -> list[SessionStoreEntry] | None:
        if not self._records.exists(name):
            return None
        nodes = self._records.nodes(name)
        return [json.loads(node["data_cc"]) for node in nodes if "data_cc" in node]

    def _append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        name = self._name(key)
        for _ in tries(f"the transcript `{name}`"):
            with self._lock:
                try:
                    self._step(name, key, entries)
                except ConflictError:
                    # Another process was faster: look again at what is stored.
                    continue
                return

    def _step(self, name: str, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        ids = [uuid for entry in entries if isinstance(uuid := entry.get("uuid"), str)]
        known = set(self._records.get(name, _ENTRY, ids)) if ids else set()
        fresh = []
        for entry in entries:
            uuid = entry.get("uuid")
            if not isinstance(uuid, str):
                fresh.append(entry)
            elif uuid not in known:
                known.add(uuid)
                fresh.append(entry)
        if not fresh:
            return
        added = [one for entry in fresh if isinstance(one := entry.get("uuid"), str)]
        changes = [record(_ENTRY, uuid, b"", absent=True) for uuid in added]
        if key.get("subpath") is None:
            before = self._records.one(name, _SUMMARY, "")
            summary: Any = None
            if before is not None:
                summary = {"session_id": key["session_id"], "mtime": 0, "data": json.loads(before)}
            folded = fold_session_summary(summary, key, fresh)["data"]
            changes.append(record(_SUMMARY, "", json.dumps(folded).encode(), **expecting(before)))
        operations = [operation for entry in fresh for operation in _operations(entry)]
        # A prompt follows an answer: the turn before is complete.
        self._records.put(name, changes, operations, commit_before=any(map(_is_prompt, fresh)))


def _parts(entry: SessionStoreEntry) -> list[Any]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _is_prompt(entry: SessionStoreEntry) -> bool:
    """Returns whether an entry is what a person wrote."""
    kinds = [part.get("type") for part in _parts(entry) if isinstance(part, dict)]
    return entry.get("type") == "user" and bool(kinds) and "tool_result" not in kinds


def _operations(entry: SessionStoreEntry) -> list[dict[str, Any]]:
    """Returns the operations that add an entry: a node with all of it as text, then its tool calls and results."""
    kind = str(entry.get("type"))
    role = kind if kind in ("user", "assistant", "system") else f"claude-code:{kind}"
    parts = [part for part in _parts(entry) if isinstance(part, dict)]
    texts = [part.get("text") for part in parts if part.get("type") == "text"]
    text = "\n".join(one for one in texts if isinstance(one, str))
    try:
        raw = json.dumps(entry)
    except Exception as error:
        raise unserializable(f"the entry of type `{_clean(kind)}`", error) from error
    nodes: list[dict[str, Any]] = [{"role": _clean(role), "kind": "text", "content": _clean(text), "data_cc": raw}]
    for part in parts:
        if part.get("type") == "tool_use":
            call = {"role": "assistant", "kind": "call", "content": json.dumps(part.get("input"))}
            nodes.append({**call, "data_name": _clean(str(part.get("name"))), "data_call_id": _clean(str(part.get("id")))})
        elif part.get("type") != "tool_result":
            nodes += part_nodes(_clean(role), [part])
        else:
            shown = part.get("content")
            shown = shown if isinstance(shown, str) else json.dumps(shown)
            node: dict[str, Any] = {"role": "tool", "kind": "result", "content": _clean(shown)}
            node["data_call_id"] = _clean(str(part.get("tool_use_id")))
            if part.get("is_error") is True:
                node["data_is_error"] = True
            nodes.append(node)
    return [{"op": "add", "node": node} for node in nodes]
