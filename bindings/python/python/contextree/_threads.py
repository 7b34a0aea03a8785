"""Where calls of `asyncio` code run that may touch the disk: on threads of our own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# Not the executor of the event loop: others fill that one with calls that take seconds. The threads of one process do not exist in the
# process that is forked from it, so each process has its own.
_executor: tuple[int, ThreadPoolExecutor] | None = None


def _threads() -> ThreadPoolExecutor:
    global _executor
    if _executor is None or _executor[0] != os.getpid():
        _executor = (os.getpid(), ThreadPoolExecutor(max_workers=8, thread_name_prefix="contextree"))
    return _executor[1]


async def finish(work: Callable[[], T]) -> T:
    """Runs work on a thread. A task that is cancelled meanwhile still waits for its end, so that it is known whether it wrote."""
    future = asyncio.get_running_loop().run_in_executor(_threads(), work)
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
