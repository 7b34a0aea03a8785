"""Trees for a terminal."""

from __future__ import annotations

from typing import Any

from ._html import label


def tree_text(title: str, nodes: list[dict[str, Any]]) -> str:
    """Draws a tree with lines."""
    levels = [len(node["derived"]["path"]) for node in nodes]
    lines = [title]
    # Whether a node of this level follows below, from the last line up.
    open_at: dict[int, bool] = {}
    drawn: list[str] = []
    for node, level in zip(reversed(nodes), reversed(levels), strict=True):
        stem = "".join("│  " if open_at.get(above) else "   " for above in range(1, level))
        branch = "" if level == 0 else "├─ " if open_at.get(level) else "└─ "
        open_at = {at: open for at, open in open_at.items() if at < level}
        open_at[level] = True
        name, content = label(node, 60)
        drawn.append(f"{stem}{branch}{node['id']}  {name}  {content}".rstrip())
    return "\n".join(lines + drawn[::-1])
