// A real `ctx serve` over a store of its own, in a folder that is removed afterwards.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const CTX = process.env.CTX ?? new URL("../../target/debug/ctx", import.meta.url).pathname;

/** The context that the store begins with. */
export const FIRST = "parser";

/** Starts a server on a free port; resolves when it listens. */
export async function serve(...options) {
  const folder = mkdtempSync(join(tmpdir(), "inspector-"));
  const token = join(folder, "token");
  const store = ["--store", `sqlite:${join(folder, "contexts.db")}`];
  execFileSync(CTX, [...store, "--context", FIRST, "new"], { stdio: "ignore" });
  const child = spawn(CTX, [...store, "serve", "--listen", "127.0.0.1:0", "--token-file", token, "--log", "off", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = [];
  const url = await new Promise((resolve, reject) => {
    const look = (data) => {
      said.push(String(data));
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said.join(""));
      if (found !== null) resolve(found[0]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.on("exit", (code) => reject(new Error(`ctx serve ended with ${code}: ${said.join("")}`)));
    child.on("error", reject);
  });
  const secret = readFileSync(token, "utf8").trim();
  return {
    url,
    store,
    token: secret,
    page: `${url}/#token=${secret}`,
    api: (path, body) => call(`${url}/v1/${path}`, secret, body),
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function call(url, token, body) {
  const isText = typeof body === "string";
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": isText ? "application/octet-stream" : "application/json" }) },
    body: body === undefined || isText ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
