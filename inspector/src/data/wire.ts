// The JSON of the server, as far as the page reads it. crates/server/openapi.json describes all of it.

export interface ContextRow {
  name: string;
  revision: number;
  head: { cycle: number; digest: string } | null;
  snapshots: number;
  created_ns: number;
  updated_ns: number;
}

export type AttemptStatus = "running" | "completed" | "canceled" | "error";

export interface Attempt {
  attempt_id: string;
  cycle_id: number;
  status: AttemptStatus;
  started_at: number;
  ended_at: number | null;
  provider: string;
  model: string;
  input?: string;
  token_in: number | null;
  token_out: number | null;
  cache_read?: number;
  cache_write?: number;
  reasoning?: number;
  answered_by?: string;
  stop_reason?: string;
  error?: string;
  source?: string;
  partial?: string;
  diagnostics?: unknown;
}

export interface TimelineCall {
  cycle: number;
  committed: boolean;
  serves?: number;
  sealed_at_ns?: number;
  nodes: number;
  changes?: { added: number; removed: number; changed: number };
  expired: number;
  pruned: number;
  dropped: number;
  cleared?: number;
  attempts: Attempt[];
}

export interface Timeline {
  calls: TimelineCall[];
  messages: { node: string; excerpt?: string }[];
  left_out: number;
  next_cycle: number;
  provider?: string;
  model?: string;
  tokenizer: string;
}

export type Mark = "same" | "added" | "changed" | "removed";

export interface Rows {
  state: StateName;
  against?: StateName;
  total: number;
  matched: number;
  next?: number;
  positions: number[];
  words: string[];
  columns: {
    id?: string[];
    depth?: number[];
    below?: number[];
    class?: number[];
    type?: number[];
    role?: (number | null)[];
    kind?: (number | null)[];
    key?: (string | null)[];
    name?: (string | null)[];
    tags?: string[][];
    ttl?: (number | null)[];
    priority?: (number | string)[];
    pinned?: boolean[];
    tokens_below?: number[];
    mark?: Mark[];
    fields?: string[][];
    reason?: (number | null)[];
    excerpt?: (string | null)[];
  };
}

export interface StateName {
  label: string;
  cycle: number | null;
  context?: string;
}

export interface Node {
  id: string;
  nodeType: string;
  role?: string;
  kind?: string;
  content?: unknown;
  derived: {
    bytes: number;
    class: "root" | "region" | "turn" | "container" | "block";
    content_hash: string;
    depth: number | null;
    parent: string | null;
    path: string[];
    pinned?: boolean;
    priority?: number;
    region: string | null;
  };
  [attribute: string]: unknown;
}

export interface NodeResponse {
  state: StateName;
  node: Node;
  children: string[];
  tokens?: number;
  counted_by?: string;
}

export interface NodeEvent {
  cycle: number;
  event: "added" | "changed" | "removed";
  fields?: string[];
  reason?: string;
}

export interface NodeHistory {
  events: NodeEvent[];
  next?: number;
}

export interface Span {
  node: string;
  start: number;
  end: number;
  path: string;
}

export interface Finding {
  severity: "error" | "warning" | "loss";
  message: string;
  path?: string;
}

export interface Rendered {
  request: string;
  hash: string;
  spans?: Span[];
  findings: Finding[];
  losses: { node: string; message: string; detail?: string }[];
  accepted: boolean;
}

export interface Sent {
  attempt: Attempt;
  request: string;
  hash: string;
  spans?: Span[];
}

export interface DiffResponse {
  older: StateName;
  newer: StateName;
  diff: { added: string[]; removed: string[]; changed: { id: string; fields: string[] }[] };
  detail?: {
    added: Node[];
    removed: Node[];
    changed: { before: Node; after: Node; fields: string[] }[];
    bytes_before: number;
    bytes_after: number;
    thread_bytes: number;
    thread_bytes_shared: number;
    reports: { cycle: number; expired: string[]; pruned: { id: string; along: string[] }[]; dropped?: string[]; cleared?: { id: string }[]; cascaded: string[]; along: string[] }[];
  };
}

export interface BrokenPrefix {
  offset: number;
  node: string | null;
  path: string | null;
  cause: string;
  message: string;
  reason: string;
  tokens_lost: number;
  advice: string;
}

export interface CacheMiss {
  reason: string;
  message: string;
  advice: string;
}

export interface CacheStep {
  state: string;
  cycle: number | null;
  tokens: number;
  cached: number;
  bytes?: number;
  prefix_bytes?: number;
  prefix_tokens?: number;
  broken?: BrokenPrefix;
  miss?: CacheMiss;
  cost?: Cost;
}

export interface Cost {
  currency: string;
  micros: number;
  total_micros: number;
}

export interface CacheResponse {
  cost?: Cost;
  tokens: number;
  cached: number;
  per_mille: number;
  model: string | null;
  tokenizer: string;
  error_percent: number;
  rules: string;
  min_tokens: number;
  calls: CacheStep[];
  skipped: string[];
}

export interface TokensResponse {
  counts: { tokens: number; media: number; blocks: number; exact: boolean; error_percent: number; groups: { name: string | null; tokens: number; blocks: number }[] }[];
  state: string;
  counted_by: string;
}

export interface CommitResponse {
  report: { pruned: { id: string; along: string[] }[]; expired: string[]; along: string[] };
  budget?: {
    tokenizer: string;
    error_percent: number;
    kept: boolean;
    tokens_before: number;
    tokens_expiring: number;
    tokens_after: number;
    cleared?: { node: string; tokens: number; reason: string }[];
    going: { node: string; tokens: number; rule: string; reason: string }[];
    missed: { rule: string; scope: string; left: number }[];
  };
}

/** The budget that is stored with a context, as a file in TOML. */
export interface BudgetResponse {
  budget?: string;
}

export interface Branch {
  context: string;
  from: string | null;
  cycle: number;
}

export interface Session {
  name: string;
  right: "read" | "write" | "admin";
  /** The prefixes of the names of contexts that exist for the caller; null if all do. */
  prefixes: string[] | null;
  version: string;
}

/** What a redaction replaced, or would replace. */
export interface Redacted {
  nodes: string[];
  contents: number;
  copies: number;
  contexts: string[];
  elsewhere: string[];
}
