"""Drawings for notebooks: HTML without scripts and external assets, in the colours of a light or a dark page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

_STYLE = """<style>
.contextree{font:13px/1.5 ui-monospace,monospace;color-scheme:light dark;--dim:#667085;--line:#d0d5dd;--add:#116329;
--del:#a40e26;--chg:#7d4e00;--bar:#3b82f6;max-width:100%;overflow-x:auto}
@media (prefers-color-scheme:dark){.contextree{--dim:#98a2b3;--line:#475467;--add:#4ac26b;--del:#ff7b72;--chg:#e3b341;--bar:#60a5fa}}
[data-jp-theme-light=true] .contextree,.vscode-light .contextree{color-scheme:light;--dim:#667085;--line:#d0d5dd;--add:#116329;
--del:#a40e26;--chg:#7d4e00;--bar:#3b82f6}
[data-jp-theme-light=false] .contextree,.vscode-dark .contextree{color-scheme:dark;--dim:#98a2b3;--line:#475467;--add:#4ac26b;--del:#ff7b72;
--chg:#e3b341;--bar:#60a5fa}
.contextree table{border-collapse:collapse;font:inherit}
.contextree th,.contextree td{text-align:left;padding:1px 10px 1px 0;border:0;border-bottom:1px solid var(--line);vertical-align:top}
.contextree td.n{text-align:right}.contextree .d{color:var(--dim)}.contextree .a{color:var(--add)}.contextree .r{color:var(--del)}
.contextree .c{color:var(--chg)}.contextree ul{list-style:none;margin:0;padding-left:1.4em}.contextree>ul{padding-left:0}
.contextree meter{width:12em;vertical-align:middle}
</style>"""


def _page(*parts: str) -> str:
    return f'{_STYLE}<div class="contextree">{"".join(parts)}</div>'


def _text(value: object, limit: int = 100) -> str:
    text = " ".join(str(value).split())
    return escape(text if len(text) <= limit else text[: limit - 1] + "…")


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines: list[str] = []
    for row in rows:
        cells = (f'<td class="{"n" if isinstance(cell, int) else ""}">{_text(cell)}</td>' for cell in row)
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def label(node: dict[str, Any], limit: int = 80) -> tuple[str, str]:
    """Returns the name of a node and the beginning of its content."""
    names = [str(node["nodeType"])]
    names += [str(node[name]) for name in ("role", "kind", "key") if node.get(name)]
    if node.get("ttl") is not None:
        names.append(f"ttl={node['ttl']}")
    if node["derived"].get("pinned", node.get("pinned")):
        names.append("pinned")
    content = node.get("content")
    shown = "" if content is None else " ".join(str(content).split())
    return " ".join(names), shown if len(shown) <= limit else shown[: limit - 1] + "…"


def tree_html(title: str, nodes: list[dict[str, Any]], left_out: int) -> str:
    """Draws a tree."""
    parts = [f"<div><b>{escape(title)}</b></div><ul>"]
    depth = 0
    for node in nodes:
        level = len(node["derived"]["path"])
        parts.append("<ul>" * max(level - depth, 0) + "</ul>" * max(depth - level, 0))
        depth = level
        name, content = label(node)
        parts.append(f'<li>{escape(name)} <span class="d">{escape(node["id"])}</span> {escape(content)}</li>')
    parts.append("</ul>" * (depth + 1))
    if left_out:
        parts.append(f'<div class="d">… {left_out} more nodes</div>')
    return _page(*parts)


def diff_html(diff: dict[str, Any]) -> str:
    """Draws a diff."""
    changes = diff["diff"]
    parts = [f"<div><b>{_text(diff['older']['label'])} → {_text(diff['newer']['label'])}</b></div><ul>"]
    parts += [f'<li class="r">− {_text(node)}</li>' for node in changes["removed"]]
    parts += [f'<li class="a">+ {_text(node)}</li>' for node in changes["added"]]
    parts += [
        f'<li class="c">~ {_text(node["id"])} <span class="d">{_text(", ".join(node["fields"]))}</span></li>' for node in changes["changed"]
    ]
    if not any(changes.values()):
        parts.append('<li class="d">no changes</li>')
    return _page(*parts, "</ul>")


def budget_html(budget: dict[str, Any]) -> str:
    """Draws a budget."""
    before, after = budget["tokens_before"], budget["tokens_after"]
    state = "kept" if budget["kept"] else "not kept"
    parts = [
        f"<div><b>budget {state}</b>: {after:,} of {before:,} tokens stay ",
        f'<meter min="0" max="{max(before, 1)}" value="{after}"></meter> ',
        f'<span class="d">{_text(budget["tokenizer"])}, ±{budget["error_percent"]} %</span></div>',
    ]
    rows = [[_value(entry, "id", "node"), entry.get("tokens", "")] for entry in budget["going"]]
    if rows:
        parts.append(_table(["pruned", "tokens"], rows))
    parts += [f'<div class="r">{_text(entry)}</div>' for entry in budget["missed"]]
    return _page(*parts)


def cache_html(report: dict[str, Any]) -> str:
    """Draws a cache report."""
    rows: list[list[object]] = []
    for call in report["calls"]:
        miss: dict[str, Any] = call.get("miss") or {}
        rows.append([call["state"], call["tokens"], call["cached"], miss.get("message", "")])
    head = (
        f"<div><b>{report['per_mille'] / 10:.1f} %</b> of {report['tokens']:,} tokens can be read from the cache "
        f'<meter min="0" max="{max(report["tokens"], 1)}" value="{report["cached"]}"></meter> '
        f'<span class="d">{_text(report["provider"])} {_text(report.get("model") or "")}</span></div>'
    )
    return _page(head, _table(["state", "tokens", "cached", "miss"], rows))


def _value(entry: dict[str, Any], *names: str) -> object:
    return next((entry[name] for name in names if name in entry), entry)
