"""Objects of the provider SDKs as plain data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import usage

_DEPTH = 200


def plain(value: object, place: str = "value", depth: int = 0) -> Any:
    """Returns an object as dictionaries, lists and scalars: SDK models (pydantic), dataclasses and mappings included.

    The native module checks what is left: types that JSON does not have, numbers that are not finite, lone surrogates.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if depth > _DEPTH:
        raise usage(f"`{place}` is nested deeper than {_DEPTH}, or contains itself", place[:60])
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _model(value, place, depth)
    if isinstance(value, Mapping):
        found: dict[Any, Any] = {}
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            found[key] = plain(item, f"{place}.{key}", depth + 1)  # pyright: ignore[reportUnknownArgumentType]
        return found
    if isinstance(value, (list, tuple)):
        items: Sequence[object] = value  # pyright: ignore[reportUnknownVariableType]
        return [plain(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(items)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return plain(fields, place, depth + 1)
    convert = getattr(value, "to_dict", None)
    if callable(convert):
        return plain(convert(), place, depth + 1)
    return value


def _model(value: Any, place: str, depth: int) -> Any:
    """Returns a pydantic model as it came over the wire: by alias, without fields that were not sent."""
    try:
        return plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True), place, depth + 1)
    except ValueError as error:
        raise usage(f"`{place}` cannot be turned into JSON: {error}", place) from error


def json_text(value: object, place: str) -> str:
    """Returns an object as JSON text, with its keys in their own order."""
    data = plain(value, place)
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise usage(f"`{place}` cannot be turned into JSON: {error}", place) from error
    return text
