"""The conformance corpus through Python: every case by the calls of the package, and once more by the runner inside the wheel."""

from __future__ import annotations

import json
from typing import Any

import pytest

import corpus
from test_api import run_ctx

CASES = {case["id"]: case for case in corpus.cases()}
RUNS = [
    pytest.param(case, edition, id=f"{case['id']}-{edition}")
    for case in CASES.values()
    if case["id"] not in corpus.NOT_IN_PYTHON
    for edition in case["editions"]
]


@pytest.mark.parametrize(("case", "edition"), RUNS)
def test_case_passes_through_the_package(case: dict[str, Any], edition: str) -> None:
    got = corpus.answer(case, edition)
    assert corpus.differing(case, got) == {}
    if "same_as" in case:
        twin = corpus.answer(CASES[case["same_as"]], edition)
        assert corpus.differing(case, twin) == {}


def verdicts() -> list[dict[str, Any]]:
    """Returns what the runner of the wheel says about every case."""
    done = run_ctx("conformance", "--json")
    assert done.returncode == 0, done.stderr[-2000:]
    verdicts: list[dict[str, Any]] | dict[str, Any] = json.loads(done.stdout)
    return verdicts if isinstance(verdicts, list) else list(verdicts["cases"])


def test_no_case_is_left_out_silently() -> None:
    all_cases = {(verdict["id"], verdict["edition"]) for verdict in verdicts()}
    run = {(case["id"], edition) for case, edition in (run.values for run in RUNS)}
    listed = {(id, edition) for id in corpus.NOT_IN_PYTHON for edition in CASES[id]["editions"]}
    assert run | listed == all_cases
    assert not run & listed
    assert len(corpus.NOT_IN_PYTHON) == 11, "a case is listed only if no call can express it"
    assert len(CASES) >= 744


def test_every_case_passes_in_the_runner_of_the_wheel() -> None:
    assert [verdict["id"] for verdict in verdicts() if not verdict["pass"]] == []
