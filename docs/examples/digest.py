#!/usr/bin/env python3
"""Recomputes content hashes and digests from an export or a history, with nothing but the standard library.

    digest.py export.json      the content hash of every node, then the snapshot digest
    digest.py history.jsonl    per line the snapshot digest and the history digest; digests in the lines are checked

It is a second implementation of docs/format.md, written to be read. It trusts its input to be valid.
"""
import hashlib
import json
import struct
import sys
from datetime import datetime, timedelta

HEADERS = ["id", "nodeType", "offset", "ttl", "priority", "cycle", "created_at_ns", "created_at_iso", "creation_index"]
REGIONS = ["^sys", "^seq", "^ah"]
NEVER = 0xFFFFFFFF


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def is_hashed(name):
    return name.startswith(("content_", "data_")) and name != "content_hash"


def content_hash(node):
    hashed = {name: value for name, value in node.items() if is_hashed(name)}
    for name in ("content", "kind", "role"):
        hashed[name] = node.get(name, "")
    return sha(canonical(hashed))


def iso(nanoseconds):
    seconds, fraction = divmod(nanoseconds, 10**9)
    instant = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{fraction:09}Z"


def number(node, name):
    return node.get(name) or 0


def attributes(node):
    """What the columns of a node record do not say: all other names, and headers in another form."""
    expected_iso = iso(int(number(node, "created_at_ns")))
    columns = {
        "id": lambda value: True,
        "nodeType": lambda value: True,
        "children": lambda value: True,
        "content": lambda value: True,
        "ttl": lambda value: True,
        "offset": lambda value: value is not None,
        "priority": lambda value: value is not None,
        "cycle": lambda value: isinstance(value, int),
        "created_at_ns": lambda value: isinstance(value, int),
        "creation_index": lambda value: isinstance(value, int),
        "created_at_iso": lambda value: value == expected_iso,
        "role": lambda value: value is not None,
        "kind": lambda value: value is not None,
        "removable": lambda value: value is True,
        "pinned": lambda value: value is True,
    }
    return {name: value for name, value in node.items() if name not in columns or not columns[name](value)}


def text(value):
    encoded = value.encode("utf-8")
    return struct.pack("<I", len(encoded)) + encoded


def optional_text(value):
    return b"\0" if value is None else b"\1" + text(value)


def scalar(value):
    return struct.pack("<cd", b"f", value) if isinstance(value, float) else struct.pack("<cq", b"i", value)


def node_digest(node, default_type, expires, children):
    """The digest of a node record. `children` is the digest of its list; empty if it has none."""
    record = b"N" + text(node.get("id", "root")) + text(node.get("nodeType", default_type))
    missing = sum(1 << bit for bit, name in enumerate(HEADERS) if name not in node)
    shape = ("children" in node) | (node.get("removable") is True) << 1 | (node.get("pinned") is True) << 2
    record += struct.pack("<HB", missing, shape)
    record += scalar(number(node, "offset")) + scalar(number(node, "priority"))
    record += struct.pack("<I", expires)
    record += struct.pack("<IIq", *(int(number(node, name)) for name in ("cycle", "creation_index", "created_at_ns")))
    record += optional_text(node.get("role")) + optional_text(node.get("kind"))
    record += bytes([0 if "content" not in node else 1 if isinstance(node["content"], str) else 2])
    rest = attributes(node)
    if "content" in node or rest:
        listed = b"".join(text(name) + canonical(rest[name]) for name in sorted(rest))
        record += b"\1" + content_hash(node) + struct.pack("<I", len(listed)) + listed
    else:
        record += b"\0"
    if children is not None:
        record += b"\1" + children
    return sha(record)


def boundary(id):
    """How many levels of runs a node ends: one id in 4 ends one, one in 32 two, one in 256 three, and so on."""
    state = 0xCBF29CE484222325
    for byte in id.encode("utf-8"):
        state = (state ^ byte) * 0x100000001B3 % 2**64
    state = (state ^ state >> 32) * 0xD6E8FEB86659FD93 % 2**64
    state ^= state >> 32
    zeros = (state & -state).bit_length() - 1 if state else 64
    return (zeros + 1) // 3


def join(level, digests):
    return sha(b"J", bytes([level]), *digests)


def list_digest(entries):
    """The digest of a list of children, given as pairs of id and digest in canonical order."""
    if not entries:
        return None
    if len(entries) <= 32:
        return join(3, [digest for _, digest in entries])
    levels = [[]]
    for id, digest in entries:
        levels[0].append(digest)
        for level in range(boundary(id)):
            if level + 1 == len(levels):
                levels.append([])
            levels[level + 1].append(join(min(level, 1), levels[level]))
            levels[level] = []
    runs = [join(min(level, 1), run) for level, run in enumerate(levels)]
    return join(2, reversed(runs))


class Tree:
    """Nodes by id, each with its commit of expiry, and the ids of every node's children in any order."""

    def __init__(self, document):
        self.cycle = document.get("cycle", 0)
        self.nodes, self.expires, self.parents = {}, {}, {}
        self.root = document["root"].get("id", "root")
        stack = [(None, document["root"])]
        while stack:
            parent, node = stack.pop()
            self.put(node, parent)
            stack.extend((node.get("id", "root"), child) for child in node.get("children", []))

    def put(self, node, parent):
        id = node.get("id", "root")
        ttl = node.get("ttl")
        self.nodes[id], self.parents[id] = node, parent
        self.expires[id] = NEVER if ttl is None else min(self.cycle + 1 + ttl, NEVER - 1)

    def apply(self, line):
        self.cycle = line["cycle"]
        for parent, node in line["nodes"]:
            self.put(node, parent)
        for id in line["removed"]:
            del self.nodes[id], self.parents[id], self.expires[id]

    def digest(self):
        children = {id: [] for id in self.nodes}
        for id, parent in self.parents.items():
            if parent is not None:
                children[parent].append(id)
        order = [self.root]
        for id in order:
            order.extend(children[id])
        digests = {}
        for id in reversed(order):
            if id == self.root:
                listed = sorted(children[id], key=lambda child: REGIONS.index(self.nodes[child]["nodeType"]))
            else:
                listed = sorted(children[id], key=self.canonical_order)
            entries = [(child, digests[child]) for child in listed]
            default_type = "^root" if id == self.root else "cb"
            digests[id] = node_digest(self.nodes[id], default_type, self.expires[id], list_digest(entries))
        return sha(b"contextree/snapshot/1", struct.pack("<I", self.cycle), digests[self.root])

    def canonical_order(self, id):
        node = self.nodes[id]
        return (*(number(node, name) for name in ("offset", "created_at_ns", "creation_index")), id)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    tree, history = None, bytes(32)
    for line in lines:
        if "record" in line or "end" in line or line.get("working"):
            break  # What follows the commits has no digest.
        if "root" in line:
            tree = Tree(line)
        else:
            tree.apply(line)
        digest = tree.digest()
        history = sha(b"contextree/history/1", history, digest)
        if line.get("digest", digest.hex()) != digest.hex():
            sys.exit(f"cycle {tree.cycle}: the line says {line['digest']}, its nodes have {digest.hex()}")
        if len(lines) == 1:
            for id, node in tree.nodes.items():
                print("content ", content_hash(node).hex(), json.dumps(id))
        print("snapshot", digest.hex(), tree.cycle)
        print("history ", history.hex(), tree.cycle)


if __name__ == "__main__":
    main()
