"""Contexts: the turn in progress, and the past."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar
from uuid import uuid4

from ._attempt import Attempt
from ._call import Caller, text_of
from ._draw import tree_text
from ._errors import ConflictError, ContextreeError, ExistsError, NotFoundError, usage
from ._html import tree_html
from ._node import Node, Nodes, RangeDiff
from ._plain import json_text, plain
from ._results import (
    Appended,
    Applied,
    AttemptInfo,
    BudgetReport,
    CacheReport,
    Collected,
    Commit,
    ContextInfo,
    Diff,
    Explained,
    ImportResult,
    LogEntry,
    NodeEvent,
    Operation,
    Recalled,
    Redaction,
    Rendered,
    Sent,
    Status,
    StoredBudget,
    Timeline,
    Tokens,
    Undone,
)

__all__ = ["Context", "View"]

T = TypeVar("T")
Provider = Literal["anthropic", "openai", "openai-chat", "openai-responses", "gemini", "google"]
_PROVIDERS = {"openai": "openai-chat", "google": "gemini"}

# How many nodes a drawing shows.
_SHOWN = 200


def provider_of(name: str) -> str:
    """Returns the name of a provider as the engine knows it."""
    return _PROVIDERS.get(text_of(name, "provider"), name)


def budget_document(budget: str | Mapping[str, Any] | None) -> dict[str, str] | None:
    """Returns a budget (TOML or JSON text, or a dictionary) as the engine reads it."""
    if budget is None:
        return None
    text = budget if isinstance(budget, str) else json_text(budget, "budget")
    return {"name": "budget", "text": text}


def import_options(format: str, cycles: str | None, keep_going: bool, open: bool, dry_run: bool) -> dict[str, Any]:
    """Returns the request of an import."""
    request: dict[str, Any] = {"from": format, "keep_going": keep_going, "open": open, "dry_run": dry_run}
    return request if cycles is None else {**request, "cycles": cycles}


class View:
    """One state of a context, to be read: the working state, or a snapshot such as `@t-3`."""

    __slots__ = ("_call", "address", "name")

    def __init__(self, call: Caller, name: str, address: str | None) -> None:
        """Use `Store.context` or `Context.at`."""
        self._call = call
        self.name = name
        """The name of the context."""
        self.address = address
        """The address of the state; `None` for the newest one, changes in progress included."""

    def select(
        self,
        selector: str,
        *,
        where: str | None = None,
        skip: int = 0,
        limit: int | None = None,
        content: bool = False,
    ) -> Nodes:
        """Returns the nodes of this state that a selector matches, as a lazy sequence.

        The selector must not name a state of its own, unless this is the state in progress. There, a range of snapshots
        (`@t-3..@t0 …`) returns a `RangeDiff`: what the matches gained, lost and changed, with `content` also how contents changed.
        """
        at = "" if self.address in (None, "@") else f"{self.address} "
        request: dict[str, Any] = {"selector": at + text_of(selector, "selector"), "skip": skip}
        if where is not None:
            request["where"] = text_of(where, "where")
        if limit is not None:
            request["limit"] = limit
        if content:
            request["range"] = {"content": True}
        found = self._call.select(request)
        return RangeDiff(*found) if isinstance(found, tuple) else Nodes(found, found.warnings())

    def nodes(self) -> list[Node]:
        """Returns every node, in document order."""
        return [Node(node) for node in self._call.run("show", what=self.address)["nodes"]]

    def node(self, id: str) -> Node:
        """Returns a node by its id."""
        found = self._call.run("node", id=text_of(id, "id"), at=self.address or "@")
        return Node(found["node"])

    def thread(self) -> list[dict[str, Any]]:
        """Returns the blocks in document order, as plain messages."""
        thread: list[dict[str, Any]] = json.loads(self._call.run("thread", at=self.address or "@")["thread"])
        return thread

    def render(
        self,
        /,
        provider: Provider | str = "thread",
        *,
        breakpoints: bool = False,
        spans: bool = False,
        **settings: Any,
    ) -> Rendered:
        """Renders the state as the request of a provider. `settings` are its other fields: `model`, `max_tokens` …"""
        format = "thread" if provider == "thread" else provider_of(provider)
        return Rendered(
            self._call.run(
                "render",
                at=self.address or "@",
                format=format,
                breakpoints=breakpoints,
                spans=spans,
                settings=plain(settings, "settings"),
            )
        )

    def sent(self, *, spans: bool = False) -> Sent:
        """Returns the request that was sent when this snapshot was made, byte for byte."""
        return Sent(self._call.run("sent", at=self.address, spans=spans))

    def tokens(self, *, model: str | None = None, by: str | None = None, over_time: bool = False) -> Tokens:
        """Counts tokens, by role, turn or kind, for the tokenizer of a model."""
        at = None if over_time else self.address or "@"
        return Tokens(self._call.run("tokens", at=at, model=model, by=by, over_time=over_time))

    def export(self, *, history: bool = False) -> str:
        """Exports the state, or the whole history, as a document."""
        what = "history" if history else "state"
        at = None if history else self.address or "@"
        return str(self._call.run("export", at=at, what=what)["document"])

    def diff(self, other: str | View | None = None, *, select: str | None = None, values: bool = False) -> Diff:
        """Compares this state with another one: an address, or a view. Older and newer are sorted out."""
        state = other.address or "@" if isinstance(other, View) else other
        mine = self.address or "@"
        if isinstance(other, View) and other.name != self.name:
            state = other.name + (other.address or "")
        return Diff(self._call.run("diff", {} if state is None else {"from": state}, to=mine, select=select, values=values))

    def __repr__(self) -> str:
        """Returns one line."""
        return f"<contextree.{type(self).__name__} {self.name}{self.address or ''}>"

    def __str__(self) -> str:
        """Draws the tree."""
        return tree_text(self.name + (self.address or ""), self._call.run("show", what=self.address)["nodes"])

    def _repr_html_(self) -> str:
        nodes = self._call.run("show", what=self.address)["nodes"]
        return tree_html(self.name + (self.address or ""), nodes[:_SHOWN], max(len(nodes) - _SHOWN, 0))


class Context(View):
    """What the model sees: a turn in progress, and a history of snapshots. Threads may share it."""

    __slots__ = ()

    def __init__(self, call: Caller, name: str) -> None:
        """Use `Store.context`."""
        super().__init__(call, name, None)

    def add(
        self,
        /,
        content: object = None,
        *,
        role: str | None = None,
        kind: str | None = None,
        type: str | None = None,
        id: str | None = None,
        key: str | None = None,
        tags: Iterable[str] = (),
        ttl: int | None = None,
        priority: int | None = None,
        pinned: bool = False,
        removable: bool = False,
        into: str | None = None,
        offset: int | None = None,
        cue: str | None = None,
        at: str | None = None,
        spec: str | None = None,
        if_head: int | None = None,
        dry_run: bool = False,
        **attributes: Any,
    ) -> str:
        """Adds a node to the turn in progress and returns its id.

        `ttl` is the number of commits that it survives, `into` its parent (`^sys`, `^ah` or an id), `at` a position in the words of the
        selector language. Other keywords are attributes.
        """
        given: dict[str, Any] = {
            "content": plain(content, "content"),
            "role": role,
            "kind": kind,
            "nodeType": type,
            "id": id,
            "key": key,
            "tags": _tags(tags),
            "ttl": ttl,
            "priority": priority,
            "pinned": pinned or None,
            "removable": removable or None,
            **{name: plain(value, name) for name, value in attributes.items()},
        }
        node = {name: value for name, value in given.items() if value is not None}
        place: dict[str, Any] = {"parent": into, "offset": offset, "cue": cue, "at": at}
        place = {name: value for name, value in place.items() if value is not None}
        change = _change(if_head, dry_run)
        added = self._call.run("add", node=node, place=place or None, spec=spec, change=change)
        return str(added["id"])

    def system(self, /, text: object, *, pinned: bool = True, **options: Any) -> str:
        """Adds instructions to the system region, protected from pruning. Returns the id."""
        return self.add(text, role="system", into="^sys", pinned=pinned, **options)

    def user(self, /, content: object, **options: Any) -> str:
        """Adds a message of the user. Returns its id."""
        return self.add(content, role="user", **options)

    def assistant(self, /, content: object, **options: Any) -> str:
        """Adds a message of the model. Returns its id."""
        return self.add(content, role="assistant", **options)

    def tool(self, /, name: str, description: str, parameters: Mapping[str, Any], **options: Any) -> str:
        """Adds the definition of a tool to the system region: part of every request. Returns its id."""
        definition = {"name": name, "description": description, "parameters": parameters}
        options = {"pinned": True, "data_name": name, **options}
        return self.add(definition, role="system", kind="tool", into="^sys", **options)

    def image(self, /, mime: str, data: bytes, **options: Any) -> str:
        """Adds an image of the user. Returns its id."""
        try:
            text = base64.b64encode(data).decode("ascii")
        except TypeError as error:
            raise usage(f"`data` must be bytes, not `{type(data).__name__}`", "data") from error
        return self.add(text, role="user", kind="image", mime=mime, encoding="base64", **options)

    def tool_call(self, /, call_id: str, name: str, arguments: object, **options: Any) -> str:
        """Adds a tool call of the model. `complete` does this for calls in an answer. Returns the id."""
        return self.add(arguments, role="assistant", kind="call", data_call_id=call_id, data_name=name, **options)

    def tool_result(self, /, call_id: str, result: object, **options: Any) -> str:
        """Adds the result of a tool call. Returns the id."""
        return self.add(result, role="tool", kind="result", data_call_id=call_id, **options)

    def document(self, /, text: str, *, ttl: int, **options: Any) -> str:
        """Adds a text that the model needs for `ttl` calls only. Returns the id."""
        return self.add(text, kind="document", mime="text/plain", ttl=ttl, **options)

    def append(self, messages: object, *, provider: str | None = None, dry_run: bool = False) -> list[Appended]:
        """Appends messages as a provider writes them: a message, a list of messages, or a response of its SDK.

        Without `provider`, it is detected. Returns the nodes of each message; nothing is committed.
        """
        document = {"name": "messages", "text": json_text(messages, "messages")}
        request = {"messages": document, **({"from": provider} if provider is not None else {})}
        appended = self._call.run("append", request, change=_change(None, dry_run))["messages"]
        return [Appended(message) for message in appended]

    def apply(self, operations: Sequence[Mapping[str, Any]], *, dry_run: bool = False) -> list[Applied]:
        """Carries out operations in one durable step: all of them, or none."""
        given = _items(operations, "operations")
        text = "\n".join(json_text(operation, f"operations[{at}]") for at, operation in enumerate(given))
        document = {"name": "operations", "text": text}
        applied = self._call.run("apply", operations=document, change=_change(None, dry_run))["applied"]
        return [Applied(done) for done in applied]

    def edit(
        self,
        target: str | Node,
        content: object = None,
        *,
        set: Mapping[str, Any] | None = None,
        unset: Iterable[str] = (),
        dry_run: bool = False,
    ) -> list[str]:
        """Edits all nodes that the target (an id or a selector) names. Returns their ids."""
        changed: list[str] = self._call.run(
            "edit",
            target=_target(target),
            content=plain(content, "content"),
            set=plain(set, "set"),
            unset=_items(unset, "unset") or None,
            change=_change(None, dry_run),
        )["changed"]
        return changed

    def remove(self, *targets: str | Node, dry_run: bool = False) -> list[str]:
        """Removes nodes with everything below them. Snapshots keep them."""
        change = _change(None, dry_run)
        removed: list[str] = self._call.run("remove", targets=[_target(it) for it in targets], change=change)["removed"]
        return removed

    def discard(self) -> Undone:
        """Removes what is not committed. `undo` brings it back."""
        return Undone(self._call.run("discard"))

    def recall(self, id: str, *, at: str | None = None, ttl: int | None = None) -> Recalled:
        """Brings back what expired or was pruned, as a document that expires."""
        return Recalled(self._call.run("recall", id=text_of(id, "id"), at=at, ttl=ttl))

    def redact(self, target: str | Node, *, reason: str | None = None, dry_run: bool = False) -> Redaction:
        """Replaces content by a marker in every snapshot of every context, for good."""
        return Redaction(self._call.run("redact", target=_target(target), reason=reason, dry_run=dry_run))

    def history(self, id: str) -> list[NodeEvent]:
        """Lists what happened to a node, snapshot by snapshot."""
        found: list[NodeEvent] = []
        after: int | None = None
        while True:
            page = self._call.run("node-history", id=text_of(id, "id"), after=after)
            found += [NodeEvent(event) for event in page["events"]]
            after = page.get("next")
            if after is None:
                return found

    def move(
        self,
        target: str | Node,
        *,
        into: str | None = None,
        offset: int | None = None,
        cue: str | None = None,
        at: str | None = None,
    ) -> str:
        """Moves a node. Returns its id, which changes if the region does."""
        place = {"parent": into, "offset": offset, "cue": cue, "at": at}
        place = {name: value for name, value in place.items() if value is not None}
        return str(self._call.run("move", target=_target(target), place=place)["id"])

    def pin(self, *targets: str | Node) -> list[str]:
        """Protects nodes from pruning."""
        pinned: list[str] = self._call.run("pin", targets=[_target(it) for it in targets])["pinned"]
        return pinned

    def unpin(self, *targets: str | Node) -> list[str]:
        """Removes the protection from pruning."""
        unpinned: list[str] = self._call.run("unpin", targets=[_target(it) for it in targets])["unpinned"]
        return unpinned

    def attempt(
        self,
        provider: Provider | str,
        *,
        budget: str | Mapping[str, Any] | None = None,
        if_head: int | None = None,
        **settings: Any,
    ) -> Attempt:
        """Returns a model call for a `with` block. `settings` are fields of the request: `model`, `tools`, `max_tokens` …"""
        name = provider_of(provider)
        request: dict[str, Any] = {"provider": name, "settings": plain(settings, "settings")}
        if budget is not None:
            request["budget"] = budget_document(budget)
        if if_head is not None:
            request["change"] = {"if_head": if_head}
        return Attempt(self._call, name, request)

    def running(self) -> Attempt:
        """Returns the call that is running, begun by this process or another one, with the request that was sent."""
        begun = self._call.run("running")
        info = next((one for one in reversed(self.attempts()) if one.attempt_id == begun["attempt_id"]), None)
        if info is None:
            raise NotFoundError(f"the attempt `{begun['attempt_id']}` was removed by another writer", code="E_ATTEMPT_NOT_FOUND")
        return Attempt(self._call, info.provider, {"settings": {"model": info.model}}, begun)

    def attempts(self) -> list[AttemptInfo]:
        """Lists the model calls, oldest first."""
        return [AttemptInfo(attempt) for attempt in self._call.run("attempts")["attempts"]]

    def commit(
        self,
        *,
        budget: str | Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
        max_bytes: int | None = None,
        max_nodes: int | None = None,
        max_turns: int | None = None,
        protect: int | None = None,
        if_head: int | None = None,
        dry_run: bool = False,
    ) -> Commit:
        """Commits the turn in progress: expires nodes, prunes what is over a limit, seals the turn and adds a snapshot."""
        return Commit(
            self._call.run(
                "commit",
                budget=budget_document(budget),
                policy=plain(policy, "policy"),
                max_bytes=max_bytes,
                max_nodes=max_nodes,
                max_turns=max_turns,
                protect=protect,
                change=_change(if_head, dry_run),
            )
        )

    def budget(self, budget: str | Mapping[str, Any]) -> BudgetReport:
        """Returns what a commit would keep and prune under a budget in tokens. Changes nothing."""
        report = self.commit(budget=budget, dry_run=True).budget
        if report is None:
            raise usage("the commit made no report of the budget", "budget")
        return report

    def stored_budget(self) -> StoredBudget:
        """Returns the budget that is stored with the context."""
        return StoredBudget(self._call.run("budget"))

    def set_budget(self, budget: str | Mapping[str, Any]) -> StoredBudget:
        """Stores a budget with the context, for every call and commit that names no other."""
        return StoredBudget(self._call.run("budget-set", budget=budget_document(budget)))

    def unset_budget(self) -> StoredBudget:
        """Removes the budget of the context."""
        return StoredBudget(self._call.run("budget-unset"))

    def at(self, address: str) -> View:
        """Returns a state: `@t0` the newest snapshot, `@t-3`, `@c12`, or `@` the working state."""
        return View(self._call, self.name, text_of(address, "address"))

    def fork(self, name: str, *, at: str | None = None) -> Context:
        """Creates a context that begins with a state of this one."""
        self._call.run("fork", name=text_of(name, "name"), at=at)
        return Context(self._call.of(name), name)

    def undo(self, count: int | None = None) -> Undone:
        """Undoes the last operation, or several. What is undone can be redone."""
        return Undone(self._call.run("undo", count=count))

    def redo(self, count: int | None = None) -> Undone:
        """Redoes what was undone last."""
        return Undone(self._call.run("redo", count=count))

    def reset(self, to: str) -> Undone:
        """Makes a snapshot the newest one. `undo` brings later commits back."""
        return Undone(self._call.run("reset", to=text_of(to, "to")))

    def operations(self, *, limit: int | None = None) -> list[Operation]:
        """Lists what was done to the context, by which command and when, newest first."""
        return [Operation(row) for row in self._call.run("operations", limit=limit)["operations"]]

    def log(self, *, limit: int | None = None, reports: bool = False) -> list[LogEntry]:
        """Lists the snapshots, newest first."""
        return [LogEntry(entry) for entry in self._call.run("log", limit=limit, reports=reports)["entries"]]

    def timeline(self, *, limit: int | None = None) -> Timeline:
        """Lists the calls and commits, oldest first, with the user message that each serves; at most `limit` commits, the newest."""
        return Timeline(self._call.run("timeline", limit=limit))

    def status(self) -> Status:
        """Returns the newest snapshot, what is not committed, and what expires next."""
        return Status(self._call.run("status"))

    def cache_report(
        self,
        /,
        provider: Provider | str | None = None,
        *,
        limit: int | None = None,
        prices: str | None = None,
        **settings: Any,
    ) -> CacheReport:
        """Reports what each call can read from the provider's prompt cache, what was billed, and the reason for every miss."""
        return CacheReport(
            self._call.run(
                "cache",
                format=None if provider is None else provider_of(provider),
                limit=limit,
                prices=None if prices is None else {"name": "prices", "text": prices},
                settings=plain(settings, "settings") or None,
            )
        )

    def import_log(
        self,
        source: str | bytes | os.PathLike[str],
        *,
        format: str = "auto",
        cycles: str | None = None,
        keep_going: bool = False,
        open: bool = False,
        dry_run: bool = False,
    ) -> ImportResult:
        """Imports a log of another agent, a request, a snapshot or a history: a path, or the document as `bytes`.

        A context that was imported from a log gets what is new in it. Otherwise the context must be empty; it keeps its budget. One with
        a policy or with side records raises `ExistsError`: nothing of a context is lost by an import.
        """
        options = import_options(format, cycles, keep_going, open, dry_run)
        try:
            return ImportResult(self._call.import_log(options, source))
        except ExistsError:
            if dry_run or not self._is_empty():
                raise
            budget = self.stored_budget()
            row = self.info()
            # Each step that can be undone is an operation; a step with side records is not, and they would be lost.
            if budget.has_policy or row.revision != 1 + len(self.operations(limit=row.revision)):
                raise
        return self._replace(options, source, budget, row.revision)

    def _replace(self, options: dict[str, Any], source: Any, budget: StoredBudget, revision: int) -> ImportResult:
        """Imports beside this context, which has nothing, and puts the result in its place. Nothing is ever missing."""
        store = Caller(self._call.engine, None)
        fresh, aside = (f"{self.name}~{word}-{uuid4().hex[:12]}" for word in ("import", "empty"))
        done = self._call.of(fresh).import_log(options, source)
        try:
            if budget.budget is not None:
                self._call.of(fresh).run("budget-set", budget={"name": "budget", "text": budget.budget})
            store.run("rename", name=self.name, to=aside)
            try:
                # From here on, there are no writers.
                if self._call.of(aside).run("records", kind="python.none")["revision"] != revision:
                    raise ConflictError(f"`{self.name}` was written to while a log was imported into it", code="E_CONFLICT")
                store.run("rename", name=fresh, to=self.name)
            except ContextreeError:
                store.run("rename", name=aside, to=self.name)
                raise
        except ContextreeError:
            store.run("delete", name=fresh)
            raise
        store.run("delete", name=aside)
        done["name"] = done["context"]["name"] = self.name
        return ImportResult(done)

    def _is_empty(self) -> bool:
        status = self.status()
        return status.snapshots == 0 and not any(status.pending.to_dict().values()) and not self.attempts()

    def gc(self, *, keep: int | None = None, keep_days: int | None = None, dry_run: bool = False) -> Collected:
        """Drops old snapshots and returns free space."""
        return Collected(self._call.run("gc", keep=keep, keep_days=keep_days, dry_run=dry_run))

    def explain(self, selector: str) -> Explained:
        """Explains how a selector is read and evaluated."""
        return Explained(self._call.run("explain", selector=text_of(selector, "selector")))

    def info(self) -> ContextInfo:
        """Returns the row of the context in its store."""
        row = next((row for row in self._call.contexts() if row.name == self.name), None)
        if row is None:
            # It names contexts that are similar.
            self._call.run("log", limit=1)
            raise NotFoundError(f"no context `{self.name}`", code="E_CONTEXT_NOT_FOUND")
        return row


def _change(if_head: int | None, dry_run: bool) -> dict[str, Any] | None:
    return {"if_head": if_head, "dry_run": dry_run} if dry_run or if_head is not None else None


def _tags(tags: Iterable[str]) -> list[str] | None:
    return _items(tags, "tags") or None


def _items(given: Iterable[T], name: str) -> list[T]:
    """Returns a list of what was passed; a text or a mapping is not meant to be one."""
    kind = type(given).__name__
    if isinstance(given, (str, bytes, Mapping)):
        raise usage(f"`{name}` is a list, not `{kind}`", name)
    try:
        return list(given)
    except TypeError as error:
        raise usage(f"`{name}` is a list, not `{kind}`", name) from error


def _target(target: str | Node) -> str:
    return target.id if isinstance(target, Node) else text_of(target, "target")
