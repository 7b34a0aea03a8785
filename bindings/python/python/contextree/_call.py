"""The one door to the native module: runs commands, and passes what the engine logs on to `logging`."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

from . import _native
from ._errors import usage
from ._results import ContextInfo

LOG = logging.getLogger("contextree")
LOG.addHandler(logging.NullHandler())

# How many contexts are listed at once.
_PAGE = 1000

_level = 0


def _sync_level() -> None:
    """Tells the engine which events are wanted, if that has changed."""
    global _level
    # For `logging`, 0 on the root logger means everything; for the engine, nothing.
    level = LOG.getEffectiveLevel() or 1
    if level != _level:
        _level = level
        _native.set_log_level(min(level, 255))


def _emit() -> None:
    if _level >= logging.CRITICAL:
        return
    for level, target, message in _native.drain_log():
        logging.getLogger(target).log(level, "%s", message)


def run(engine: _native.Engine, command: str, context: str | None, request: dict[str, Any], edition: str | None = None) -> Any:
    """Runs a command of the catalogue, and passes on what the engine logs."""
    _sync_level()
    try:
        return engine.run(command, context, request, edition)
    finally:
        _emit()


class Caller:
    """A context of a store that is open, as the target of commands."""

    __slots__ = ("context", "edition", "engine")

    def __init__(self, engine: _native.Engine, context: str | None, edition: str | None = None) -> None:
        """Runs commands on a context, or on the store if `context` is `None`."""
        self.engine = engine
        self.context = context
        self.edition = edition

    def run(self, command: str, request: Mapping[str, Any] | None = None, **fields: Any) -> Any:
        """Runs a command of the catalogue. Fields that are `None` are left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        if request:
            given = {**request, **given}
        return run(self.engine, command, self.context, given, self.edition)

    def select(self, request: dict[str, Any]) -> _native.Selection | tuple[dict[str, Any], list[str]]:
        """Finds nodes by selector; for a range, returns the difference and warnings."""
        _sync_level()
        try:
            return self.engine.select(self.context, request, self.edition)
        finally:
            _emit()

    def import_log(self, request: dict[str, Any], source: str | bytes | os.PathLike[str]) -> Any:
        """Imports a document: bytes, or the path of a file."""
        _sync_level()
        if self.context is None:
            raise usage("an import needs a context")
        data = bytes(source) if isinstance(source, (bytes, bytearray)) else None
        path = None if isinstance(source, (bytes, bytearray)) else path_of(source, "source")
        # A path need not be Unicode; its name in messages is.
        name = "the document" if path is None else path.encode("utf-8", "replace").decode()
        try:
            return self.engine.import_log(self.context, request, name=name, data=data, path=path, edition=self.edition)
        finally:
            _emit()

    def contexts(self) -> Iterator[ContextInfo]:
        """Iterates over the contexts of the store, by name."""
        after: str | None = None
        while True:
            page = self.run("contexts", after=after, limit=_PAGE)["contexts"]
            yield from (ContextInfo(row) for row in page)
            if len(page) < _PAGE:
                return
            after = page[-1]["name"]

    def of(self, context: str) -> Caller:
        """Returns the same for another context."""
        return Caller(self.engine, context, self.edition)


def text_of(value: object, name: str) -> str:
    """Returns a text, or raises the exception for another type."""
    if not isinstance(value, str):
        raise usage(f"`{name}` must be a string, not `{type(value).__name__}`", name)
    if not is_unicode(value):
        raise usage(f"`{name}` has a lone surrogate, which is not Unicode", name)
    return value


def path_of(value: object, name: str) -> str:
    """Returns a path, or raises the exception for another type."""
    try:
        return os.fsdecode(value)  # type: ignore[arg-type]  # It raises the exception that is caught here.
    except TypeError as error:
        raise usage(f"`{name}` must be a string or a path, not `{type(value).__name__}`", name) from error


def is_unicode(text: str) -> bool:
    """Returns whether a text can be stored: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
