"""What the suites of the adapters share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
