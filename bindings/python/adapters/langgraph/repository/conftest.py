"""What the tests of LangGraph's repository ask for, bound to `ContextreeSaver`. `test_repository.py` copies this file to them.

The tests import savers by name, so those names are replaced here, before any test is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import UUID

import langgraph.checkpoint.memory
import langgraph.checkpoint.sqlite
import langgraph.checkpoint.sqlite.aio
import pytest
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.store.memory import InMemoryStore

from contextree.langgraph import ContextreeSaver


class InMemorySaver(ContextreeSaver):
    """Takes the place of `InMemorySaver`; a test may derive from it."""

    def __init__(self, *, serde: Any = None, **_: Any) -> None:
        super().__init__("memory:", serde=serde)


class SqliteSaver(ContextreeSaver):
    """Takes the place of `SqliteSaver`."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, _: str) -> Iterator[SqliteSaver]:
        yield cls("memory:")


class AsyncSqliteSaver(ContextreeSaver):
    """Takes the place of `AsyncSqliteSaver`."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, _: str) -> Any:
        yield cls("memory:")


langgraph.checkpoint.memory.InMemorySaver = InMemorySaver
langgraph.checkpoint.memory.MemorySaver = InMemorySaver
langgraph.checkpoint.sqlite.SqliteSaver = SqliteSaver
langgraph.checkpoint.sqlite.aio.AsyncSqliteSaver = AsyncSqliteSaver

PLACES = ["memory", "file", "encrypted"]


def saver_in(place: str, folder: Any) -> ContextreeSaver:
    if place == "file":
        return ContextreeSaver(folder / "a.db")
    serde = EncryptedSerializer.from_pycryptodome_aes(key=b"1234567890123456") if place == "encrypted" else None
    return ContextreeSaver("memory:", serde=serde)


@pytest.fixture(params=PLACES)
def sync_checkpointer(request: pytest.FixtureRequest, tmp_path: Any) -> ContextreeSaver:
    return saver_in(request.param, tmp_path)


@pytest.fixture(params=PLACES[:2])
def async_checkpointer(request: pytest.FixtureRequest, tmp_path: Any) -> ContextreeSaver:
    return saver_in(request.param, tmp_path)


@pytest.fixture(params=["sync", "async", "exit"])
def durability(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def deterministic_uuids(mocker: Any) -> Any:
    numbers = (UUID(f"00000000-0000-4000-8000-{number:012}", version=4) for number in range(10000))
    return mocker.patch("uuid.uuid4", side_effect=numbers)


@pytest.fixture
def cache() -> InMemoryCache[Any]:
    return InMemoryCache()


@pytest.fixture
def sync_store() -> InMemoryStore:
    return InMemoryStore()


@pytest.fixture
def async_store() -> InMemoryStore:
    return InMemoryStore()
