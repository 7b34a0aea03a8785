"""Contextree: what the model sees, kept as a deterministic, versioned tree.

>>> import contextree
>>> store = contextree.open("memory:")
>>> context = store.context("support-42")
>>> context.user("Will it rain in Oslo?")
'block:1.1'
"""

from typing import TYPE_CHECKING

from ._attempt import Attempt
from ._context import Context, View
from ._errors import (
    ClosedError,
    ConflictError,
    ContextreeError,
    CorruptError,
    DeniedError,
    ExistsError,
    ForkedError,
    InternalError,
    LimitError,
    NotFoundError,
    SealedError,
    SelectorError,
    SerializationError,
    StoreError,
    UnavailableError,
    UsageError,
    VersionError,
)
from ._native import VERSION as __version__
from ._node import Node, Nodes, RangeChange, RangeDiff, RangeSnapshot, RangeStep
from ._results import (
    Answer,
    Appended,
    Applied,
    AttemptInfo,
    Backup,
    BudgetReport,
    CacheReport,
    Collected,
    Commit,
    ContextInfo,
    Diff,
    Explained,
    Finding,
    ImportResult,
    Linted,
    LogEntry,
    Loss,
    NodeEvent,
    Operation,
    Recalled,
    Redaction,
    Rendered,
    Report,
    Sent,
    Status,
    StoredBudget,
    Timeline,
    TimelineCall,
    TimelineMessage,
    TokenCount,
    Tokens,
    ToolCall,
    Undone,
    Verification,
)
from ._store import Store, open

if TYPE_CHECKING:
    from ._async import AsyncAttempt, AsyncContext, AsyncStore, AsyncView, open_async

__all__ = [
    "Answer",
    "Appended",
    "Applied",
    "AsyncAttempt",
    "AsyncContext",
    "AsyncStore",
    "AsyncView",
    "Attempt",
    "AttemptInfo",
    "Backup",
    "BudgetReport",
    "CacheReport",
    "ClosedError",
    "Collected",
    "Commit",
    "ConflictError",
    "Context",
    "ContextInfo",
    "ContextreeError",
    "CorruptError",
    "DeniedError",
    "Diff",
    "ExistsError",
    "Explained",
    "Finding",
    "ForkedError",
    "ImportResult",
    "InternalError",
    "LimitError",
    "Linted",
    "LogEntry",
    "Loss",
    "Node",
    "NodeEvent",
    "Nodes",
    "NotFoundError",
    "Operation",
    "RangeChange",
    "RangeDiff",
    "RangeSnapshot",
    "RangeStep",
    "Recalled",
    "Redaction",
    "Rendered",
    "Report",
    "SealedError",
    "SelectorError",
    "Sent",
    "SerializationError",
    "Status",
    "Store",
    "StoreError",
    "StoredBudget",
    "Timeline",
    "TimelineCall",
    "TimelineMessage",
    "TokenCount",
    "Tokens",
    "ToolCall",
    "UnavailableError",
    "Undone",
    "UsageError",
    "Verification",
    "VersionError",
    "View",
    "__version__",
    "open",
    "open_async",
]

_ASYNC = frozenset({"AsyncAttempt", "AsyncContext", "AsyncStore", "AsyncView", "open_async"})


def __getattr__(name: str) -> object:
    """Imports what needs `asyncio` when it is used: that takes longer than the whole package."""
    if name in _ASYNC:
        from . import _async

        return getattr(_async, name)
    raise AttributeError(f"module `contextree` has no attribute `{name}`")
