"""LangChain messages as nodes, and back without loss."""

from __future__ import annotations

import copy
import json
from base64 import b64decode, b64encode
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ._errors import unserializable
from ._parts import part_nodes
from ._parts import shown as _shown

_SERDE = JsonPlusSerializer()

_CLASSES: dict[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
}
_NAMES = {kind: name for name, kind in _CLASSES.items()}
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_SIMPLE = (str, int, float, bool, type(None))
_new = object.__new__
_set = object.__setattr__


class Kept:
    """A message as it was stored. What leaves the adapter is always a copy, so that nothing outside can change it."""

    __slots__ = ("_deep", "_extra", "_fields", "_set_fields", "cycle", "kind")

    def __init__(self, message: BaseMessage, cycle: int) -> None:
        """Keeps a copy of a message that is sealed by the commit `cycle`."""
        self.kind = type(message)
        self.cycle = cycle
        self._fields = dict(message.__dict__)
        # Only what can be changed in place has to be copied.
        self._deep = [name for name, value in self._fields.items() if not isinstance(value, _SIMPLE)]
        for name in self._deep:
            self._fields[name] = copy.deepcopy(self._fields[name])
        self._set_fields = set(message.__pydantic_fields_set__)
        self._extra = copy.deepcopy(message.__pydantic_extra__)

    def copy(self) -> BaseMessage:
        """Returns the message."""
        message = _new(self.kind)
        fields = self._fields.copy()
        for name in self._deep:
            value = fields[name]
            # Most are empty lists and dictionaries. Arrays do not say whether they are empty.
            fields[name] = type(value)() if type(value) in (list, dict) and not value else copy.deepcopy(value)
        _set(message, "__dict__", fields)
        _set(message, "__pydantic_fields_set__", self._set_fields.copy())
        _set(message, "__pydantic_extra__", copy.deepcopy(self._extra) if self._extra else self._extra)
        _set(message, "__pydantic_private__", None)
        return message

    def is_equal(self, message: BaseMessage) -> bool:
        """Returns whether a message is the one that is kept."""
        if type(message) is not self.kind:
            return False
        try:
            return bool(message.__dict__ == self._fields and (message.__pydantic_extra__ or None) == (self._extra or None))
        except Exception:
            # Arrays and tables do not say whether they are equal; what they are stored as does.
            return bool(_SERDE.dumps_typed(message) == _SERDE.dumps_typed(self.copy()))


def is_messages(value: Any) -> bool:
    """Returns whether a value is a list of messages, and not an empty one."""
    return type(value) is list and bool(value) and all(isinstance(one, BaseMessage) for one in value)


def write(message: BaseMessage, serde: Any) -> tuple[str, str]:
    """Returns the text of a message's content, and the rest of the message as text."""
    content = message.content
    name = _NAMES.get(type(message))
    text = content if isinstance(content, str) else _text(content)
    if name is not None and message.__pydantic_private__ is None:
        try:
            fields = _fields(message)
            raw = json.dumps([name, fields], ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            raw.encode()
            text.encode()
            if Kept(read(text, raw, serde), 0).is_equal(message):
                return text, raw
        except (TypeError, ValueError, RecursionError):
            # Not JSON: the framework's serializer keeps it.
            pass
    try:
        kind, data = serde.dumps_typed(message)
    except Exception as error:
        raise unserializable(f"the {message.type} message", error) from error
    return _shown(text), f"{kind}:{b64encode(data).decode('ascii')}"


def _fields(message: BaseMessage) -> dict[str, Any]:
    """Returns the fields of a message without those that have their defaults, and without a content that is a text."""
    fields = dict(message.__dict__)
    if isinstance(message.content, str):
        del fields["content"]
    defaults = type(message).model_fields
    for field, value in list(fields.items()):
        known = defaults.get(field)
        if known is not None and not known.is_required() and value == known.get_default(call_default_factory=True):
            del fields[field]
    return fields


def read(text: str, raw: str, serde: Any) -> BaseMessage:
    """Returns the message that `write` was given."""
    if raw.startswith("["):
        name, fields = json.loads(raw)
        fields.setdefault("content", text)
        return _CLASSES[name](**fields)
    kind, _, data = raw.partition(":")
    message: BaseMessage = serde.loads_typed((kind, b64decode(data)))
    return message


def _text(content: Any) -> str:
    parts = [one if isinstance(one, str) else one.get("text", "") for one in content if isinstance(one, (str, dict))]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def operations(message: BaseMessage, channel: str, position: int, serde: Any) -> tuple[list[dict[str, Any]], BaseMessage]:
    """Returns the operations that add a message, and the message as it will be read.

    The first node is its text with everything needed to load it; its other parts and its tool calls follow.
    """
    text, raw = write(message, serde)
    node: dict[str, Any] = {
        "role": _ROLES.get(message.type, f"langchain:{message.type}"),
        "kind": "text",
        "content": text,
        "data_lc": raw,
        "data_lc_pos": position,
    }
    if channel != "messages":
        node["data_lc_channel"] = channel
    calls = getattr(message, "tool_calls", None) or []
    unit = next((call.get("id") for call in calls if call.get("id")), None)
    if isinstance(message, ToolMessage):
        node["kind"] = "result"
        node["data_call_id"] = _shown(message.tool_call_id)
        if message.name:
            node["data_name"] = _shown(message.name)
        if message.status == "error":
            node["data_is_error"] = True
    elif unit is not None:
        node["data_call_id"] = _shown(unit)
    added = [{"op": "add", "node": node}]
    for part in part_nodes(node["role"], message.content):
        for name in ("data_lc_channel", "data_call_id"):
            if name in node:
                part[name] = node[name]
        added.append({"op": "add", "node": part})
    for call in calls:
        own: dict[str, Any] = {"role": "assistant", "kind": "call", "data_name": _shown(call.get("name") or "unknown")}
        try:
            own["content"] = json.dumps(call.get("args"), ensure_ascii=False, allow_nan=False)
            own["content"].encode()
        except (TypeError, ValueError):
            own["content"] = "{}"
        if call.get("id"):
            own["data_call_id"] = _shown(call["id"])
        if channel != "messages":
            own["data_lc_channel"] = channel
        added.append({"op": "add", "node": own})
    # A serializer may change what it cannot keep.
    return added, message if raw.startswith("[") else read(text, raw, serde)


def awaits_model(message: BaseMessage) -> bool:
    """Returns whether the model is called next: its input is complete, so the turn is sealed."""
    return not isinstance(message, AIMessage)
