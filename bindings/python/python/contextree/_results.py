"""What calls return. The fields are those of the JSON; docs of each are in the schema of `contextree-app`."""

from __future__ import annotations

from typing import Any, Literal

from ._html import budget_html, cache_html, diff_html
from ._record import Field, Record, many, maybe, one, texts

__all__ = [
    "Answer",
    "Appended",
    "Applied",
    "AttemptInfo",
    "Backup",
    "BudgetReport",
    "CacheCall",
    "CacheReport",
    "Changed",
    "Collected",
    "Commit",
    "ContextInfo",
    "Diff",
    "Explained",
    "Finding",
    "ImportResult",
    "Linted",
    "LogEntry",
    "Loss",
    "NodeEvent",
    "Operation",
    "Recalled",
    "Redaction",
    "Rendered",
    "Report",
    "Sent",
    "Status",
    "StoredBudget",
    "Timeline",
    "TimelineCall",
    "TimelineMessage",
    "TokenCount",
    "Tokens",
    "ToolCall",
    "Undone",
    "Verification",
]


class Head(Record):
    """The newest snapshot of a context."""

    __slots__ = ()
    cycle: Field[int] = Field()
    digest: Field[str] = Field()


class ContextInfo(Record):
    """A context of a store."""

    __slots__ = ()
    name: Field[str] = Field()
    head: Field[Head | None] = maybe(Head)
    snapshots: Field[int] = Field()
    revision: Field[int] = Field()
    created_ns: Field[int] = Field()
    updated_ns: Field[int] = Field()
    settings: Field[dict[str, Any]] = Field()


class Pending(Record):
    """What is not committed yet."""

    __slots__ = ()
    added: Field[int] = Field()
    removed: Field[int] = Field()
    changed: Field[int] = Field()


class Status(Record):
    """The newest snapshot, what is not committed, and what expires next."""

    __slots__ = ()
    place: Field[str] = Field()
    edition: Field[str] = Field()
    head: Field[Head | None] = maybe(Head)
    next_cycle: Field[int] = Field()
    snapshots: Field[int] = Field()
    turns: Field[int] = Field()
    pending: Field[Pending] = one(Pending)
    running: Field[dict[str, Any] | None] = Field()
    regions: Field[dict[str, dict[str, int]]] = Field()
    due: Field[tuple[str, ...]] = texts()


class Report(Record):
    """What a commit did: expired, pruned and sealed nodes, each with its reason."""

    __slots__ = ()
    cycle: Field[int] = Field()
    digest: Field[str] = Field()
    sealed: Field[str] = Field()
    core: Field[str | None] = Field()
    expired: Field[tuple[str, ...]] = texts()
    along: Field[tuple[str, ...]] = texts()
    deferred: Field[list[dict[str, Any]]] = Field()
    cascaded: Field[tuple[str, ...]] = texts()
    dropped: Field[tuple[str, ...]] = texts()
    cleared: Field[list[dict[str, Any]]] = Field(default=[])
    pruned: Field[list[dict[str, Any]]] = Field()
    summary: Field[str | None] = Field()
    unmet: Field[list[dict[str, Any]]] = Field()
    operations: Field[list[dict[str, Any]]] = Field()
    warnings: Field[tuple[str, ...]] = texts()


class BudgetReport(Record):
    """What a budget keeps and prunes, in tokens."""

    __slots__ = ()
    kept: Field[bool] = Field()
    tokens_before: Field[int] = Field()
    tokens_after: Field[int] = Field()
    tokens_expiring: Field[int] = Field()
    tokenizer: Field[str] = Field()
    error_percent: Field[int] = Field()
    cleared: Field[list[dict[str, Any]]] = Field(default=[])
    going: Field[list[dict[str, Any]]] = Field()
    missed: Field[list[dict[str, Any]]] = Field()
    summary: Field[str] = Field()

    def _repr_html_(self) -> str:
        return budget_html(self._json())


class Commit(Record):
    """A commit."""

    __slots__ = ()
    report: Field[Report] = one(Report)
    budget: Field[BudgetReport | None] = maybe(BudgetReport)
    policy: Field[Any] = Field()
    policy_ignored: Field[bool] = Field(default=False)


class ToolCall(Record):
    """A tool that the model wants to be called. `arguments` is JSON text."""

    __slots__ = ()
    id: Field[str] = Field()
    name: Field[str] = Field()
    arguments: Field[str] = Field()


class AttemptInfo(Record):
    """A model call: what was asked, and how it ended."""

    __slots__ = ()
    attempt_id: Field[str] = Field()
    provider: Field[str] = Field()
    model: Field[str] = Field()
    status: Field[Literal["running", "completed", "canceled", "error"]] = Field()
    cycle_id: Field[int] = Field()
    params: Field[str] = Field()
    input: Field[str | None] = Field()
    started_at: Field[int] = Field()
    ended_at: Field[int | None] = Field()
    token_in: Field[int | None] = Field()
    token_out: Field[int | None] = Field()
    cache_read: Field[int | None] = Field()
    cache_write: Field[int | None] = Field()
    cache_write_5m: Field[int | None] = Field()
    cache_write_1h: Field[int | None] = Field()
    reasoning: Field[int | None] = Field()
    error: Field[str | None] = Field()
    partial: Field[str | None] = Field()
    answer: Field[Any] = Field()
    answered_by: Field[str | None] = Field()
    stop_reason: Field[str | None] = Field()
    request_id: Field[str | None] = Field()
    response_id: Field[str | None] = Field()
    serves: Field[str | None] = Field()
    source: Field[str | None] = Field()
    diagnostics: Field[Any] = Field()


class Answer(Record):
    """A completed call: the snapshot that was sent, and the nodes of the answer."""

    __slots__ = ()
    attempt: Field[AttemptInfo] = one(AttemptInfo)
    report: Field[Report] = one(Report)
    nodes: Field[tuple[str, ...]] = texts()
    tool_calls: Field[tuple[ToolCall, ...]] = many(ToolCall)
    skipped: Field[tuple[str, ...]] = texts()


class Finding(Record):
    """Something that a provider would refuse or misread."""

    __slots__ = ()
    code: Field[str] = Field()
    severity: Field[str] = Field()
    message: Field[str] = Field()
    path: Field[str] = Field()
    node: Field[str | None] = Field()
    line: Field[int | None] = Field()


class Linted(Record):
    """What the provider of requests would refuse or misread."""

    __slots__ = ()
    findings: Field[tuple[Finding, ...]] = many(Finding)
    requests: Field[int] = Field()
    accepted: Field[bool] = Field()

    def __bool__(self) -> bool:
        """Returns whether all requests would be accepted."""
        return self.accepted


class Loss(Record):
    """Something that the request cannot express."""

    __slots__ = ()
    code: Field[str] = Field()
    severity: Field[str] = Field()
    message: Field[str] = Field()
    detail: Field[str] = Field()
    node: Field[str] = Field()


class Rendered(Record):
    """A request, rendered from a state. `request` is the exact text."""

    __slots__ = ()
    request: Field[str] = Field()
    hash: Field[str] = Field()
    spans: Field[list[dict[str, Any]]] = Field()
    findings: Field[tuple[Finding, ...]] = many(Finding)
    losses: Field[tuple[Loss, ...]] = many(Loss)
    accepted: Field[bool] = Field()


class TimelineCall(Record):
    """A commit, with the attempts that led to it. The last one may be the coming commit."""

    __slots__ = ()
    cycle: Field[int] = Field()
    committed: Field[bool] = Field()
    serves: Field[int | None] = Field()
    """The position of its user message in `Timeline.messages`."""
    sealed_at_ns: Field[int | None] = Field()
    nodes: Field[int] = Field()
    changes: Field[dict[str, int] | None] = Field()
    expired: Field[int] = Field()
    pruned: Field[int] = Field()
    cleared: Field[int] = Field(default=0)
    dropped: Field[int] = Field()
    attempts: Field[tuple[AttemptInfo, ...]] = many(AttemptInfo)


class TimelineMessage(Record):
    """A user message that calls serve."""

    __slots__ = ()
    node: Field[str] = Field()
    excerpt: Field[str | None] = Field()


class Timeline(Record):
    """The calls of a context, oldest first."""

    __slots__ = ()
    calls: Field[tuple[TimelineCall, ...]] = many(TimelineCall)
    messages: Field[tuple[TimelineMessage, ...]] = many(TimelineMessage)
    left_out: Field[int] = Field()
    next_cycle: Field[int] = Field()
    provider: Field[str | None] = Field()
    model: Field[str | None] = Field()
    tokenizer: Field[str] = Field()


class LogEntry(Record):
    """A snapshot."""

    __slots__ = ()
    address: Field[str] = Field()
    cycle: Field[int] = Field()
    digest: Field[str] = Field()
    history_digest: Field[str] = Field()
    nodes: Field[int] = Field()
    blocks: Field[int] = Field()
    bytes: Field[int] = Field()
    turn: Field[str | None] = Field()
    sealed_at_ns: Field[int | None] = Field()
    sealed_at_iso: Field[str | None] = Field()
    added: Field[int | None] = Field()
    removed: Field[int | None] = Field()
    changed: Field[int | None] = Field()
    report: Field[Report | None] = maybe(Report)
    call: Field[dict[str, Any] | None] = Field()
    retried: Field[int] = Field(default=0)


class Changed(Record):
    """A node that changed, and which of its fields."""

    __slots__ = ()
    id: Field[str] = Field()
    fields: Field[tuple[str, ...]] = texts()


class Changes(Record):
    """Nodes that one state has and another one has not."""

    __slots__ = ()
    added: Field[tuple[str, ...]] = texts()
    removed: Field[tuple[str, ...]] = texts()
    changed: Field[tuple[Changed, ...]] = many(Changed)


class Diff(Record):
    """What changed between two states."""

    __slots__ = ()
    older: Field[dict[str, Any]] = Field()
    newer: Field[dict[str, Any]] = Field()
    swapped: Field[bool] = Field(default=False)
    warnings: Field[tuple[str, ...]] = texts()
    diff: Field[Changes] = one(Changes)
    moved: Field[list[dict[str, Any]]] = Field()
    values: Field[dict[str, Any] | None] = Field()
    detail: Field[dict[str, Any] | None] = Field()

    @property
    def added(self) -> tuple[str, ...]:
        """Ids of added nodes."""
        return self.diff.added

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of removed nodes."""
        return self.diff.removed

    @property
    def changed(self) -> tuple[Changed, ...]:
        """Nodes that changed."""
        return self.diff.changed

    def __bool__(self) -> bool:
        """Returns whether anything changed."""
        return bool(self.added or self.removed or self.changed)

    def _repr_html_(self) -> str:
        return diff_html(self._json())


class TokenCount(Record):
    """A count of tokens."""

    __slots__ = ()
    tokens: Field[int] = Field()
    media: Field[int] = Field()
    blocks: Field[int] = Field()
    of: Field[str] = Field()
    tokenizer: Field[str] = Field()
    exact: Field[bool] = Field()
    error_percent: Field[int] = Field()
    by: Field[str] = Field()
    groups: Field[list[dict[str, Any]]] = Field()
    cycle: Field[int | None] = Field()


class Tokens(Record):
    """Counts of tokens: of a state, or over time."""

    __slots__ = ()
    counts: Field[tuple[TokenCount, ...]] = many(TokenCount)
    state: Field[str] = Field()
    counted_by: Field[str] = Field()

    @property
    def total(self) -> int:
        """The tokens of the newest count."""
        return self.counts[-1].tokens if self.counts else 0


class CacheCall(Record):
    """What one call could read from the prompt cache."""

    __slots__ = ()
    state: Field[str] = Field()
    tokens: Field[int] = Field()
    cached: Field[int] = Field()
    attempt: Field[str | None] = Field()
    billed: Field[dict[str, Any] | None] = Field()
    broken: Field[dict[str, Any] | None] = Field()
    bytes: Field[int | None] = Field()
    cost: Field[dict[str, Any] | None] = Field()
    cycle: Field[int | None] = Field()
    gap_seconds: Field[int | None] = Field()
    inferred: Field[dict[str, Any] | None] = Field()
    miss: Field[dict[str, Any] | None] = Field()
    model: Field[str | None] = Field()
    prefix_bytes: Field[int | None] = Field()
    prefix_tokens: Field[int | None] = Field()
    question: Field[str | None] = Field()
    serves: Field[str | None] = Field()
    started_at: Field[int | None] = Field()


class CacheReport(Record):
    """What the calls can read from the provider's prompt cache, what was billed, and the reason for every miss."""

    __slots__ = ()
    provider: Field[str] = Field()
    model: Field[str | None] = Field()
    tokens: Field[int] = Field()
    cached: Field[int] = Field()
    per_mille: Field[int] = Field()
    calls: Field[tuple[CacheCall, ...]] = many(CacheCall)
    billed: Field[dict[str, Any] | None] = Field()
    breakpoints: Field[list[dict[str, Any]]] = Field()
    cost: Field[dict[str, Any] | None] = Field()
    error_percent: Field[int] = Field()
    exact: Field[bool] = Field()
    min_tokens: Field[int] = Field()
    reasons: Field[list[dict[str, Any]]] = Field()
    rules: Field[str] = Field()
    skipped: Field[tuple[str, ...]] = texts()
    tokenizer: Field[str] = Field()

    def _repr_html_(self) -> str:
        return cache_html(self._json())


class Operation(Record):
    """Something that was done to a context: by which command, and when."""

    __slots__ = ()
    operation: Field[int] = Field()
    at_ns: Field[int] = Field()
    command: Field[str] = Field()
    kind: Field[str] = Field()
    target: Field[int | None] = Field()
    before: Field[int | None] = Field()
    after: Field[int | None] = Field()
    line: Field[str | None] = Field()
    reason: Field[str | None] = Field()


class Applied(Record):
    """What one operation did."""

    __slots__ = ()
    op: Field[str] = Field()
    node: Field[str] = Field()
    core: Field[str | None] = Field()
    removed: Field[tuple[str, ...]] = texts()
    renamed: Field[list[dict[str, Any]]] = Field(default=[])


class Appended(Record):
    """A message that was appended, and its nodes."""

    __slots__ = ()
    role: Field[str] = Field()
    nodes: Field[tuple[str, ...]] = texts()


class Recalled(Record):
    """What was brought back: the new node, the snapshot that it is from (`from`), and how many commits it survives."""

    __slots__ = ()
    id: Field[str] = Field()
    snapshot: Field[str] = Field("from")
    ttl: Field[int] = Field()


class Redaction(Record):
    """Content that was replaced by a marker in every snapshot."""

    __slots__ = ()
    nodes: Field[tuple[str, ...]] = texts()
    contents: Field[int] = Field()
    copies: Field[int] = Field()
    contexts: Field[tuple[str, ...]] = texts()
    everywhere: Field[tuple[str, ...]] = texts()
    elsewhere: Field[tuple[str, ...]] = texts()


class NodeEvent(Record):
    """What a commit did to a node."""

    __slots__ = ()
    cycle: Field[int] = Field()
    event: Field[Literal["added", "changed", "removed"]] = Field()
    fields: Field[tuple[str, ...]] = texts()
    reason: Field[str | None] = Field()


class Sent(Record):
    """A request that was sent. `request` is the exact text."""

    __slots__ = ()
    request: Field[str] = Field()
    hash: Field[str] = Field()
    attempt: Field[AttemptInfo] = one(AttemptInfo)
    findings: Field[tuple[Finding, ...]] = many(Finding)
    spans: Field[list[dict[str, Any]]] = Field(default=[])


class StoredBudget(Record):
    """The budget that is stored with a context, as TOML."""

    __slots__ = ()
    budget: Field[str | None] = Field()
    has_policy: Field[bool] = Field(default=False)
    replaced: Field[bool] = Field(default=False)


class Explained(Record):
    """How a selector is read and evaluated. `str()` of it is the text that `ctx explain` prints."""

    __slots__ = ()
    text: Field[str] = Field()
    explanation: Field[dict[str, Any]] = Field()

    def __str__(self) -> str:
        """Returns the text."""
        return self.text


class Collected(Record):
    """Snapshots that retention dropped and kept."""

    __slots__ = ()
    dropped: Field[int] = Field()
    kept: Field[int] = Field()
    pinned: Field[int] = Field(default=0)
    forked: Field[int] = Field(default=0)
    undone: Field[int] = Field()
    bytes: Field[int | None] = Field()


class Backup(Record):
    """A copy of a store."""

    __slots__ = ()
    path: Field[str] = Field()
    bytes: Field[int] = Field()


class Undone(Record):
    """What was undone, redone or reset, and the newest snapshot after it."""

    __slots__ = ()
    operations: Field[list[dict[str, Any]]] = Field()
    head: Field[int | None] = Field()
    before: Field[int | None] = Field()
    lines: Field[tuple[str, ...]] = texts()


class ImportResult(Record):
    """An imported document."""

    __slots__ = ()
    name: Field[str] = Field()
    context: Field[ContextInfo | None] = maybe(ContextInfo)
    snapshots: Field[int] = Field()
    nodes: Field[int] = Field()
    updated: Field[bool] = Field(default=False)
    imported: Field[dict[str, Any] | None] = Field("import")
    warnings: Field[tuple[str, ...]] = texts()


class CheckedContext(Record):
    """A context whose digests were computed again."""

    __slots__ = ()
    name: Field[str] = Field()
    sound: Field[int] = Field()
    problem: Field[dict[str, Any] | None] = Field()


class Verification(Record):
    """Whether the store is intact. A `Verification` is true if it is."""

    __slots__ = ()
    clean: Field[bool] = Field()
    contexts: Field[tuple[CheckedContext, ...]] = many(CheckedContext)
    engine: Field[tuple[str, ...]] = texts()

    def __bool__(self) -> bool:
        """Returns whether everything is intact."""
        return self.clean
