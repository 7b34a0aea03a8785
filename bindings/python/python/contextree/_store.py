"""Stores."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Literal

from . import _native
from ._call import Caller, is_unicode, path_of, text_of
from ._context import Context, import_options, provider_of
from ._errors import ExistsError, NotFoundError
from ._plain import json_text
from ._results import Backup, ContextInfo, ImportResult, Linted, Verification

Clock = Literal["system", "logical"]


def open(
    url: str | os.PathLike[str],
    *,
    create: bool = True,
    clock: Clock = "system",
) -> Store:
    """Opens a store: the path of a SQLite file, `postgres://…`, or `memory:`.

    Everyone in this process who opens the same file with the same clock shares one store. With `clock="logical"` the same calls give the
    same bytes. Raises `ForkedError` for a file that the parent process had open when this one was forked.
    """
    return Store(_native.Engine.open(text_of(path_of(url, "url"), "url"), create=create, clock=text_of(clock, "clock")))


class Store:
    """Contexts by name. Threads may share it; a process that is forked may not use it."""

    __slots__ = ("_call", "_engine")

    def __init__(self, engine: _native.Engine) -> None:
        """Use `contextree.open`."""
        self._engine = engine
        self._call = Caller(engine, None)

    @property
    def url(self) -> str:
        """The URL of the store, without a password."""
        return self._engine.url

    @property
    def closed(self) -> bool:
        """Whether this handle was closed."""
        return self._engine.closed

    def context(self, name: str = "main", *, create: bool = True, policy: Any = None) -> Context:
        """Returns a context. It is created if it does not exist, unless `create` is false."""
        name = text_of(name, "name")
        if not create:
            self._check(name)
        elif not self._exists(name):
            # Another process may be faster.
            with contextlib.suppress(ExistsError):
                self._call.run("new", name=name, policy=policy)
        return Context(self._call.of(name), name)

    def contexts(self) -> list[ContextInfo]:
        """Lists the contexts, by name."""
        return list(self._call.contexts())

    def delete(self, name: str) -> None:
        """Deletes a context, with everything that no other context needs."""
        self._call.run("delete", name=text_of(name, "name"))

    def rename(self, name: str, to: str) -> None:
        """Gives a context another name."""
        self._call.run("rename", name=text_of(name, "name"), to=text_of(to, "to"))

    def import_log(
        self,
        name: str,
        source: str | bytes | os.PathLike[str],
        *,
        format: str = "auto",
        cycles: str | None = None,
        keep_going: bool = False,
        open: bool = False,
        dry_run: bool = False,
    ) -> ImportResult:
        """Imports a log of another agent, a request, a snapshot or a history as a context: a path, or the document as `bytes`."""
        options = import_options(format, cycles, keep_going, open, dry_run)
        return ImportResult(self._call.of(text_of(name, "name")).import_log(options, source))

    def lint(self, requests: object, *, provider: str | None = None) -> Linted:
        """Checks requests: what their provider would refuse, and where.

        `requests` is a request, a list of messages, or a log with one on each line: objects, or JSON text. Without `provider`, it is
        detected.
        """
        text = requests if isinstance(requests, str) else json_text(requests, "requests")
        document = {"name": "requests", "text": text_of(text, "requests")}
        return Linted(self._call.run("lint", document=document, format=None if provider is None else provider_of(provider)))

    def verify(self) -> Verification:
        """Computes every digest of the store again."""
        return Verification(self._call.run("verify"))

    def backup(self, path: str | os.PathLike[str]) -> Backup:
        """Copies the store into a new file, as it is at one moment, and checks the copy."""
        return Backup(self._call.run("backup", path=text_of(path_of(path, "path"), "path")))

    def close(self) -> None:
        """Closes this handle. Calls that are running on other threads end first."""
        self._engine.close()

    def __enter__(self) -> Store:
        """Returns the store, which is closed at the end of the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the store."""
        self.close()

    def __iter__(self) -> Iterator[Context]:
        """Iterates over the contexts, by name."""
        for row in self._call.contexts():
            yield Context(self._call.of(row.name), row.name)

    def __contains__(self, name: object) -> bool:
        """Returns whether there is a context of this name."""
        return isinstance(name, str) and is_unicode(name) and self._exists(name)

    def __repr__(self) -> str:
        """Returns one line."""
        return f"<contextree.Store {self.url}{' (closed)' if self.closed else ''}>"

    def _exists(self, name: str) -> bool:
        try:
            self._check(name)
        except NotFoundError as error:
            if error.code == "E_CONTEXT_NOT_FOUND":
                return False
            raise
        return True

    def _check(self, name: str) -> None:
        """Raises an exception if there is no such context."""
        self._call.of(name).run("log", limit=1)
