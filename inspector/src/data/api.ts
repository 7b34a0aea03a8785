// Requests to the server. Reads are kept until the context changes; every read is a URL that works without the page, too.

/** What the server answers when it refuses something. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown>,
    readonly hint: string | undefined,
  ) {
    super(message);
  }
}

export type Parameters = Record<string, string | number | boolean | string[] | object | undefined>;

/** Returns the URL of a read: the JSON twin of what is shown. */
export function url(context: string | undefined, command: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === false) continue;
    if (Array.isArray(value)) value.forEach((one) => query.append(name, one));
    else query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  const path = context === undefined ? `v1/${command}` : `v1/contexts/${encodeURIComponent(context)}/${command}`;
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

async function refuse(response: Response): Promise<never> {
  const text = await response.text();
  let body: { code?: string; detail?: string; title?: string; details?: { hints?: string[]; [name: string]: unknown } } = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may answer with something else.
  }
  const message = body.detail ?? body.title ?? (text.slice(0, 200) || response.statusText);
  throw new Problem(response.status, body.code ?? `HTTP ${response.status}`, message, body.details ?? {}, body.details?.hints?.[0]);
}

let offline: ((address: string) => unknown) | undefined;

/** Answers reads from data in the page instead of a server. */
export function goOffline(answer: (address: string) => unknown): void {
  offline = answer;
}

export function isOffline(): boolean {
  return offline !== undefined;
}

async function load<T>(address: string): Promise<T> {
  if (offline !== undefined) return offline(address) as T;
  const response = await fetch(address, { headers: { accept: "application/json" } });
  return response.ok ? ((await response.json()) as T) : refuse(response);
}

const kept = new Map<string, Promise<unknown>>();
const LARGEST = 200;

/** Reads a URL. The same URL is asked for once, until `forget`. */
export function read<T>(address: string): Promise<T> {
  const known = kept.get(address);
  if (known !== undefined) {
    kept.delete(address);
    kept.set(address, known);
    return known as Promise<T>;
  }
  const promise = load<T>(address);
  promise.catch(() => kept.delete(address));
  kept.set(address, promise);
  for (const oldest of kept.keys()) {
    if (kept.size <= LARGEST) break;
    kept.delete(oldest);
  }
  return promise;
}

/**
 * Forgets what was read of a context, or of all, because it changed. That includes snapshots: a redaction changes their contents, and
 * after an undo another one may have the same number.
 */
export function forget(context: string | undefined): void {
  const prefix = context === undefined ? "v1/" : url(context, "");
  for (const address of kept.keys()) {
    if (address.startsWith(prefix) && address !== "v1/session") kept.delete(address);
  }
}

/** Forgets one address. */
export function forgetOne(address: string): void {
  kept.delete(address);
}

/** Runs a command without changing anything. */
export function dryRun<T>(context: string, command: string, request: object): Promise<T> {
  return post<T>(context, command, { ...request, change: { dry_run: true } });
}

/** Runs a command that may change something: only for what the user confirmed, or for a dry run. */
export function post<T>(context: string, command: string, request: object): Promise<T> {
  return send<T>(url(context, command), request);
}

/** Like `post`, for a command on the store. */
export function call<T>(command: string, request: object): Promise<T> {
  return send<T>(url(undefined, command), request);
}

async function send<T>(address: string, request: object): Promise<T> {
  const body = JSON.stringify(request);
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body,
  });
  return response.ok ? ((await response.json()) as T) : refuse(response);
}

/** Exchanges the token in the address for a cookie, and removes it from the address. */
export async function signIn(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return;
  const context = given.get("context");
  const place = context === null ? "" : `#/${encodeURIComponent(context)}`;
  history.replaceState(null, "", location.pathname + location.search + place);
  await exchange(token);
}

/** Exchanges a token for a cookie. */
export async function exchange(token: string): Promise<void> {
  const response = await fetch("v1/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!response.ok) await refuse(response);
}

/** Takes the cookie back. */
export async function signOut(): Promise<void> {
  const response = await fetch("v1/session", { method: "DELETE" });
  if (!response.ok) await refuse(response);
}
