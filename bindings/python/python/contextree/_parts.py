"""Parts of messages that are not text, as nodes of their own: images, documents, audio, reasoning.

They are for budgets, token counts, selectors and the inspector. Loading never reads them: the whole part is kept with its message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

_MEDIA = {"image": "image", "image_url": "image", "input_image": "image", "audio": "audio", "input_audio": "audio"}
# Tool calls have nodes of their own already.
_CALLS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "function_call", "input_json_delta", "invalid_tool_call"})


def media_node(role: str, kind: str, mime: object, encoding: str, content: str) -> dict[str, Any]:
    """Returns the node of an image, a document or audio; `encoding` is `base64`, `uri` or `file_id`."""
    node: dict[str, Any] = {"role": role, "kind": kind, "content": shown(content), "encoding": encoding}
    if isinstance(mime, str) and mime:
        node["mime"] = shown(mime)
    return node


def kind_of(mime: object, otherwise: str = "document") -> str:
    """Returns the kind of a node for a media type."""
    group = mime.partition("/")[0] if isinstance(mime, str) else ""
    return group if group in ("image", "audio") else otherwise


def url_node(role: str, kind: str, mime: object, url: str) -> dict[str, Any]:
    """Returns the node for an address, which may contain the data itself."""
    head, comma, data = url.partition(",")
    if head.startswith("data:") and comma and head.endswith(";base64"):
        own = head[len("data:") : -len(";base64")].partition(";")[0] or mime
        return media_node(role, kind, own, "base64", data)
    return media_node(role, kind, mime, "uri", url)


def part_nodes(role: str, content: object) -> list[dict[str, Any]]:
    """Returns the nodes of the parts of a message, as providers and LangChain write them, that are not text."""
    parts = cast("list[object]", content) if isinstance(content, list) else []
    nodes: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, dict):
            node = _node(role, cast("dict[str, Any]", part))
            if node is not None:
                nodes.append(node)
    return nodes


def _node(role: str, part: dict[str, Any]) -> dict[str, Any] | None:
    # Anything may be stored, whether it is a part or not.
    kind = str(part.get("type"))
    if kind in _CALLS or (kind in ("text", "input_text", "output_text") and isinstance(part.get("text"), str)):
        return None
    if kind in ("reasoning", "thinking"):
        return {"role": role, "kind": "reasoning", "content": shown(_reasoning(part))}
    found = _media(role, kind, part)
    if found is not None:
        return found
    if isinstance(part.get("text"), str):
        # It is in the text of the message.
        return None
    return {"role": role, "kind": "data", "content": _json(part)}


def _reasoning(part: Mapping[str, Any]) -> str:
    for name in ("thinking", "reasoning", "text"):
        if isinstance(part.get(name), str):
            return str(part[name])
    summary = part.get("summary")
    items = cast("list[object]", summary) if isinstance(summary, list) else []
    texts = [cast("dict[str, Any]", one).get("text") for one in items if isinstance(one, dict)]
    return "\n".join(one for one in texts if isinstance(one, str))


def _media(role: str, kind: str, part: Mapping[str, Any]) -> dict[str, Any] | None:
    # Where the data is differs: beside the type, or in a field with one of these names.
    for name in ("source", "image_url", "input_audio", "file"):
        inner = part.get(name)
        if isinstance(inner, dict):
            part = {**part, **cast("dict[str, Any]", inner)}
    mime = part.get("mime_type") or part.get("media_type")
    if mime is None and kind == "input_audio" and isinstance(part.get("format"), str):
        mime = f"audio/{part['format']}"
    own = _MEDIA.get(kind) or kind_of(mime)
    for name in ("base64", "data", "file_data"):
        if isinstance(value := part.get(name), str):
            return url_node(role, own, mime, value) if value.startswith("data:") else media_node(role, own, mime, "base64", value)
    for name in ("url", "image_url", "file_uri"):
        if isinstance(value := part.get(name), str):
            return url_node(role, own, mime, value)
    if isinstance(value := part.get("file_id"), str):
        return media_node(role, own, mime, "file_id", value)
    return None


def _json(part: object) -> str:
    try:
        return shown(json.dumps(part, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""


def shown(text: str) -> str:
    """Returns a text without lone surrogates, which are not Unicode."""
    return text.encode("utf-8", "replace").decode()
