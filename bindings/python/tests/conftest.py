"""What several tests use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import contextree

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[contextree.Store]:
    with contextree.open(tmp_path / "agent.db", clock="logical") as store:
        yield store


@pytest.fixture
def context(store: contextree.Store) -> contextree.Context:
    return store.context("support-42")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "adapter: needs a framework in an environment of its own")
