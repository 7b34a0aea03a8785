"""Where calls of `asyncio` code run that may touch the disk: on threads of our own."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from ._errors import ConflictError, ForkedError

T = TypeVar("T")

# Not the executor of the event loop: others fill that one with calls that take seconds. The threads of one process do not exist in the
# process that is forked from it, so each process has its own.
_executor: tuple[int, ThreadPoolExecutor] | None = None


def _threads() -> ThreadPoolExecutor:
    global _executor
    if _executor is None or _executor[0] != os.getpid():
        _executor = (os.getpid(), ThreadPoolExecutor(max_workers=8, thread_name_prefix="contextree"))
    return _executor[1]


class Lock:
    """A lock of one process, which its holder may take again.

    A thread that holds it does not exist in a process that is forked meanwhile, where it would never be released.
    """

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        """Makes a lock that is free."""
        self._lock = threading.RLock()
        self._process = os.getpid()

    def acquire(self, *, blocking: bool = True) -> bool:
        """Takes the lock. Raises `ForkedError` in another process than the one that made it."""
        if self._process != os.getpid():
            hints = ['make it in the child only, or start processes with "spawn" or "forkserver"']
            raise ForkedError("the object was made in another process", code="E_STORE_FORKED", details={"hints": hints})
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Releases the lock."""
        self._lock.release()

    def __enter__(self) -> None:
        """Takes the lock."""
        self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Releases the lock."""
        self.release()


# How often a step is tried that other writers can prevent, and the longest pause before it is tried again, in seconds.
_TRIES = 100
_LONGEST = 0.05


def tries(what: str) -> Iterator[int]:
    """Counts tries, with pauses between them that grow; then raises `ConflictError`. Return from the loop to end it."""
    for number in range(_TRIES):
        if number:
            time.sleep(random.random() * min(0.001 * 2**number, _LONGEST))
        yield number
    hints = ["try again later; other writers have been faster every time"]
    raise ConflictError(f"{what} is being written all the time", code="E_CONFLICT", details={"hints": hints})


def _contained(work: Callable[[], T]) -> T:
    """Runs work. A future refuses `StopIteration`, so that its waiter would wait forever."""
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("a call on a thread raised StopIteration") from error


async def finish(work: Callable[[], T]) -> T:
    """Runs work on a thread. A task that is cancelled meanwhile still waits for its end, so that it is known whether it wrote."""
    future = asyncio.get_running_loop().run_in_executor(_threads(), _contained, work)
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return future.result()
    if not future.cancelled():
        # Looked at, so that the event loop does not report it as lost.
        future.exception()
    raise cancelled
