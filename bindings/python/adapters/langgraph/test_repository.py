"""The tests of LangGraph's own repository, on `ContextreeSaver`: delta channels, interrupts, subgraphs and time travel.

They are in the source distribution of the version that is installed, which is fetched once and kept with the environment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent / "repository"
HELPERS = ["__init__.py", "agents.py", "any_int.py", "any_str.py", "fake_chat.py", "fake_tracer.py", "memory_assert.py", "messages.py"]

FIELDS = "reads a field of `InMemorySaver`"
INLINE = "puts values whose versions it does not name, which savers need not store: `InMemorySaver` does not, either"

# The distribution, its files, and tests that are left out, each with the reason.
SUITES: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "delta channels": (
        "langgraph",
        ["test_delta_channel_*.py"],
        {
            "test_delta_channel_benchmark.py": "measures the fields of `InMemorySaver`",
            "test_delta_channel_update_state.py::test_bulk_update_state_replays_updates_in_the_order_given": FIELDS,
            "test_delta_channel_update_state.py::test_abulk_update_state_replays_updates_in_the_order_given": FIELDS,
        },
    ),
    "delta channels of a saver": (
        "langgraph-checkpoint-sqlite",
        ["test_conformance_delta.py", "test_delta_*.py", "test_get_delta_channel_history.py"],
        {
            "test_delta_parent_walk.py::test_sync_walk_reaches_parent_whatever_the_id_order": INLINE,
            "test_delta_parent_walk.py::test_async_walk_reaches_parent_whatever_the_id_order": INLINE,
            "test_delta_parent_walk.py::test_sync_empty_checkpoint_id_reads_from_the_latest_checkpoint": INLINE,
            "test_delta_parent_walk.py::test_async_empty_checkpoint_id_reads_from_the_latest_checkpoint": INLINE,
            "test_delta_parent_walk.py::test_walk_reaches_root_of_long_chain_with_descending_ids": INLINE,
            "test_conformance_delta.py": "asks for a capability that the released conformance suite does not have",
            "test_delta_parent_walk.py::test_walk_step_looks_up_the_parent_by_primary_key": "reads the query plan of `SqliteSaver`",
        },
    ),
    "interrupts": ("langgraph", ["test_interrupt*.py", "test_strict_resume.py"], {}),
    "subgraphs": ("langgraph", ["test_subgraph_persistence*.py"], {}),
    "time travel": ("langgraph", ["test_time_travel*.py"], {}),
}

# How many tests pass, in the pinned versions: none is lost without notice.
PASSED = {
    ("langgraph", "1.2.20"): {"delta channels": 633, "interrupts": 187, "subgraphs": 45, "time travel": 239},
    ("langgraph-checkpoint-sqlite", "3.1.2"): {"delta channels of a saver": 11},
}


def sources(name: str) -> Path:
    """Returns the unpacked source distribution of an installed package."""
    wanted = f"{name}=={version(name)}"
    kept = Path(sys.prefix) / "sources"
    folder = kept / f"{name.replace('-', '_')}-{version(name)}"
    if not folder.is_dir():
        fetch = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", str(kept), wanted]
        subprocess.run([sys.executable, "-m", "pip", *fetch], check=True)
        with tarfile.open(f"{folder}.tar.gz") as archive:
            archive.extractall(kept, filter="data")
    return folder


@pytest.mark.parametrize("suite", SUITES)
def test_the_tests_of_the_repository_pass(tmp_path: Path, suite: str) -> None:
    name, patterns, left_out = SUITES[suite]
    tests = sources(name) / "tests"
    place = tmp_path / "tests"
    place.mkdir()
    for helper in HELPERS:
        if (tests / helper).is_file():
            shutil.copy(tests / helper, place)
    for pattern in patterns:
        for file in tests.glob(pattern):
            shutil.copy(file, place)
    shutil.copy(FOLDER / "conftest.py", place)
    if (place / "memory_assert.py").is_file():
        # Two suites import what its classes derive from by another name.
        (place / "memory_assert.py").write_text(
            "from langgraph.checkpoint.memory import InMemorySaver\n\nMemorySaverNoPending = InMemorySaver\n"
        )
    mode = "auto" if name.endswith("sqlite") else "strict"
    options = ["-q", "-rs", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-o", f"asyncio_mode={mode}"]
    for one in left_out:
        options.append(f"--ignore={place / one}" if one.endswith(".py") else f"--deselect=tests/{one}")
    done = subprocess.run([sys.executable, "-m", "pytest", *options, "tests"], cwd=tmp_path, capture_output=True, text=True, check=False)
    counts = {
        word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?|skipped|deselected)", done.stdout.splitlines()[-1])
    }
    print(f"\n{name} {version(name)}, {suite}: {counts}")
    for one, reason in left_out.items():
        print(f"left out: {one}, which {reason}")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert "skipped" not in counts, done.stdout[-5_000:]
    # A newer version has other tests: `cargo xtask adapters --latest` asks only that they pass.
    if (name, version(name)) in PASSED:
        assert counts["passed"] == PASSED[name, version(name)][suite]
    else:
        assert counts["passed"] > 5
