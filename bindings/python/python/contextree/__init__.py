"""Contextree: what the model sees, kept as a deterministic, versioned tree.

>>> import contextree
>>> store = contextree.open("memory:")
>>> context = store.context("support-42")
>>> context.user("Will it rain in Oslo?")
'block:1.1'
"""

from ._async import AsyncAttempt, AsyncContext, AsyncStore, AsyncView, open_async
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
    StoreError,
    UnavailableError,
    UsageError,
    VersionError,
)
from ._native import VERSION as __version__
from ._node import Node, Nodes, RangeDiff
from ._results import (
    Answer,
    AttemptInfo,
    BudgetReport,
    CacheReport,
    Commit,
    ContextInfo,
    Diff,
    Finding,
    ImportResult,
    LogEntry,
    Loss,
    Operation,
    Rendered,
    Report,
    Status,
    TokenCount,
    Tokens,
    ToolCall,
    Undone,
    Verification,
)
from ._store import Store, open

__all__ = [
    "Answer",
    "AsyncAttempt",
    "AsyncContext",
    "AsyncStore",
    "AsyncView",
    "Attempt",
    "AttemptInfo",
    "BudgetReport",
    "CacheReport",
    "ClosedError",
    "Commit",
    "ConflictError",
    "Context",
    "ContextInfo",
    "ContextreeError",
    "CorruptError",
    "DeniedError",
    "Diff",
    "ExistsError",
    "Finding",
    "ForkedError",
    "ImportResult",
    "InternalError",
    "LimitError",
    "LogEntry",
    "Loss",
    "Node",
    "Nodes",
    "NotFoundError",
    "Operation",
    "RangeDiff",
    "Rendered",
    "Report",
    "SealedError",
    "SelectorError",
    "Status",
    "Store",
    "StoreError",
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
