//! The systems that are compared.

/// A system in one configuration.
#[derive(Debug)]
pub(crate) struct System {
    /// Its name in results and tables.
    pub(crate) name: &'static str,
    /// The program that runs it.
    pub(crate) program: Program,
    /// The argument of that program.
    pub(crate) argument: &'static str,
    /// Whether it is ours.
    pub(crate) is_ours: bool,
    /// The group in which it is compared: systems with the same guarantee after a turn.
    pub(crate) group: Group,
    /// A remark for the reader.
    pub(crate) remark: &'static str,
}

/// A program that follows conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// `contextree-bench peers`.
    Ours,
    /// A script in `peers/python`, with the environment that it needs.
    Python(&'static str, &'static str),
    /// The program in `peers/rust`.
    Rust,
}

/// What is guaranteed after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Nothing: it is in memory.
    Memory,
    /// It is on disk: synced.
    Durable,
    /// It was passed to the operating system; not synced.
    Written,
    /// It is on the disk of a server.
    Server,
}

impl Group {
    /// Every group, with its title.
    pub(crate) const ALL: [(Group, &'static str); 4] = [
        (Group::Memory, "In memory"),
        (Group::Durable, "Embedded, synced to disk at every turn"),
        (Group::Written, "Embedded, not synced"),
        (Group::Server, "PostgreSQL, synced at every turn"),
    ];
}

const GRAPH: Program = Program::Python("langgraph", "peer_langgraph.py");
const OPENAI: Program = Program::Python("langgraph", "peer_openai.py");
const EGREGORE: Program = Program::Python("egregore", "peer_egregore.py");

const fn ours(
    name: &'static str,
    argument: &'static str,
    group: Group,
    remark: &'static str,
) -> System {
    System { name, program: Program::Ours, argument, is_ours: true, group, remark }
}

const fn peer(
    name: &'static str,
    program: Program,
    argument: &'static str,
    group: Group,
    remark: &'static str,
) -> System {
    System { name, program, argument, is_ours: false, group, remark }
}

/// Every system, ours first in each group.
pub(crate) const SYSTEMS: &[System] = &[
    ours("Contextree, memory", "memory", Group::Memory, "every snapshot kept"),
    peer(
        "LangGraph InMemorySaver",
        GRAPH,
        "memory:full:async",
        Group::Memory,
        "`MessagesState`, three checkpoints a turn",
    ),
    peer(
        "LangGraph InMemorySaver, DeltaChannel",
        GRAPH,
        "memory:delta:async",
        Group::Memory,
        "opt-in, default frequency of snapshots",
    ),
    peer(
        "rig-memory MemoryStore",
        Program::Rust,
        "rig-memory",
        Group::Memory,
        "`save` after each turn",
    ),
    peer(
        "Egregore, memory",
        EGREGORE,
        "memory",
        Group::Memory,
        "its best case: snapshots are not written anywhere",
    ),
    peer(
        "pactree, memory",
        Program::Rust,
        "pactree-memory",
        Group::Memory,
        "`submit` and `commit_staged`",
    ),
    ours(
        "Contextree, SQLite",
        "sqlite",
        Group::Durable,
        "every snapshot kept; `synchronous=FULL`, the default",
    ),
    peer(
        "LangGraph SqliteSaver",
        GRAPH,
        "sqlite:full:async",
        Group::Durable,
        "`MessagesState`, durability `async`: the defaults",
    ),
    peer(
        "LangGraph SqliteSaver, sync",
        GRAPH,
        "sqlite:full:sync",
        Group::Durable,
        "the same, durability `sync`",
    ),
    peer(
        "LangGraph SqliteSaver, exit",
        GRAPH,
        "sqlite:full:exit",
        Group::Durable,
        "the same, durability `exit`: one checkpoint a turn",
    ),
    peer(
        "LangGraph SqliteSaver, DeltaChannel",
        GRAPH,
        "sqlite:delta:async",
        Group::Durable,
        "opt-in, default frequency of snapshots",
    ),
    peer(
        "OpenAI Agents SQLiteSession",
        OPENAI,
        "turn",
        Group::Durable,
        "`get_items` and `add_items`, as a run does; the present only",
    ),
    peer(
        "OpenAI Agents SQLiteSession, add only",
        OPENAI,
        "append",
        Group::Durable,
        "`add_items` alone; the present only",
    ),
    peer(
        "rig-memory SQLite",
        Program::Rust,
        "rig-sqlite",
        Group::Durable,
        "rig-sqlite, set to WAL and `synchronous=FULL`",
    ),
    peer("pactree, file", Program::Rust, "pactree-file", Group::Durable, "one `fsync` a commit"),
    ours(
        "Contextree, SQLite relaxed",
        "sqlite-relaxed",
        Group::Written,
        "every snapshot kept; `synchronous=NORMAL`",
    ),
    peer("rig-memory DirStore", Program::Rust, "rig-dir", Group::Written, "appends to a file"),
    ours("Contextree, PostgreSQL", "postgres", Group::Server, "every snapshot kept"),
    peer(
        "LangGraph PostgresSaver",
        GRAPH,
        "postgres:full:async",
        Group::Server,
        "`MessagesState`, durability `async`: the defaults",
    ),
    peer(
        "LangGraph PostgresSaver, DeltaChannel",
        GRAPH,
        "postgres:delta:async",
        Group::Server,
        "opt-in, default frequency of snapshots",
    ),
];
