"""Compares the tokens of `agreement.rs` with PyPI tiktoken, which checks our vocabularies by their SHA-256 on the way.

usage: agreement.py FOLDER

tiktoken wants to download its vocabularies. It is given ours instead, in its own format and under the names of its cache; it
takes them only if they have the checksums that are built into it.
"""

import base64
import hashlib
import os
import sys
from pathlib import Path

ENCODINGS = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"]
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def vocabulary(folder: Path, encoding: str) -> bytes:
    """Returns a vocabulary in the format of tiktoken: each token in Base64 and its rank, one per line."""
    lines = []
    for line in (folder / f"{encoding}.vocabulary").read_text().splitlines():
        rank, token = line.split(" ")
        lines.append(base64.b64encode(bytes.fromhex(token)) + b" " + rank.encode() + b"\n")
    return b"".join(lines)


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    for encoding in ENCODINGS:
        name = hashlib.sha1(ADDRESS.format(encoding).encode()).hexdigest()
        (cache / name).write_bytes(vocabulary(folder, encoding))
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    import tiktoken  # reads the variable when it is asked for an encoding

    texts = [bytes.fromhex(line).decode() for line in (folder / "texts.hex").read_text().splitlines()]
    for encoding in ENCODINGS:
        reference = tiktoken.get_encoding(encoding)
        ours = (folder / f"{encoding}.tokens").read_text().split("\n")
        for index, text in enumerate(texts):
            expected = reference.encode_ordinary(text)
            got = [int(rank) for rank in ours[index].split()]
            if got != expected:
                print(f"{encoding}: {text!r}: tiktoken says {expected}, we say {got}")
                return 1
    print(f"{len(texts)} texts in {len(ENCODINGS)} encodings: the same tokens as tiktoken {tiktoken.__version__}")
    return 0


sys.exit(main())
