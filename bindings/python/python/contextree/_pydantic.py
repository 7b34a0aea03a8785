"""Messages of Pydantic AI as nodes, and back without loss."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse

from ._call import is_unicode
from ._errors import unserializable
from ._parts import kind_of, media_node, url_node

# The attribute of a message's first node that has everything but the texts of its parts.
RAW = "data_pai"

_TEXTS = ("system-prompt", "user-prompt", "text", "thinking", "tool-return")


def to_nodes(message: ModelMessage) -> list[dict[str, Any]]:
    """Returns one node for each part of a message, or one for a message without parts; those of images and other data follow."""
    data = _dump(message)
    role = "assistant" if isinstance(message, ModelResponse) else "user"
    nodes = [_node(part, role) for part in data["parts"]] or [{"role": role, "kind": "text", "content": ""}]
    raw = _shorter(data, nodes)
    if _dump(_load(raw, nodes)) != data:
        raw = json.dumps(data, ensure_ascii=True)
    nodes[0][RAW] = raw
    # After the others: loading takes the texts of the parts from the first nodes.
    return nodes + [media for part, node in zip(data["parts"], nodes, strict=False) for media in _media(part, node)]


def to_messages(nodes: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], ModelMessage]]:
    """Returns the messages that nodes were made of, each with its first node."""
    found: list[tuple[dict[str, Any], ModelMessage]] = []
    for begin, node in enumerate(nodes):
        if RAW in node:
            end = begin + 1
            while end < len(nodes) and RAW not in nodes[end]:
                end += 1
            found.append((node, _load(node[RAW], nodes[begin:end])))
    return found


def _dump(message: ModelMessage) -> dict[str, Any]:
    try:
        data: dict[str, Any] = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    except Exception as error:
        raise unserializable("the message", error) from error
    return data


def _load(raw: str, nodes: Sequence[dict[str, Any]]) -> ModelMessage:
    data = json.loads(raw)
    for part, node in zip(data["parts"], nodes, strict=False):
        if part["part_kind"] in _TEXTS:
            part.setdefault("content", node.get("content") or "")
    return ModelMessagesTypeAdapter.validate_python([data])[0]


def _shorter(data: dict[str, Any], nodes: Sequence[dict[str, Any]]) -> str:
    """Returns a message as text, without what its nodes have and without empty fields."""
    short = _filled(data)
    short["parts"] = [_filled(part) for part in data["parts"]]
    for part, node in zip(short["parts"], nodes, strict=False):
        if part["part_kind"] in _TEXTS and part.get("content") == node["content"]:
            del part["content"]
    if isinstance(usage := short.get("usage"), dict):
        short["usage"] = {name: value for name, value in usage.items() if value}
    text = json.dumps(short, ensure_ascii=False, separators=(",", ":"))
    return text if is_unicode(text) else json.dumps(short, separators=(",", ":"))


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _node(part: dict[str, Any], role: str) -> dict[str, Any]:
    """Returns the node of a part: role, kind, the name of the tool and the id of the call."""
    kind = part["part_kind"]
    content = part.get("content")
    node: dict[str, Any] = {"role": role, "kind": "text", "content": _text(content)}
    if kind == "system-prompt":
        node["role"] = "system"
    elif kind == "thinking":
        node["kind"] = "reasoning"
    elif kind == "tool-call":
        args = part.get("args")
        node["kind"] = "call"
        node["content"] = args if isinstance(args, str) else json.dumps(args if args is not None else {})
    elif kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
        node.update(role="tool", kind="result", content=content if isinstance(content, str) else json.dumps(content))
        if kind == "retry-prompt" or part.get("outcome") not in (None, "success"):
            node["data_is_error"] = True
    elif kind not in ("user-prompt", "text", "retry-prompt", "retry-feedback"):
        node["role"] = f"pydantic-ai:{kind}"
    if kind in ("tool-call", "tool-return", "retry-prompt"):
        for name, field in (("data_name", "tool_name"), ("data_call_id", "tool_call_id")):
            if isinstance(value := part.get(field), str) and value and is_unicode(value):
                node[name] = value
        if node["kind"] == "text":
            node.pop("data_call_id", None)
    if not is_unicode(node["content"]):
        node["content"] = cast(str, node["content"]).encode("utf-8", "replace").decode()
    return node


def _media(part: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the nodes of the images and other data of a part. Those of a tool's result are in its text already."""
    content = part.get("content")
    if node["kind"] == "result":
        return []
    role = node["role"] if part["part_kind"] != "file" else "assistant"
    found: list[dict[str, Any]] = []
    for one in content if isinstance(content, list) else [content]:
        if not isinstance(one, dict):
            continue
        kind, mime = str(one.get("kind")), one.get("media_type")
        if isinstance(one.get("data"), str):
            # The framework writes the URL-safe alphabet.
            data = one["data"].replace("-", "+").replace("_", "/")
            found.append(media_node(role, kind_of(mime), mime, "base64", data))
        elif isinstance(one.get("url"), str):
            found.append(url_node(role, kind_of(kind.replace("-", "/")), mime, one["url"]))
        elif isinstance(one.get("file_id"), str):
            found.append(media_node(role, kind_of(mime), mime, "file_id", one["file_id"]))
    return found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [one if isinstance(one, str) else one.get("content") for one in parts if isinstance(one, (str, dict))]
    return "\n".join(one for one in texts if isinstance(one, str))
