"""Exceptions: one class for each kind of failure, with the stable code that every door of Contextree uses."""

from __future__ import annotations

from typing import Any

from . import _native

__all__ = [
    "ClosedError",
    "ConflictError",
    "ContextreeError",
    "CorruptError",
    "DeniedError",
    "ExistsError",
    "ForkedError",
    "InternalError",
    "LimitError",
    "NotFoundError",
    "SealedError",
    "SelectorError",
    "SerializationError",
    "StoreError",
    "UnavailableError",
    "UsageError",
    "VersionError",
]


class ContextreeError(Exception):
    """Why a call failed. `code` never changes; docs/errors.md lists all codes."""

    code: str
    """The stable code, such as `E_SEALED`."""
    message: str
    """What is wrong, in one sentence."""
    location: str | None
    """Where: a place in a value, a line, a span of a selector, or a node."""
    hint: str | None
    """What to do next."""
    details: dict[str, Any]
    """What programs need to know, as in the `--json` output of `ctx`."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "E_USAGE",
        details: dict[str, Any] | None = None,
        drawing: str | None = None,
    ) -> None:
        """Makes an exception as the engine would raise it."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.location = _location(self.details)
        hints: list[str] = list(self.details.get("hints", []))
        self.hint = "; ".join(hints) or None
        self._drawing = drawing

    def __str__(self) -> str:
        """Returns the message with its code, the place and the hint."""
        text = self._drawing.rstrip() if self._drawing else f"{self.message} [{self.code}]"
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets the exception cross process boundaries, as `concurrent.futures` needs."""
        return (make, (self.code, self.message, self.details, self._drawing))

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON form: what `ctx --json` prints."""
        return {"error": {"code": self.code, "message": self.message, "details": self.details}}


class UsageError(ContextreeError, ValueError):
    """The call is wrong: an argument, a document, a rule of the tree. Repeating it does not help."""


class SelectorError(UsageError):
    """The selector is invalid. `str(error)` points at the place with a caret."""


class SerializationError(UsageError, TypeError):
    """An object of a framework cannot be serialized. Nothing of the call was stored; `__cause__` is what the serializer raised."""


class ClosedError(UsageError):
    """The store was closed."""


class ForkedError(UsageError):
    """A store, or something on it, was opened before `os.fork()`, and is used or opened again in the child."""


class NotFoundError(ContextreeError, LookupError):
    """Something that was named does not exist."""


class ExistsError(ContextreeError):
    """Something of this name exists already."""


class ConflictError(ContextreeError):
    """Another writer was faster. Read again and repeat."""


class SealedError(ContextreeError):
    """The past, or a call in flight, does not change."""


class DeniedError(ContextreeError):
    """The caller may not do this."""


class LimitError(ContextreeError):
    """A limit of size or count would be exceeded."""


class CorruptError(ContextreeError):
    """Stored or imported bytes are damaged."""


class StoreError(ContextreeError):
    """A file, a stream or a store could not be read or written."""


class VersionError(StoreError):
    """A newer version of Contextree wrote the store."""


class UnavailableError(ContextreeError):
    """A store is busy or out of reach. Try again later."""


class InternalError(ContextreeError):
    """A bug in Contextree. Please report it."""


_KINDS: dict[str, type[ContextreeError]] = {
    "usage": UsageError,
    "not_found": NotFoundError,
    "exists": ExistsError,
    "conflict": ConflictError,
    "sealed": SealedError,
    "denied": DeniedError,
    "limit": LimitError,
    "corrupt": CorruptError,
    "io": StoreError,
    "unavailable": UnavailableError,
    "internal": InternalError,
}

_CODES: dict[str, type[ContextreeError]] = {
    **{code: _KINDS[kind] for code, kind in _native.codes()},
    "E_NOT_SERIALIZABLE": SerializationError,
    "E_SELECTOR_INVALID": SelectorError,
    "E_SNAPSHOT_RANGE_KIND_MISMATCH": SelectorError,
    "E_SNAPSHOT_RANGE_WILDCARD": SelectorError,
    "E_STORE_CLOSED": ClosedError,
    "E_STORE_FORKED": ForkedError,
    "E_STORE_VERSION": VersionError,
}


def make(code: str, message: str, details: dict[str, Any], drawing: str | None) -> ContextreeError:
    """Returns the exception for a code. The native module calls this."""
    kind = _CODES.get(code, InternalError)
    return kind(message, code=code, details=details, drawing=drawing)


def usage(message: str, place: str | None = None, hint: str | None = None) -> UsageError:
    """Returns the exception for an invalid argument that Python itself notices."""
    details: dict[str, Any] = {} if place is None else {"place": place}
    if hint is not None:
        details["hints"] = [hint]
    return UsageError(message, details=details)


def unserializable(what: str, error: Exception) -> SerializationError:
    """Returns the exception for an object that a serializer refused with `error`."""
    reason = f"{type(error).__name__}: {error}"[:500].encode("utf-8", "replace").decode()
    hints = ["convert the object, or leave it out; nothing of this call was stored"]
    return SerializationError(f"{what} cannot be serialized: {reason}", code="E_NOT_SERIALIZABLE", details={"hints": hints})


def _location(details: dict[str, Any]) -> str | None:
    if "line" in details:
        column = details.get("column")
        return f"line {details['line']}" + (f", column {column}" if column else "")
    errors = details.get("errors")
    span = errors[0].get("span") if errors else details.get("span")
    if span:
        return f"bytes {span[0]}..{span[1]}"
    place = details.get("place")
    return str(place) if place else None
