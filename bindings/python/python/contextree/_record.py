"""Frozen results: typed fields over the JSON that the command returned."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast, overload

T = TypeVar("T")
R = TypeVar("R", bound="Record")
S = TypeVar("S", bound="Record")


class Field(Generic[T]):
    """A field of a record, under the name that it has in JSON."""

    __slots__ = ("_default", "_make", "name")

    def __init__(self, name: str = "", *, default: Any = None, make: Callable[[Any], T] | None = None) -> None:
        """Reads `name`, or the name of the attribute; `make` turns the JSON into something else."""
        self.name = name
        self._default = default
        self._make = make

    def __set_name__(self, owner: type[Record], name: str) -> None:
        """Takes the name of the attribute."""
        self.name = self.name or name

    @overload
    def __get__(self, record: None, owner: type[Record]) -> Field[T]: ...
    @overload
    def __get__(self, record: Record, owner: type[Record]) -> T: ...
    def __get__(self, record: Record | None, owner: type[Record]) -> Field[T] | T:
        """Returns the value of the field."""
        if record is None:
            return self
        value = record._json().get(self.name, self._default)
        make = self._make
        if make is not None:
            return make(value)
        # A copy: the record itself never changes.
        return cast("T", copy.deepcopy(value) if type(value) in (list, dict) else value)


class Record:
    """A result. It never changes; `to_dict()` returns the JSON that `ctx --json` prints for it."""

    __slots__ = ("_data",)
    _data: dict[str, Any]

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Wraps the JSON of a result."""
        object.__setattr__(self, "_data", data)

    def _json(self) -> dict[str, Any]:
        return self._data

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as JSON data, a copy."""
        return copy.deepcopy(self._json())

    def to_json(self) -> str:
        """Returns the result as JSON text with sorted keys, byte for byte what `ctx --json` prints."""
        return json.dumps(self._json(), sort_keys=True, separators=(",", ":"))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuses: results are frozen."""
        raise AttributeError(f"`{type(self).__name__}` is frozen")

    def __eq__(self, other: object) -> bool:
        """Compares by content."""
        if isinstance(other, Record):
            return type(self) is type(other) and self._json() == other._json()
        return NotImplemented

    def __hash__(self) -> int:
        """Hashes the content."""
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets records be pickled and copied."""
        return (type(self), (self.to_dict(),))

    def __repr__(self) -> str:
        """Returns one line with the short fields."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self._shown())
        return f"{type(self).__name__}({shown})"

    def _shown(self) -> Iterator[tuple[str, Any]]:
        for kind in type(self).__mro__:
            for name, field in vars(kind).items():
                if isinstance(field, Field):
                    value = getattr(self, name)
                    if isinstance(value, (str, int, bool, float)) and len(str(value)) <= 80:
                        yield name, value


def one(kind: type[R]) -> Field[R]:
    """Returns a field that is a record."""
    return Field(make=kind)


def maybe(kind: type[R]) -> Field[R | None]:
    """Returns a field that is a record or absent."""
    return Field(make=lambda data: None if data is None else kind(data))


def many(kind: type[R]) -> Field[tuple[R, ...]]:
    """Returns a field that is a list of records."""
    return Field(make=lambda data: tuple(kind(item) for item in data or ()))


def texts() -> Field[tuple[str, ...]]:
    """Returns a field that is a list of texts."""
    return Field(make=lambda data: tuple(data or ()))
