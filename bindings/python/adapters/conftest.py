"""What the suites of the adapters share."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contextree import SerializationError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def refusal() -> Callable[[BaseException], str]:
    """Returns a function that names the serializer's exception for an object that was refused."""

    def name(error: BaseException) -> str:
        if isinstance(error, SerializationError):
            assert error.code == "E_NOT_SERIALIZABLE"
            assert "cannot be serialized" in str(error)
            assert error.hint
            cause = error.__cause__
            assert isinstance(cause, Exception)
            return type(cause).__name__
        return type(error).__name__

    return name


@pytest.fixture
def url_of(tmp_path: Path) -> Callable[[str], str]:
    """Returns a function that names a new store in a file, in memory, or on the server that `cargo xtask adapters` starts."""

    def url(place: str) -> str:
        if place != "postgres":
            return str(tmp_path / "a.db") if place == "file" else "memory:"
        server = os.environ.get("CONTEXTREE_TEST_POSTGRES")
        if server is None:
            pytest.skip("CONTEXTREE_TEST_POSTGRES is not set; `cargo xtask adapters` sets it")
        return f"{server}{'&' if '?' in server else '?'}schema=adapter_{uuid4().hex}"

    return url


# A PNG of 1024 by 1024 pixels and 40 KB, as far as its header says.
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (1024).to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00" + bytes(40_000)


@pytest.fixture
def png() -> bytes:
    """Returns an image that counts as several hundred tokens."""
    return PNG


@pytest.fixture
def fork_child() -> Callable[[Callable[[], object]], str]:
    """Returns a function that runs another one in a forked child, and returns the code of the exception that it raises there."""

    def run(work: Callable[[], object]) -> str:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            answer = "no error"
            try:
                work()
            except BaseException as error:
                answer = getattr(error, "code", None) or repr(error)
            os.write(write, answer.encode())
            os._exit(0)
        os.close(write)
        # A child that hangs would never close its end.
        ready, _, _ = select.select([read], [], [], 60)
        if not ready:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return os.read(read, 1_000).decode() if ready else "it hangs"

    return run


@contextmanager
def held(lock: Any) -> Iterator[None]:
    """Holds a lock on another thread."""
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.fixture
def hold() -> Callable[[Any], AbstractContextManager[None]]:
    """Returns a context manager that holds a lock on another thread."""
    return held


@pytest.fixture
def run_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Returns a function that runs the examples of a page one after the other, with the names that it is given, and returns all names."""

    def run(page: str, **names: Any) -> dict[str, Any]:
        monkeypatch.chdir(tmp_path)
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/adapters" / page).read_text(), re.S)
        assert blocks
        for block in blocks:
            code = "async def run():\n" + "".join(f"    {line}\n" for line in block.splitlines()) + "    return locals()\n"
            exec(compile(code, page, "exec"), names)
            names.update(asyncio.run(names["run"]()))
        return names

    return run
