"""Every example of the documents runs, and prints what the document says."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import contextree
from conftest import ROOT

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.S)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_the_examples_of_a_page_run_and_print_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / page)
    assert found
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page, "exec"), space)
        wanted = [line[2:] for line in block.splitlines() if line.startswith("# ")]
        assert printed.getvalue().splitlines() == wanted, block


def test_the_example_of_the_package_runs() -> None:
    assert doctest.testmod(contextree).failed == 0


def test_the_example_agent_runs(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / "agent.py", tmp_path / "a.db"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"It rains in Oslo" in done.stdout


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "tour.ipynb").read_text())
    space: dict[str, Any] = {}
    drawn = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        *lines, last = "".join(cell["source"]).splitlines()
        exec("\n".join(lines), space)
        shown = eval(last, space)
        drawn += hasattr(shown, "_repr_html_") and "<div" in shown._repr_html_()
    assert drawn >= 4
