"""The conformance corpus through Python: cases of the selector language, hashes and threads by the calls of the package, and
every case by the runner inside the wheel."""

from __future__ import annotations

import json
from typing import Any

import pytest

import contextree
from conftest import ROOT
from contextree import _native
from test_api import run_ctx

EDITIONS = {"E1": "0.1", "E2": "0.2", "E3": "0.3"}


def cases(*kinds: str) -> list[Any]:
    found: list[Any] = []
    for file in sorted((ROOT / "crates/conformance/corpus").glob("*.json")):
        data = json.loads(file.read_text())
        if not isinstance(data, dict):
            continue
        for case in data.get("cases", []):
            # A text that Python cannot write as JSON is left to the runner below.
            if case["kind"] in kinds and "text" not in case:
                case["fixture"] = data.get("fixtures", {}).get(case.get("fixture"))
                found += [pytest.param(case, edition, id=f"{case['id']}-{edition}") for edition in case["editions"]]
    return found


def select(case: dict[str, Any], edition: str) -> Any:
    engine = _native.Engine.document("fixture", json.dumps(case["fixture"]).encode())
    options = case.get("options", {})
    request: dict[str, Any] = {"selector": case["query"], "range": {}}
    for name, own in (("where", "where"), ("skip", "skip"), ("limit", "limit")):
        if name in options:
            request[own] = options[name]
    wanted = (
        ("includeContent", "content"),
        ("contentMode", "content_mode"),
        ("maxSnapshots", "max_snapshots"),
        ("maxChangesPerSnapshot", "max_changes"),
    )
    for name, own in wanted:
        if name in options:
            request["range"][own] = options[name]
    request["range"]["as_nodes"] = options.get("select_range_returns_diff") is False
    return engine.select(None, request, EDITIONS[edition])


def contains(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(name in found and contains(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(contains, found, wanted))
    return bool(found == wanted)


@pytest.mark.parametrize(("case", "edition"), cases("select"))
def test_select(case: dict[str, Any], edition: str) -> None:
    wanted = case["expect"]
    try:
        found = select(case, edition)
    except contextree.ContextreeError as error:
        assert error.code == wanted.get("error"), error
        return
    if "ids" in wanted:
        assert found.ids() == wanted["ids"]
    elif "set" in wanted:
        assert set(found.ids()) == set(wanted["set"])
    else:
        assert "error" not in wanted


@pytest.mark.parametrize(("case", "edition"), cases("range"))
def test_range(case: dict[str, Any], edition: str) -> None:
    try:
        found = select(case, edition)
    except contextree.ContextreeError as error:
        assert error.code == case["expect"].get("error"), error
        return
    data = found[0] if isinstance(found, tuple) else {"ids": found.ids()}
    assert contains(data, case["expect"])


@pytest.mark.parametrize(("case", "edition"), cases("parse"))
def test_parse(case: dict[str, Any], edition: str) -> None:
    engine = contextree.open("memory:")
    engine.context("main")
    request = {"selector": case["query"]}
    try:
        engine._engine.run("explain", "main", request, EDITIONS[edition])
    except contextree.ContextreeError as error:
        refused = case["expect"].get("error")
        # An empty context has no snapshots; that is not an error of the text.
        assert error.code == refused or (refused is None and error.code == "E_SNAPSHOT_NOT_FOUND"), error
        return
    assert "error" not in case["expect"]


@pytest.mark.parametrize(("case", "edition"), cases("content_hash"))
def test_content_hash(case: dict[str, Any], edition: str) -> None:
    text = json.dumps(case["node"])
    engine = contextree.open("memory:")._engine
    found = engine.run("hash", None, {"nodes": {"name": "node", "text": text}}, EDITIONS[edition])
    assert found["nodes"][0]["content_hash"] == case["expect"]["content_hash"]


def test_every_case_passes_in_the_runner_of_the_wheel() -> None:
    done = run_ctx("conformance", "--json")
    assert done.returncode == 0, done.stderr[-2000:]
    verdicts = json.loads(done.stdout)
    verdicts = verdicts if isinstance(verdicts, list) else verdicts["cases"]
    assert [verdict["id"] for verdict in verdicts if not verdict["pass"]] == []
    assert len(verdicts) > 400
