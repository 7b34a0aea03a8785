"""Everything the library has, in Python."""

from __future__ import annotations

import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import contextree
from conftest import ROOT
from contextree import _call, _native, _node, _record, _results
from contextree._adapter import Records, record


def talk(context: contextree.Context, turns: int = 3) -> None:
    context.system("Be brief.", key="rules")
    for turn in range(turns):
        context.user(f"Question {turn}", tags=["question"])
        context.assistant(f"Answer {turn}", priority=turn)
        context.commit()


def test_nodes_have_ttl_priority_pins_keys_and_tags(context: contextree.Context) -> None:
    name = context.user("x", ttl=2, priority=5, pinned=True, key="k", tags=["a", "b"], data_more={"n": [1]})
    node = context.node(name)
    assert (node.ttl, node.priority, node.pinned, node.key, node.tags) == (2, 5, True, "k", ("a", "b"))
    assert node["data_more"] == {"n": [1]}
    assert node.derived.region == "^ah"


def test_a_selection_is_a_lazy_sequence_of_nodes(context: contextree.Context) -> None:
    talk(context)
    found = context.select("?? { tag='question' }")
    assert len(found) == 3
    assert "Question" not in repr(found[0])
    assert [node.text for node in found] == ["Question 0", "Question 1", "Question 2"]
    assert found[-1].text == "Question 2"
    assert [node.role for node in found[:2]] == ["user", "user"]
    assert found.ids == [node.id for node in found]
    with pytest.raises(IndexError):
        found[3]


class Spy:
    """A selection that notes what is read of it."""

    def __init__(self, found: _native.Selection) -> None:
        self.found = found
        self.read: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.found)

    def ids(self) -> list[str]:
        return self.found.ids()

    def id(self, at: int) -> str:
        return self.found.id(at)

    def nodes(self, start: int, count: int) -> list[dict[str, Any]]:
        self.read.append((start, count))
        return self.found.nodes(start, count)


def test_nodes_that_are_not_looked_at_are_not_read(context: contextree.Context) -> None:
    for number in range(600):
        context.user(str(number))
    found = context.select("?? { role='user' }")
    spy = Spy(cast("_native.Selection", found._found))
    found = _node.Nodes(cast("_native.Selection", spy))
    assert len(found) == len(found.ids) == 600
    nodes = list(found)
    assert [node.id for node in nodes] == found.ids
    assert repr(found[5]) == f"<Node {found.ids[5]}>"
    assert repr(found).startswith("<600 nodes: ")
    assert spy.read == [], "ids, lengths and short forms are not read from the tree"
    assert found[599].text == "599"
    assert spy.read == [(599, 1)]
    # An iteration reads pages, and each of them once.
    assert [node.text for node in nodes] == [str(number) for number in range(600)]
    assert spy.read[1:] == [(0, 256), (256, 256), (512, 256)]


def test_going_backwards_and_one_by_one_reads_each_page_once(context: contextree.Context) -> None:
    context.apply([{"op": "add", "node": {"role": "user", "content": str(number)}} for number in range(1_000)])
    found = context.select("?? { role='user' }")
    wanted = [str(number) for number in range(1_000)]

    def reads(take: Callable[[_node.Nodes], list[_node.Node]]) -> int:
        spy = Spy(cast("_native.Selection", found._found))
        nodes = take(_node.Nodes(cast("_native.Selection", spy)))
        assert sorted((node.text for node in nodes), key=int) == wanted
        return len(spy.read)

    assert reads(lambda nodes: list(nodes)[::-1]) == 4
    assert reads(lambda nodes: nodes[::-1]) == 4
    # The first ones may be all that is wanted, so pages begin small.
    assert reads(lambda nodes: list(reversed(nodes))) <= 8
    assert reads(lambda nodes: [nodes[at] for at in range(1_000)]) <= 8
    spy = Spy(cast("_native.Selection", found._found))
    assert [node.text for node in _node.Nodes(cast("_native.Selection", spy))[998:3:-331]] == ["998", "667", "336", "5"]
    assert [node.text for node in _node.Nodes(cast("_native.Selection", spy))[10:13]] == ["10", "11", "12"]
    assert spy.read[-1] == (10, 3)


def test_a_state_of_the_past_is_selected_from(context: contextree.Context) -> None:
    talk(context)
    view = context.at("@t-1")
    assert [node.text for node in view.select("?? { tag='question' }")] == ["Question 0", "Question 1"]
    assert len(view.select(".block", where="?? { tag='question' }")) == 2
    assert len(view.select(".block", skip=1, limit=1)) == 1
    assert len(context.at("@").select("?? { tag='question' }")) == 3
    context.user("not committed")
    assert len(context.at("@t0").select("?? { role='user' }")) == 3
    with pytest.raises(contextree.UsageError):
        view.select("@t0 .block")


def test_a_range_has_typed_fields(context: contextree.Context) -> None:
    talk(context)
    name = context.select("?? { tag='question' }").ids[0]
    found = context.select("@t-2..@t0 ^seq .block")
    assert isinstance(found, contextree.RangeDiff)
    assert found.query == "@t-2..@t0 ^seq .block"
    assert found.mode == "pairwise"
    assert not found.truncated
    assert [one.cycle for one in found.snapshots] == [3, 2, 1]
    assert len(found.diffs) == 2
    step = found.diffs[0]
    assert {step.newer.label, step.older.label} <= {one.label for one in found.snapshots}
    assert len(step.added) == step.stats["added"] == 2
    assert step.removed == step.changed == ()
    assert name not in step.added
    assert found.to_dict()["diffs"][0]["added_ids"] == list(step.added)


LOG = b'{"role":"user","content":"Hello"}\n{"role":"assistant","content":"Hi!"}\n'


def test_a_log_is_imported_into_an_empty_context_which_keeps_its_budget(store: contextree.Store) -> None:
    context = store.context("x")
    context.set_budget("max_tokens = 100\ntokenizer = 'o200k_base'\n")
    budget = context.stored_budget().budget
    context.user("a mistake")
    context.discard()
    done = context.import_log(LOG)
    assert done.name == "x"
    assert done.context is not None
    assert done.context.name == "x"
    assert [message["content"] for message in context.thread()] == ["Hello", "Hi!"]
    assert context.stored_budget().budget == budget
    assert [row.name for row in store.contexts()] == ["x"]
    # A log that has grown is continued.
    assert context.import_log(LOG + b'{"role":"user","content":"Thanks."}\n').updated


def test_an_import_that_fails_leaves_the_context_as_it_is(store: contextree.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    context = store.context("x")
    context.set_budget("max_tokens = 100\ntokenizer = 'o200k_base'\n")
    with pytest.raises(contextree.ContextreeError):
        context.import_log(b"not a log")
    assert [row.name for row in store.contexts()] == ["x"]
    assert context.stored_budget().budget is not None
    run = _call.Caller.run

    def write_meanwhile(self: Any, command: str, request: Any = None, **fields: Any) -> Any:
        if command == "rename":
            monkeypatch.setattr(_call.Caller, "run", run)
            context.user("another writer")
        return run(self, command, request, **fields)

    monkeypatch.setattr(_call.Caller, "run", write_meanwhile)
    with pytest.raises(contextree.ConflictError):
        context.import_log(LOG)
    assert [message["content"] for message in context.thread()] == ["another writer"]
    assert [row.name for row in store.contexts()] == ["x"]


def test_a_context_with_a_policy_or_side_records_is_not_replaced_by_an_import(store: contextree.Store) -> None:
    policy = {"limits": [{"limit": "total", "measure": "bytes", "max": 8000}]}
    store.context("policy", policy=policy)
    Records(store).put("records", [record("test.kind", "k", b"value")])
    for name in ("policy", "records"):
        with pytest.raises(contextree.ExistsError):
            store.context(name).import_log(LOG)
    assert store.context("policy").info().settings["policy"]["limits"]
    assert Records(store).one("records", "test.kind", "k") == b"value"


def test_requests_are_linted(store: contextree.Store) -> None:
    good = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    linted = store.lint(good, provider="anthropic")
    assert linted
    assert linted.requests == 1
    bad = store.lint(json.dumps({**good, "messages": [{"role": "tool", "content": "Hello"}]}), provider="anthropic")
    assert not bad
    assert bad.findings[0].severity == "error"


def test_the_timeline_lists_calls_and_the_messages_that_they_serve(context: contextree.Context) -> None:
    talk(context)
    timeline = context.timeline(limit=2)
    assert [call.cycle for call in timeline.calls] == [2, 3]
    assert all(call.committed for call in timeline.calls)
    assert (timeline.left_out, timeline.next_cycle) == (1, 4)
    assert timeline.calls[0].changes is not None


def test_a_selection_shows_the_state_in_which_it_was_made(context: contextree.Context) -> None:
    name = context.user("before")
    found = context.select("?? { nodeType='block' }")
    context.edit(name, "after")
    assert found[0].text == "before"
    assert context.node(name).text == "after"


def test_a_range_returns_what_changed(context: contextree.Context) -> None:
    talk(context)
    found = context.select("@t-1..@t0 ^seq .block")
    assert isinstance(found, contextree.RangeDiff)
    assert found.to_dict()["snapshots"]


def test_the_past_stays_readable(context: contextree.Context) -> None:
    talk(context)
    assert len(context.at("@t-2").thread()) == 3
    diff = context.diff("@t-2")
    assert diff
    assert len(diff.added) > 0
    assert [entry.cycle for entry in context.log()] == [3, 2, 1]


def test_a_fork_continues_on_its_own(store: contextree.Store, context: contextree.Context) -> None:
    talk(context)
    other = context.fork("other", at="@t-1")
    other.user("elsewhere")
    other.commit()
    assert len(context.log()) == 3
    assert other.log()[0].digest != context.log()[0].digest
    assert [row.name for row in store.contexts()] == ["other", "support-42"]
    assert "other" in store
    store.delete("other")
    assert "other" not in store


def test_render_tokens_budget_cache_and_export(context: contextree.Context) -> None:
    talk(context)
    context.user("Last question")
    rendered = context.render("openai", model="gpt-5")
    assert json.loads(rendered.request)["model"] == "gpt-5"
    assert context.tokens(model="gpt-5").total > 0
    report = context.budget("max_tokens = 20\ntokenizer = 'o200k_base'\n")
    assert report.tokens_after <= report.tokens_before
    context.commit()
    cache = context.cache_report("openai", model="gpt-5")
    assert cache.calls
    document = context.export()
    assert json.loads(document)["root"]
    assert len(context.export(history=True).splitlines()) >= 4
    assert context.status().snapshots == 4


def test_what_is_exported_can_be_imported(store: contextree.Store, context: contextree.Context) -> None:
    talk(context)
    other = contextree.open("memory:")
    copy = other.import_log("copy", context.export(history=True).encode())
    assert copy.snapshots == 3
    assert other.context("copy").log()[0].digest == context.log()[0].digest
    assert store.verify()


def test_operations_are_applied_together_or_not_at_all(context: contextree.Context) -> None:
    add = {"op": "add", "node": {"role": "user", "content": "Hello"}}
    with pytest.raises(contextree.NotFoundError) as caught:
        context.apply([add, {"op": "remove", "node": "block:9.9"}])
    assert caught.value.location == "line 2"
    assert context.thread() == []
    assert [done.op for done in context.apply([add, add])] == ["add", "add"]


def test_messages_of_a_provider_are_appended(context: contextree.Context) -> None:
    appended = context.append([{"role": "user", "content": "Will it rain?"}], provider="anthropic")
    assert [message.to_dict() for message in appended] == [{"role": "user", "nodes": ["block:1.1"]}]
    assert appended[0].nodes == ("block:1.1",)
    context.append({"id": "r", "choices": [{"message": {"role": "assistant", "content": "Yes."}}]})
    assert [block["content"] for block in context.thread()] == ["Will it rain?", "Yes."]
    with pytest.raises(contextree.UsageError):
        context.append({"content": "who?"}, provider="openai-chat")


def test_nodes_are_edited_moved_pinned_and_removed(context: contextree.Context) -> None:
    name = context.user("x")
    assert context.edit(name, "y", set={"key": "k"}) == [name]
    assert context.pin(name) == [name]
    assert context.node(name).pinned
    assert context.unpin(context.node(name)) == [name]
    moved = context.move(name, into="^sys")
    assert context.node(moved).derived.region == "^sys"
    assert context.remove(moved) == [moved]


def test_operations_are_undone_and_redone(store: contextree.Store, context: contextree.Context) -> None:
    talk(context)
    newest = context.log()[0].digest
    context.undo()
    assert len(context.log()) == 2
    context.redo()
    assert context.log()[0].digest == newest
    assert context.reset("@t-2").head == 1
    context.undo()
    assert context.log()[0].digest == newest
    assert context.operations(limit=1)[0].command
    store.rename("support-42", "closed-42")
    assert [row.name for row in store.contexts()] == ["closed-42"]


def test_what_is_not_committed_is_discarded(context: contextree.Context) -> None:
    talk(context, 1)
    context.user("a draft")
    context.discard()
    assert [message["content"] for message in context.thread()] == ["Be brief.", "Question 0", "Answer 0"]
    context.undo()
    assert context.thread()[-1]["content"] == "a draft"


def test_what_expired_is_recalled(context: contextree.Context) -> None:
    name = context.document("Train times: 8:05", ttl=1)
    context.commit()
    context.user("What was it?")
    context.commit()
    assert name not in [node.id for node in context.nodes()]
    back = context.recall(name, ttl=1)
    assert context.node(back.id).text == "Train times: 8:05"
    assert (back.ttl, back.snapshot) == (1, back.to_dict()["from"])
    events = context.history(name)
    assert (events[0].cycle, events[0].event) == (1, "added")
    assert events[-1].event == "removed"


def test_content_is_redacted_in_every_snapshot(context: contextree.Context) -> None:
    name = context.user("my secret number")
    context.commit()
    digest = context.log()[0].digest
    tried = context.redact(name, dry_run=True)
    assert (tried.nodes, tried.contexts) == ((name,), ("support-42",))
    assert tried.everywhere == (f"`{name}` in `support-42`",)
    done = context.redact(context.node(name), reason="asked for")
    assert done.copies == tried.copies > 0
    assert done.contexts == ("support-42",)
    assert "my secret number" not in context.export(history=True)
    assert context.log()[0].digest == digest


def test_snapshots_are_dropped_and_the_rest_is_kept(context: contextree.Context) -> None:
    talk(context, 5)
    assert context.gc(keep=2, dry_run=True).dropped == 3
    done = context.gc(keep=2)
    assert (done.dropped, done.kept) == (3, 2)
    with pytest.raises(contextree.NotFoundError):
        context.at("@c1").thread()


def test_a_selector_is_explained(context: contextree.Context) -> None:
    explained = context.explain("?? { role='user' }")
    assert str(explained) == explained.text
    assert explained.to_dict()["explanation"] == explained.explanation


def test_a_budget_is_stored_with_the_context(context: contextree.Context) -> None:
    assert context.stored_budget().budget is None
    context.set_budget({"max_tokens": 40, "tokenizer": "o200k_base"})
    assert "max_tokens" in str(context.stored_budget().budget)
    for turn in range(6):
        context.user(f"A question that is long enough to be pruned at some time: {turn}")
        commit = context.commit()
    assert commit.budget is not None
    assert commit.budget.tokens_after <= 40
    assert context.unset_budget().replaced
    assert context.stored_budget().budget is None


def test_a_store_is_copied_into_a_file(store: contextree.Store, context: contextree.Context, tmp_path: Path) -> None:
    talk(context)
    copy = store.backup(tmp_path / "copy.db")
    assert copy.bytes == (tmp_path / "copy.db").stat().st_size
    assert contextree.open(copy.path).context("support-42").log() == context.log()


def test_records_are_frozen_comparable_and_pickled(context: contextree.Context) -> None:
    talk(context)
    [entry] = context.log(limit=1)
    with pytest.raises(AttributeError):
        entry.cycle = 9  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert len({entry, context.log()[0]}) == 1
    entry.to_dict()["cycle"] = 9
    assert entry.cycle == 3


def test_json_is_byte_for_byte_what_the_program_prints(store: contextree.Store, context: contextree.Context) -> None:
    talk(context)
    url = store.url
    printed = run_ctx("--store", url, "--context", "support-42", "status", "--json")
    assert json.loads(printed.stdout) == context.status().to_dict()
    assert printed.stdout.decode().strip() == context.status().to_json()


def run_ctx(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; from contextree._program import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, check=False)


def test_the_program_is_part_of_the_package() -> None:
    done = run_ctx("--version")
    assert done.returncode == 0
    assert contextree.__version__ in done.stdout.decode()
    assert run_ctx("no-such-command").returncode == 2


def test_drawings_have_no_external_assets(context: contextree.Context) -> None:
    talk(context)
    context.user("<script>alert(1)</script>")
    drawings = [
        context._repr_html_(),
        context.at("@t0")._repr_html_(),
        context.diff("@t0")._repr_html_(),
        context.budget("max_tokens = 5\ntokenizer = 'o200k_base'\n")._repr_html_(),
        context.cache_report("openai", model="gpt-5")._repr_html_(),
    ]
    for drawing in drawings:
        assert "<script" not in drawing
        assert "http" not in drawing
        assert "prefers-color-scheme:dark" in drawing
    assert "&lt;script&gt;" in drawings[0]


def test_print_draws_the_tree(context: contextree.Context) -> None:
    context.user("Hello")
    lines = str(context).splitlines()
    assert lines[0] == "support-42"
    assert lines[-1].endswith("block user text  Hello")
    assert lines[-1].startswith("      └─ ")


def test_events_of_the_engine_reach_logging(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="contextree"):
        context = contextree.open(tmp_path / "log.db").context("a")
        for turn in range(300):
            context.user(str(turn))
            context.commit()
    assert any(record.name.startswith("contextree") for record in caplog.records)


def test_events_of_the_engine_reach_logging_from_adapters(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="contextree"):
        records = Records(contextree.open(tmp_path / "log.db"))
        for turn in range(300):
            records.put("a", [], [{"op": "add", "node": {"content": str(turn)}}], commit=True)
    assert any(record.name.startswith("contextree") for record in caplog.records)


def test_a_root_logger_without_a_level_wants_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[int] = []
    monkeypatch.setattr(_native, "set_log_level", levels.append)
    monkeypatch.setattr(_call, "_level", -1)
    monkeypatch.setattr(_call.LOG, "getEffectiveLevel", lambda: logging.NOTSET)
    contextree.open(tmp_path / "log.db").context("a")
    # 0 would turn the engine's events off.
    assert levels == [1]


RECORDS = {
    "AttemptInfo": "Attempt",
    "Answer": "AnswerResponse",
    "Appended": "AppendedMessage",
    "Applied": "Applied",
    "Backup": "BackupResponse",
    "BudgetReport": "BudgetReport",
    "CacheCall": "CacheCall",
    "CacheReport": "CacheResponse",
    "Changed": "Changed",
    "CheckedContext": "CheckedContext",
    "Collected": "GcResponse",
    "Commit": "CommitResponse",
    "ContextInfo": "ContextRow",
    "Diff": "DiffResponse",
    "Explained": "ExplainResponse",
    "Finding": "Finding",
    "Head": "Head",
    "ImportResult": "ImportResponse",
    "Linted": "LintResponse",
    "LogEntry": "LogEntry",
    "Loss": "Loss",
    "NodeEvent": "NodeEvent",
    "Operation": "OperationRow",
    "Pending": "Pending",
    "Recalled": "RecallResponse",
    "Redaction": "RedactResponse",
    "Rendered": "RenderResponse",
    "Report": "Report",
    "Sent": "SentResponse",
    "Status": "StatusResponse",
    "StoredBudget": "BudgetResponse",
    "Timeline": "TimelineResponse",
    "TimelineCall": "TimelineCall",
    "TimelineMessage": "TimelineMessage",
    "TokenCount": "TokenCount",
    "Tokens": "TokensResponse",
    "ToolCall": "ToolCall",
    "Undone": "UndoResponse",
    "Verification": "VerifyResponse",
}


@pytest.mark.parametrize("name", RECORDS)
def test_the_fields_of_a_record_are_those_of_the_schema(name: str) -> None:
    schema = json.loads((ROOT / "crates/app/schema.json").read_text())["$defs"][RECORDS[name]]
    kind = getattr(_results, name)
    fields = {field.name for field in vars(kind).values() if isinstance(field, _record.Field)}
    assert fields == set(schema["properties"])


def test_every_exported_name_exists_and_every_code_has_a_class() -> None:
    assert all(hasattr(contextree, name) for name in contextree.__all__)
    from contextree import _errors

    for code, _kind in _native.codes():
        made = _errors.make(code, "message", {}, None)
        assert type(made) is not contextree.InternalError or code == "E_INTERNAL"
        assert made.code == code
    assert issubclass(_node.RangeDiff, contextree.Nodes)


def test_drawings_follow_the_theme_of_the_notebook_and_not_of_the_system(context: contextree.Context) -> None:
    html = context._repr_html_()
    # After the rule for a dark system, so that it decides.
    assert html.index("prefers-color-scheme:dark") < html.index("[data-jp-theme-light=true]")
    assert html.index("prefers-color-scheme:dark") < html.index("[data-jp-theme-light=false]")
