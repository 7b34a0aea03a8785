"""Objects of the provider SDKs as plain data."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ._errors import usage

_DEPTH = 200


def plain(value: Any, place: str = "value", depth: int = 0) -> Any:
    """Returns an object as dictionaries, lists and scalars: SDK models (pydantic), dataclasses and mappings included.

    The native module checks what is left: types that JSON does not have, numbers that are not finite, lone surrogates.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if depth > _DEPTH:
        raise usage(f"`{place[:60]}` is nested deeper than {_DEPTH}, or contains itself", place[:60])
    if not isinstance(value, type):
        if callable(getattr(value, "model_dump", None)):
            return _model(value, place, depth)
        if dataclasses.is_dataclass(value):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return plain(fields, place, depth + 1)
    if isinstance(value, Mapping):
        return _mapping(cast("Any", value), place, depth + 1)
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return [plain(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(items)]
    convert = getattr(value, "to_dict", None)
    return plain(convert(), place, depth + 1) if callable(convert) and not isinstance(value, type) else value


def _mapping(value: Mapping[Any, Any], place: str, depth: int) -> dict[Any, Any]:
    return {key: plain(item, f"{place}.{key}", depth) for key, item in value.items()}


def _model(value: Any, place: str, depth: int) -> Any:
    """Returns a pydantic model as it was on the wire: by alias, without fields that were not sent."""
    try:
        return plain(_dump(value), place, depth + 1)
    except ValueError as error:
        raise usage(f"`{place}` cannot be turned into JSON: {error}", place) from error


def _dump(value: Any) -> Any:
    options = {"mode": "json", "by_alias": True, "exclude_unset": True}
    try:
        # The helpers of the SDKs fill models with objects of other types, which is not the caller's concern.
        return value.model_dump(**options, warnings=False)
    except TypeError:
        return value.model_dump(**options)


def json_text(value: object, place: str) -> str:
    """Returns an object as JSON text, with its keys in their own order."""
    data = plain(value, place)
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise usage(f"`{place}` cannot be turned into JSON: {error}", place) from error
    return text
