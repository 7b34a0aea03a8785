"""The same calls for `asyncio`, under the same names. What may touch the disk runs on threads of our own.

Reads of a store in memory are direct calls: they take microseconds, and handing one to a thread takes fifty.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from ._attempt import Attempt
from ._context import Context, Provider, View
from ._results import Answer, AttemptInfo, Backup, ContextInfo, Finding, ImportResult, Linted, Loss, Report, Verification
from ._store import Clock, Store
from ._store import open as open_store
from ._threads import finish

__all__ = ["AsyncAttempt", "AsyncContext", "AsyncStore", "AsyncView", "open_async"]

P = ParamSpec("P")
R = TypeVar("R")

# Reads that take microseconds.
_READS = frozenset(
    {"attempts", "diff", "explain", "history", "info", "log", "node", "nodes", "operations", "select", "status", "thread", "timeline"}
)


class _Wrapped:
    """Holds the object whose calls are made."""

    __slots__ = ("_sync",)
    _sync: Any

    def __init__(self, sync: Any) -> None:
        self._sync = sync

    def __repr__(self) -> str:
        return f"<async {self._sync!r}>"


def _view(method: Callable[Concatenate[View, P], R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    return _async(method)


def _context(
    method: Callable[Concatenate[Context, P], R],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    return _async(method)


def _async(method: Callable[..., R]) -> Callable[..., Coroutine[Any, Any, R]]:
    is_read = method.__name__ in _READS

    @functools.wraps(method)
    async def call(self: _Wrapped, *args: Any, **keywords: Any) -> R:
        if is_read and self._sync._call.engine.url.startswith("memory:"):
            return method(self._sync, *args, **keywords)
        return await finish(functools.partial(method, self._sync, *args, **keywords))

    return call


class AsyncView(_Wrapped):
    """One state of a context. Like `View`, but its methods are coroutines."""

    __slots__ = ()
    _sync: Any

    @property
    def name(self) -> str:
        """The name of the context."""
        return str(self._sync.name)

    @property
    def address(self) -> str | None:
        """The address of the state."""
        address: str | None = self._sync.address
        return address

    def __str__(self) -> str:
        """Draws the tree. Like a drawing in a notebook, it is read at once."""
        return str(self._sync)

    def _repr_html_(self) -> str:
        html: str = self._sync._repr_html_()
        return html

    select = _view(View.select)
    nodes = _view(View.nodes)
    node = _view(View.node)
    thread = _view(View.thread)
    render = _view(View.render)
    sent = _view(View.sent)
    tokens = _view(View.tokens)
    export = _view(View.export)
    diff = _view(View.diff)


class AsyncContext(AsyncView):
    """A context. Like `Context`, but its methods are coroutines."""

    __slots__ = ()

    add = _context(Context.add)
    system = _context(Context.system)
    user = _context(Context.user)
    assistant = _context(Context.assistant)
    tool = _context(Context.tool)
    image = _context(Context.image)
    tool_call = _context(Context.tool_call)
    tool_result = _context(Context.tool_result)
    document = _context(Context.document)
    append = _context(Context.append)
    apply = _context(Context.apply)
    edit = _context(Context.edit)
    remove = _context(Context.remove)
    discard = _context(Context.discard)
    recall = _context(Context.recall)
    redact = _context(Context.redact)
    history = _context(Context.history)
    move = _context(Context.move)
    pin = _context(Context.pin)
    unpin = _context(Context.unpin)
    attempts = _context(Context.attempts)
    commit = _context(Context.commit)
    budget = _context(Context.budget)
    stored_budget = _context(Context.stored_budget)
    set_budget = _context(Context.set_budget)
    unset_budget = _context(Context.unset_budget)
    undo = _context(Context.undo)
    redo = _context(Context.redo)
    reset = _context(Context.reset)
    operations = _context(Context.operations)
    log = _context(Context.log)
    timeline = _context(Context.timeline)
    status = _context(Context.status)
    cache_report = _context(Context.cache_report)
    import_log = _context(Context.import_log)
    gc = _context(Context.gc)
    explain = _context(Context.explain)
    info = _context(Context.info)

    def at(self, address: str) -> AsyncView:
        """Returns a state. Nothing is read yet."""
        return AsyncView(self._sync.at(address))

    async def fork(self, name: str, *, at: str | None = None) -> AsyncContext:
        """Creates a context that begins with a state of this one."""
        return AsyncContext(await finish(lambda: self._sync.fork(name, at=at)))

    def attempt(
        self,
        provider: Provider | str,
        *,
        budget: str | Mapping[str, Any] | None = None,
        if_head: int | None = None,
        **settings: Any,
    ) -> AsyncAttempt:
        """Returns a model call for an `async with` block."""
        return AsyncAttempt(self._sync.attempt(provider, budget=budget, if_head=if_head, **settings))

    async def running(self) -> AsyncAttempt:
        """Returns the call that is running, with the request that was sent."""
        return AsyncAttempt(await finish(self._sync.running))


class AsyncAttempt(_Wrapped):
    """A model call. Like `Attempt`, but `complete` and `cancel` are coroutines."""

    __slots__ = ()
    _sync: Attempt

    @property
    def id(self) -> str:
        """The id of the attempt."""
        return self._sync.id

    @property
    def body(self) -> str:
        """The exact request as JSON text."""
        return self._sync.body

    @property
    def request(self) -> dict[str, Any]:
        """The keyword arguments for the provider's SDK."""
        return self._sync.request

    @property
    def hash(self) -> str:
        """The hash of the request."""
        return self._sync.hash

    @property
    def report(self) -> Report:
        """What the commit expires and prunes, when the call is completed."""
        return self._sync.report

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the provider would refuse or misread."""
        return self._sync.findings

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the request cannot express."""
        return self._sync.losses

    @property
    def accepted(self) -> bool:
        """False if the provider would refuse the request."""
        return self._sync.accepted

    @property
    def answer(self) -> Answer | None:
        """The answer, once the call is completed."""
        return self._sync.answer

    def feed(self, event: object) -> None:
        """Takes an event of a stream."""
        self._sync.feed(event)

    async def complete(self, response: object = None) -> Answer:
        """Completes the call."""
        return await finish(lambda: self._sync.complete(response))

    async def cancel(self, error: str | None = None) -> AttemptInfo:
        """Ends the call without an answer. Nothing is sealed."""
        return await finish(lambda: self._sync.cancel(error))

    async def __aenter__(self) -> AsyncAttempt:
        """Begins the call."""
        try:
            await finish(self._sync.__enter__)
        except asyncio.CancelledError as error:
            cancelled = error
            await finish(lambda: self._sync.end(cancelled))
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the call, if it was not completed."""
        await finish(lambda: self._sync.end(error))


class AsyncStore(_Wrapped):
    """Contexts by name. Like `Store`, but its methods are coroutines."""

    __slots__ = ()
    _sync: Store

    @property
    def url(self) -> str:
        """The URL of the store, without a password."""
        return self._sync.url

    @property
    def closed(self) -> bool:
        """Whether this handle was closed."""
        return self._sync.closed

    async def context(self, name: str = "main", *, create: bool = True, policy: Any = None) -> AsyncContext:
        """Returns a context. It is created if it does not exist, unless `create` is false."""
        return AsyncContext(await finish(lambda: self._sync.context(name, create=create, policy=policy)))

    async def contexts(self) -> list[ContextInfo]:
        """Lists the contexts, by name."""
        return await finish(self._sync.contexts)

    async def delete(self, name: str) -> None:
        """Deletes a context."""
        await finish(lambda: self._sync.delete(name))

    async def rename(self, name: str, to: str) -> None:
        """Gives a context another name."""
        await finish(lambda: self._sync.rename(name, to))

    async def import_log(self, name: str, source: str | bytes | os.PathLike[str], **options: Any) -> ImportResult:
        """Imports a log of another agent, a request, a snapshot or a history as a context."""
        return await finish(lambda: self._sync.import_log(name, source, **options))

    async def lint(self, requests: object, *, provider: str | None = None) -> Linted:
        """Checks requests: what their provider would refuse, and where."""
        return await finish(lambda: self._sync.lint(requests, provider=provider))

    async def verify(self) -> Verification:
        """Computes every digest of the store again."""
        return await finish(self._sync.verify)

    async def backup(self, path: str | os.PathLike[str]) -> Backup:
        """Copies the store into a new file."""
        return await finish(lambda: self._sync.backup(path))

    async def close(self) -> None:
        """Closes this handle."""
        await finish(self._sync.close)

    async def __aiter__(self) -> AsyncIterator[AsyncContext]:
        """Iterates over the contexts, by name."""
        for context in await finish(lambda: list(self._sync)):
            yield AsyncContext(context)

    async def __aenter__(self) -> AsyncStore:
        """Returns the store, which is closed at the end of the block."""
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the store."""
        await self.close()


async def open_async(url: str | os.PathLike[str], *, create: bool = True, clock: Clock = "system") -> AsyncStore:
    """Opens a store for `asyncio`: the path of a SQLite file, `postgres://…`, or `memory:`."""
    return AsyncStore(await finish(lambda: open_store(url, create=create, clock=clock)))
