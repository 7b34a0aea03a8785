// Every view of the page in a real browser, over a real server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browse, open, useFiles } from "./browser.mjs";
import { serve } from "./server.mjs";
import { makeSession } from "./session.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server;
let browser;

before(async () => {
  server = await serve();
  await makeSession(server.api);
  browser = await browse();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Opens a place of the page. */
async function at(hash, options) {
  const opened = await open(browser, server, options);
  await opened.page.evaluate((hash) => (location.hash = hash), hash);
  return opened;
}

/** Returns what axe finds serious. The policy of the page keeps scripts out, so this page is opened without it. */
async function seriousIn(hash, ready, options = {}) {
  const { page, context } = await at(hash, { bypassCSP: true, reducedMotion: "reduce", ...options });
  await page.waitForSelector(ready);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  await context.close();
  return serious.map(({ id, nodes }) => `${hash}: ${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join("\n")}`);
}

test("contexts are listed, filtered by the address, and change without a reload", async () => {
  const { page, wrong, context } = await at("#/");
  await page.waitForSelector(".cards li");
  assert.deepEqual(await page.locator(".cards .title .name").allTextContents(), ["parser", "parser/retry"]);
  assert.match(await page.locator(".cards li").nth(1).textContent(), /from call 4/);
  // The branch hangs from the context that it was forked from.
  assert.deepEqual(await page.locator(".cards li").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll(".rail")].map((rail) => rail.className))), [["rail dot"], ["rail elbow", "rail dot"]]);
  await page.waitForSelector('.cards li:has-text("claude-sonnet-5")');
  assert.ok(!page.url().includes("token"), "the token stays out of the address");
  await page.getByLabel("Filter contexts by name").fill("retry");
  await page.waitForFunction(() => document.querySelectorAll(".cards li").length === 1);
  assert.ok(page.url().endsWith("#/?q=retry"), page.url());
  await server.api("new", { name: "retry-later" });
  await page.waitForFunction(() => document.querySelectorAll(".cards li").length === 2);
  await server.api("delete", { name: "retry-later" });
  await page.waitForFunction(() => document.querySelectorAll(".cards li").length === 1);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the list of contexts is used with keys, and ? lists them", async () => {
  const { page, wrong, context } = await at("#/");
  await page.waitForSelector(".cards li");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /^parser\/retry/);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  assert.match(await page.locator("dialog").textContent(), /next context.*filter by name/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("dialog") === null);
  await page.keyboard.press("/");
  await page.keyboard.type("par");
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".crumb a")?.textContent === "parser");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the timeline groups calls by user message, and keys step through it", async () => {
  const { page, wrong, context } = await at("#/parser");
  await page.waitForSelector(".row");
  const titles = await page.locator(".group h3").allTextContents();
  assert.deepEqual(
    titles.map((title) => title.slice(0, 20)),
    ["The tests of the `pa", "Yes. Follow the styl", "Thanks! Is there the"],
  );
  assert.equal(await page.locator(".call .number").allTextContents().then((all) => all.join(" ")), "1 2 3 4 5 6 7 8 now");
  await page.waitForSelector(".flag.broken");
  const seventh = page.locator('.call:has(.number:text-is("7"))');
  assert.match(await seventh.textContent(), /cache break.*pruned.*1\.55k/);
  assert.match(await page.locator('.call:has(.number:text-is("3"))').textContent(), /1 failed try/);
  assert.equal(await page.locator(".state h1").textContent(), "Call 8");
  await page.keyboard.press("[");
  await page.waitForFunction(() => document.querySelector(".state h1")?.textContent === "Call 7");
  assert.ok(page.url().includes("#/parser/@c7"), page.url());
  assert.equal(await page.locator('.call[aria-current="step"] .number').textContent(), "7");
  assert.equal(await page.locator('.call[data-later="true"]').count(), 1);
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  await page.waitForFunction(() => document.querySelector(".state h1")?.textContent === "Working state");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector(".state h1")?.textContent === "Call 8");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the tree marks what was added, and shows what was removed, with the reason", async () => {
  const { page, wrong, context } = await at("#/parser/@c7");
  await page.waitForSelector(".row.mark-removed");
  assert.ok((await page.locator(".row.mark-removed .reason").allTextContents()).includes("pruned"));
  // What was added is at the end; only rows in view are drawn.
  await page.locator(".tree").evaluate((tree) => (tree.scrollTop = tree.scrollHeight));
  await page.waitForSelector(".row.mark-added");
  await page.locator(".tree").evaluate((tree) => (tree.scrollTop = 0));
  await page.locator(".row.mark-removed.block").first().click();
  await page.waitForSelector(".node .badge.reason");
  assert.match(await page.locator(".node .badge.reason").textContent(), /as it was in @c6/);
  await page.goto(`${server.url}/#/parser/@c5`);
  await page.waitForSelector('.row.mark-removed .reason:text-is("expired")');
  await page.getByLabel("compared with").selectOption("none");
  await page.waitForFunction(() => document.querySelectorAll(".row.mark-removed").length === 0);
  // Once the tokens are counted, the largest turn and the largest block fill their bars, and no other is wider.
  await page.waitForFunction(() => document.querySelector(".row.turn .tokens")?.textContent !== "");
  const widths = await page.locator(".row .fill").evaluateAll((bars) => bars.map((bar) => parseFloat(bar.style.width)));
  assert.ok(widths.every((width) => width <= 100) && widths.filter((width) => width === 100).length >= 2, widths.join(" "));
  // Turns are followed by their blocks. A core that is all there is of a turn has a row only if it is searched for.
  assert.equal(await page.locator(".row.container").count(), 0);
  assert.equal(await page.locator(".row.turn + .row.block").first().getAttribute("aria-level"), "4");
  await page.getByLabel("Search text or a selector").fill("^seq .cont");
  await page.waitForSelector(".row.container.hit");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("rows of the tree tell a screen reader where they are, and arrows move", async () => {
  const { page, context } = await at("#/parser/@c8");
  await page.waitForSelector(".row");
  assert.match(await page.locator(".row.block").first().textContent(), /pinned/);
  const region = page.locator(".row.region").first();
  assert.deepEqual(await region.evaluate((row) => ["aria-level", "aria-setsize", "aria-posinset", "aria-expanded"].map((name) => row.getAttribute(name))), ["2", "3", "1", "true"]);
  await page.locator(".tree").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => document.querySelector(".node h2")?.textContent === "sys");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector(".row.region")?.getAttribute("aria-expanded") === "false");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  assert.match(await page.locator("dialog").textContent(), /previous call/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("dialog") === null);
  await context.close();
});

test("a node shows its content, headers, history and bytes", async () => {
  const { page, wrong, context } = await at("#/parser/@c4");
  await page.waitForSelector(".row");
  await page.locator('.row:has-text("STYLE.md")').click();
  await page.waitForSelector(".markdown .heading");
  assert.equal(await page.locator(".markdown .heading").textContent(), "Style of the parser");
  assert.equal(await page.locator(".markdown pre code").count(), 1);
  await page.getByRole("button", { name: "raw" }).click();
  await page.waitForSelector("pre.raw");
  assert.ok(page.url().endsWith("&raw"), page.url());
  await page.getByRole("button", { name: "Headers" }).click();
  assert.match(await page.locator(".headers").textContent(), /ttl0/);
  await page.waitForSelector(".history .mark-removed");
  assert.match(await page.locator(".history").textContent(), /@c4 added.*@c5 removed its ttl ran out/);
  await page.waitForSelector('.node code:has-text("messages[")');
  await page.locator('.row:has-text("states.png")').click();
  await page.getByRole("button", { name: "raw" }).click();
  await page.waitForFunction(() => document.querySelector("img.picture")?.naturalWidth === 16);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the request is what was sent, byte for byte, and its ranges lead to nodes", async () => {
  const { page, wrong, context } = await at("#/parser/@c4/request?raw");
  await page.waitForSelector(".proof .ok");
  const sent = await server.api("contexts/parser/sent?at=@c4");
  assert.equal(await page.locator(".bytes pre").textContent(), sent.request);
  assert.match(await page.locator(".proof").textContent(), /same hash as attempt:4/);
  const range = page.locator(".range", { hasText: "Follow the style guide" });
  await range.hover();
  await page.waitForSelector(".map .hovered");
  // And the other way: a node highlights its bytes.
  const other = page.locator(".map button").first();
  await other.hover();
  await page.waitForFunction(() => document.querySelectorAll(".range.hovered").length === 1);
  assert.equal(await page.locator(".range.hovered").getAttribute("data-node"), (await other.getAttribute("title")).split(" ")[0]);
  await range.click();
  await page.waitForSelector(".node h2");
  assert.equal(await page.locator(".node h2").textContent(), await range.getAttribute("data-node"));
  assert.equal(await page.locator(".map .chosen").getAttribute("data-node"), await range.getAttribute("data-node"));
  await page.locator(".toolbar").getByRole("button", { name: "raw" }).click();
  await page.waitForFunction(() => document.querySelector(".bytes pre")?.textContent?.includes('\n  "max_tokens": 4096'));
  await page.locator(".formats").getByText("gemini").click();
  await page.waitForFunction(() => document.querySelector(".bytes pre")?.textContent?.includes("functionDeclarations"));
  assert.match(await page.locator(".proof").textContent(), /not what was sent/);
  assert.deepEqual(wrong, []);
  await context.close();
});

/** Runs a command in a shell that has a program in the place of curl, and returns what that was given: arguments and body. */
function withoutNetwork(command) {
  const folder = mkdtempSync(join(tmpdir(), "curl-"));
  try {
    writeFileSync(join(folder, "curl"), `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/given"\ncat > "${folder}/body"\n`, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, ANTHROPIC_API_KEY: "key", GEMINI_API_KEY: "key" };
    // From its standard input: as an argument it could be too long.
    execFileSync("sh", ["-s"], { cwd: folder, env, input: command, stdio: ["pipe", "ignore", "inherit"] });
    return { given: readFileSync(join(folder, "given"), "utf8").split("\n"), body: readFileSync(join(folder, "body"), "utf8"), files: readdirSync(folder).sort() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the bytes and a curl command are copied as they are", async () => {
  const { page, wrong, context } = await at("#/parser/@c4/request", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.waitForSelector(".proof .ok");
  const { request } = await server.api("contexts/parser/sent?at=@c4");
  const copied = async (name) => {
    await page.getByRole("button", { name }).click();
    await page.waitForSelector('.toolbar button:text-is("copied")');
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied("Copy the exact bytes"), request);
  await page.waitForFunction(() => ![...document.querySelectorAll(".toolbar button")].some((button) => button.textContent === "copied"));
  const { given, body } = withoutNetwork(await copied("Copy as a curl command"));
  assert.equal(given[0], "https://api.anthropic.com/v1/messages");
  assert.equal(body, request, "every byte, and no other");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a curl command runs nothing that a log names, and sends bodies of any size", async () => {
  const model = "x'; touch caught; echo `touch caught` $(touch caught) && touch caught #/../";
  await server.api("new", { name: "hostile" });
  const text = "It's $(touch caught) `touch caught`\n'EOF'\n".repeat(10_000);
  await server.api("contexts/hostile/add", { node: { role: "user", content: text } });
  await server.api("contexts/hostile/request", { provider: "gemini", settings: { model } });
  await server.api("contexts/hostile/answer", { response: { text: JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "No." }] }, finishReason: "STOP" }] }) } });
  const { page, wrong, context } = await at("#/hostile/@c1/request", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.waitForSelector(".proof .ok");
  await page.getByRole("button", { name: "Copy as a curl command" }).click();
  await page.waitForSelector('.toolbar button:text-is("copied")');
  const { given, body, files } = withoutNetwork(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(given[0], `https://generativelanguage.googleapis.com/v1beta/models/${encodeURIComponent(model)}:generateContent`);
  const { request } = await server.api("contexts/hostile/sent?at=@c1");
  assert.ok(request.length > 400_000 && body === request, "every byte, and no other");
  assert.deepEqual(files, ["body", "curl", "given"], "no other command ran");
  assert.deepEqual(wrong, []);
  await context.close();
  await server.api("delete", { name: "hostile" });
});

test("every state has a twin in JSON, fits a narrow window, and is not changed by looking", async () => {
  const revisions = async () => (await server.api("contexts")).contexts.map(({ name, revision }) => `${name} ${revision}`);
  const before = await revisions();
  const places = [
    ["#/", ".cards li"],
    ["#/parser/@c7?node=block:4.2", ".node .history li"],
    ["#/parser/@c7?q=number", ".row.hit"],
    ["#/parser/@c7/request", ".range"],
    ["#/parser/@c7/diff", ".prefix"],
    ["#/parser/@c7/diff?raw", ".byte-diff .lines"],
    ["#/parser/@/budget?budget=600", ".going li"],
    ["#/parser/@c8/cache", ".why strong"],
  ];
  for (const [hash, ready] of places) {
    const { page, wrong, context } = await at(hash, { viewport: { width: 400, height: 800 }, colorScheme: "dark", reducedMotion: "reduce" });
    await page.waitForSelector(ready, { state: "attached" });
    const twins = await page.locator('a.quiet[href^="v1/"]').evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    assert.ok(twins.length > 0, `${hash} has a twin`);
    for (const twin of twins) assert.equal(typeof (await server.api(twin.slice(3))), "object", twin);
    const { wide, moving, paper } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      moving: [...document.querySelectorAll("*")].filter((one) => getComputedStyle(one).animationName !== "none" || parseFloat(getComputedStyle(one).transitionDuration) > 0).length,
      paper: getComputedStyle(document.body).backgroundColor,
    }));
    assert.ok(wide <= 0, `${hash} is ${wide} pixels too wide`);
    assert.equal(moving, 0, `${hash} moves`);
    assert.ok(paper.match(/\d+/g).every((part) => Number(part) < 64), `${hash} is dark: ${paper}`);
    assert.deepEqual(wrong, []);
    await context.close();
  }
  assert.deepEqual(await revisions(), before);
});

test("a diff by byte is that of the requests that were sent", async () => {
  const { page, wrong, context } = await at("#/parser/@c7/diff");
  await page.waitForSelector(".card");
  await page.keyboard.press("r");
  await page.waitForSelector(".byte-diff .lines");
  assert.ok(page.url().endsWith("/diff?raw"), page.url());
  const [older, newer] = await Promise.all(["@c6", "@c7"].map(async (at) => (await server.api(`contexts/parser/sent?at=${at}`)).request));
  let head = 0;
  while (older[head] === newer[head]) head += 1;
  const said = await page.locator(".byte-diff p").textContent();
  assert.match(said, /as they were sent/);
  assert.ok(said.includes(`up to byte ${new Intl.NumberFormat("en").format(head)}`), said);
  const removed = (await page.locator(".byte-diff del").textContent()).slice(0, 200);
  const added = (await page.locator(".byte-diff ins").textContent()).slice(0, 200);
  assert.equal(older.indexOf(removed, head), head);
  assert.equal(newer.indexOf(added, head), head);
  // Both are shown as they are: no sign is drawn as another one.
  assert.equal(await page.locator(".byte-diff pre").evaluate((text) => getComputedStyle(text).fontVariantLigatures), "none");
  // The report on the cache leaves out only marks, which this session has none of: it finds the same byte.
  assert.ok((await page.locator(".prefix").textContent()).includes(`first at byte ${new Intl.NumberFormat("en").format(head)}`));
  // Branches: what both render to.
  await page.getByLabel("branch").selectOption("parser/retry@");
  await page.waitForFunction(() => document.querySelector(".byte-diff p")?.textContent?.includes("render to"));
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a diff names both sides, every change and its reason, and the shared bytes", async () => {
  const { page, wrong, context } = await at("#/parser/@c7/diff");
  await page.waitForSelector(".card.mark-removed");
  assert.match(await page.locator(".diff").textContent(), /over the budget/);
  await page.waitForSelector(".prefix");
  assert.match(await page.locator(".prefix").textContent(), /They differ first at byte [\d,]+/);
  await page.locator(".sides a").first().click();
  await page.waitForFunction(() => document.querySelector(".state h1")?.textContent === "Call 6");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the budget adds up, and a what-if changes nothing", async () => {
  const { page, wrong, context } = await at("#/parser/@/budget");
  await page.waitForSelector(".stack");
  const number = (text) => Number(text.replace(/\D/g, ""));
  const total = number(await page.locator(".budget h2 b").textContent());
  const parts = await page.locator(".legend b").allTextContents();
  assert.equal(parts.map(number).reduce((sum, part) => sum + part, 0), total);
  // It is drawn once its width is known.
  await page.locator(".treemap a").nth(4).waitFor();
  const revision = async () => (await server.api("contexts")).contexts.find(({ name }) => name === "parser").revision;
  const before = await revision();
  await page.locator(".what-if input").fill("100000");
  await page.keyboard.press("Enter");
  await page.waitForSelector('.legend:has-text("free")');
  assert.equal((await page.locator(".legend b").allTextContents()).map(number).reduce((sum, part) => sum + part, 0), 100_000);
  await page.waitForSelector(".treemap .free");
  await page.waitForSelector('.what-if [role="status"]:has-text("Nothing would be pruned")');
  await page.locator(".what-if input").fill("600");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".going li");
  // The limit and what it would do are about the same tokens.
  assert.match(await page.locator(".legend .over").textContent(), new RegExp(`^${new Intl.NumberFormat("en").format(total - 600)} over`));
  assert.ok((await page.locator('.what-if [role="status"]').textContent()).includes(`instead of ${new Intl.NumberFormat("en").format(total)}`));
  assert.ok(page.url().includes("budget=600"), page.url());
  assert.equal(await revision(), before);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a budget that is stored with the context is the limit, and an unknown model can be corrected", async () => {
  await server.api("contexts/parser%2Fretry/budget-set", { budget: { name: "budget.toml", text: 'tokenizer = "gpt-5"\nmax_tokens = "50k" # in all\nkeep_turns = 3\n[regions]\nsys = 40_000\n' } });
  const { page, context } = await at("#/parser%2Fretry/@/budget");
  await page.waitForSelector('.what-if:has-text("allows 50,000")');
  await page.waitForSelector('.legend:has-text("free")');
  // A what-if is the stored budget with another limit: what that protects, and how it counts, stays.
  const asked = page.waitForRequest((request) => request.url().endsWith("/commit"));
  await page.locator(".what-if input").fill("600");
  await page.keyboard.press("Enter");
  const { budget, change } = (await asked).postDataJSON();
const { budget: stored } = await server.api("contexts/parser%2Fretry/budget");
  assert.match(stored, /keep_turns = 3[^]*\[regions\]/);
  assert.equal(budget.text, stored.replace("max_tokens = 50000", "max_tokens = 600"));
  assert.deepEqual(change, { dry_run: true });
  await page.waitForSelector('.what-if [role="status"]');
  await page.getByLabel("Model that counts the tokens").fill("no-such-model");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".report .refused");
  await page.getByLabel("Model that counts the tokens").fill("gpt-5");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".stack");
  assert.ok(page.url().includes("model=gpt-5"), page.url());
  await context.close();
});

test("a page of a running server asks for the token, and can be signed out of", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await useFiles(page);
  await page.goto(`${server.url}/#/parser/@c7`);
  const token = page.getByLabel("Token");
  await token.fill("ctx_wrong_0123456789abcdef");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForSelector('.sign-in:has-text("the token is unknown")');
  await token.fill(`${server.token}\n`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForSelector('.state h1:text-is("Call 7")');
  assert.ok(!page.url().includes(server.token), "the token is not in the address");
  assert.equal(await page.evaluate(() => document.cookie + JSON.stringify(localStorage)), "{}", "the page keeps nothing of it");
  await page.getByRole("button", { name: "sign out" }).click();
  await page.waitForSelector(".sign-in");
  assert.equal((await context.cookies()).length, 0);
  await context.close();
});

test("a browser without storage shows everything, and remembers nothing", async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("storage is off", "SecurityError");
    };
    Object.defineProperty(globalThis, "localStorage", { get: refuse });
  });
  const page = await context.newPage();
  await useFiles(page);
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  await page.goto(server.page);
  await page.waitForSelector(".cards li");
  await page.getByRole("button", { name: /^Theme/ }).click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  await page.evaluate(() => (location.hash = "#/parser/@c8/cache"));
  await page.waitForSelector("tbody tr");
  await page.evaluate(() => (location.hash = "#/parser/@c8"));
  await page.waitForSelector(".row");
  await page.getByLabel("Search text or a selector").fill("SAME MISTAKE");
  await page.waitForSelector(".row.hit");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".node h2");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a hidden tab does not listen, and a page of a deleted context says so", async () => {
  await server.api("new", { name: "short-lived" });
  const listeners = async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
    return Number(/^contextree_listeners (\d+)/m.exec(await response.text())[1]);
  };
  const until = async (wanted) => {
    while ((await listeners()) !== wanted) await new Promise((next) => setTimeout(next, 20));
  };
  const { page, context } = await at("#/short-lived/@");
  await page.waitForSelector(".live:not(.off)");
  const before = await listeners();
  const show = (state) =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await show("hidden");
  await until(before - 1);
  await page.waitForSelector(".live.off");
  // What happens meanwhile is seen as soon as the tab is.
  await server.api("contexts/short-lived/add", { node: { role: "user", content: "Are you there?" } });
  await show("visible");
  await page.waitForSelector('.row:has-text("Are you there?")');
  await page.waitForSelector(".live:not(.off)");
  await server.api("delete", { name: "short-lived" });
  await page.waitForSelector('h2:has-text("There is no context short-lived")');
  await until(before - 1);
  await context.close();
});

test("a call that missed the cache without a changed byte is marked, with the reason", async () => {
  const { page, wrong, context } = await at("#/parser/@c2");
  await page.waitForSelector(".flag.missed");
  const cache = await server.api("contexts/parser/cache?format=anthropic");
  const missed = cache.calls.filter((call) => call.miss !== undefined && call.broken === undefined);
  const second = missed.find(({ cycle }) => cycle === 2);
  assert.ok(second !== undefined, JSON.stringify(cache.calls.map(({ cycle, miss }) => [cycle, miss?.reason])));
  assert.equal(await page.locator(".flag.missed").count(), missed.length);
  const words = second.miss.reason.replaceAll("_", " ");
  assert.ok((await page.locator('.call:has(.number:text-is("2"))').textContent()).includes(`cache miss: ${words}`), words);
  assert.ok((await page.locator(".state .missed").textContent()).includes("Not all of the last request was read from the cache"));
  // The report says why it predicts nothing where something was billed.
  await page.evaluate(() => (location.hash = "#/parser/@c8/cache"));
  await page.waitForSelector(".totals");
  const said = await page.locator(".totals").textContent();
  assert.match(said, /Predictions follow the breakpoints in the requests that were sent/);
  assert.match(said, /For \d+ calls nothing is predicted.*what was billed holds/);
  assert.doesNotMatch(said, /assume/);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("the cache view has the reason of every break, with its node", async () => {
  const { page, wrong, context } = await at("#/parser/@c8/cache");
  await page.waitForSelector(".why strong");
  assert.equal(await page.locator("tbody tr").count(), 8);
  assert.match(await page.locator("tbody tr").nth(6).textContent(), /was pruned/);
  assert.match(await page.locator(".totals").textContent(), /predicted.*billed/);
  await page.locator("tbody tr").nth(7).locator(".id").click();
  await page.waitForSelector(".node h2");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("search takes a text or a selector, and shows where a selector is wrong", async () => {
  const { page, context } = await at("#/parser/@c8");
  await page.waitForSelector(".row");
  const box = page.getByLabel("Search text or a selector");
  await page.keyboard.press("/");
  await box.fill("SAME MISTAKE");
  await page.waitForFunction(() => document.querySelectorAll(".row.hit").length === 1);
  assert.ok(page.url().includes("q=SAME%20MISTAKE"), page.url());
  await box.fill("^sys .block[kind='tool']");
  await page.waitForFunction(() => document.querySelectorAll(".row.hit").length === 3);
  assert.equal(await page.locator(".result").textContent(), "3 matches");
  await box.fill("^sys .block[kind=");
  await page.waitForSelector(".caret");
  assert.match(await page.locator(".caret pre").textContent(), /\^sys \.block\[kind=\n +\^/);
  await context.close();
});

test("edits are shown, confirmed and taken back; they change the working state only", async () => {
  const { page, wrong, context } = await at("#/parser/@");
  const rules = await server.api("contexts/parser/select?selector=%5Esys%20.block%5Bkey%3D'rules'%5D&what=ids");
  const id = rules.found.ids[0];
  const node = async () => {
    const { node } = await server.api(`contexts/parser/node?at=@&id=${id}`);
    return { pinned: node.derived.pinned ?? node.pinned, priority: node.derived.priority ?? node.priority };
  };
  await page.evaluate((id) => (location.hash = `#/parser/@?node=${id}`), id);
  await page.getByRole("button", { name: "Unpin", exact: true }).click();
  await page.locator("dialog.confirm").getByRole("button", { name: "Cancel" }).click();
  assert.equal((await node()).pinned, true);
  await page.getByRole("button", { name: "Unpin", exact: true }).click();
  await page.locator("dialog.confirm").getByRole("button", { name: "Unpin" }).click();
  await page.waitForSelector(".done .undo");
  assert.equal((await node()).pinned, false);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForSelector('.done:has-text("Taken back")');
  assert.equal((await node()).pinned, true);
  await page.getByRole("button", { name: "Priority" }).click();
  await page.locator("dialog.confirm input").fill("77");
  await page.locator("dialog.confirm").getByRole("button", { name: "Change" }).click();
  await page.waitForSelector('.done:has-text("Priority 77")');
  assert.equal((await node()).priority, 77);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForSelector('.done:has-text("Taken back")');
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a fork begins with the state that is shown, and prunes there what the dialog lists", async () => {
  const { page, context } = await at("#/parser/@?node=seq");
  await page.getByRole("button", { name: "Fork" }).click();
  await page.locator("dialog.confirm input").fill("parser/what-if");
  await page.locator("dialog.confirm").getByRole("button", { name: "Fork" }).click();
  await page.waitForFunction(() => document.querySelector(".crumb a")?.textContent === "parser/what-if");
  await page.evaluate(() => (location.hash = "#/parser%2Fwhat-if/@?q=Then%20fix%20that"));
  await page.locator(".row.hit").click();
  await page.getByRole("button", { name: "Prune" }).click();
  await page.waitForSelector("dialog.confirm .ids li");
  await page.locator("dialog.confirm").getByRole("button", { name: "Prune" }).click();
  await page.waitForFunction(() => document.querySelector(".result")?.textContent === "no match");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForSelector('.done:has-text("Taken back")');
  await page.waitForSelector(".row.hit");
  await page.goto(`${server.url}/#/parser/@?q=Then%20fix%20that`);
  await page.waitForSelector(".row.hit");
  await server.api("delete", { name: "parser/what-if" });
  await context.close();
});

test("a fork is taken back by deleting it, unless it was used", async () => {
  const { page, wrong, context } = await at("#/parser/@c4?node=seq");
  const fork = async (name) => {
    await page.getByRole("button", { name: "Fork" }).click();
    await page.locator("dialog.confirm input").fill(name);
    await page.locator("dialog.confirm").getByRole("button", { name: "Fork" }).click();
    await page.waitForSelector(`.done:has-text("Forked ${name}")`);
    await page.waitForFunction((name) => document.querySelector(".crumb a")?.textContent === name, name);
  };
  const names = async () => (await server.api("contexts")).contexts.map(({ name }) => name);
  await fork("parser/unused");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => document.querySelector(".crumb a")?.textContent === "parser");
  assert.ok(!(await names()).includes("parser/unused"));
  await fork("parser/used");
  await server.api("contexts/parser%2Fused/add", { node: { role: "user", content: "Keep this." } });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForSelector('.done[data-failed="true"]');
  assert.ok((await names()).includes("parser/used"));
  await server.api("delete", { name: "parser/used" });
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a redaction says that it is final, is confirmed twice, and changes what every call shows", async () => {
  await server.api("new", { name: "secret" });
  for (const content of ["My card is 4000 1234 5678 9010.", "Thank you."]) {
    await server.api("contexts/secret/add", { node: { role: "user", content } });
    await server.api("contexts/secret/commit", {});
  }
  await server.api("contexts/secret/fork", { name: "secret/fork" });
  const other = await at("#/secret%2Ffork/@c1");
  await other.page.waitForSelector('.row:has-text("4000 1234")');
  const { page, wrong, context } = await at("#/secret/@c1?q=4000");
  await page.locator(".row.hit").click();
  await page.getByRole("button", { name: "Redact" }).click();
  const dialog = page.locator("dialog.confirm");
  await dialog.getByLabel("Reason").fill("card number");
  assert.match(await dialog.textContent(), /every call that was made.*cannot be undone/);
  assert.ok(await dialog.getByRole("button", { name: "Redact for good" }).isDisabled());
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.match(JSON.stringify(await server.api("contexts/secret/show?what=@c1")), /4000 1234/);
  await page.getByRole("button", { name: "Redact" }).click();
  await dialog.getByLabel("Reason").fill("card number");
  await dialog.getByRole("checkbox").check();
  await dialog.getByRole("button", { name: "Redact for good" }).click();
  await page.waitForSelector('.done:has-text("for good")');
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
  await page.waitForSelector('.node .body:has-text("[redacted: card number]")');
  // The tree and the search of this page, and of one that shows a fork.
  await page.waitForFunction(() => document.querySelector(".result")?.textContent === "no match");
  await other.page.waitForSelector('.row:has-text("[redacted: card number]")');
  assert.equal(await other.page.locator('.row:has-text("4000 1234")').count(), 0);
  await other.context.close();
  for (const state of ["@c1", "@c2", "@"]) {
    const text = JSON.stringify(await server.api(`contexts/secret/thread?at=${state}`));
    assert.ok(!text.includes("4000") && text.includes("[redacted: card number]"), `${state}: ${text}`);
  }
  assert.deepEqual(wrong, []);
  await context.close();
  await server.api("delete", { name: "secret/fork" });
  await server.api("delete", { name: "secret" });
});

test("a server that is read-only offers no edits", async () => {
  const reading = await serve("--read-only");
  try {
    const { page, context } = await open(browser, reading);
    await page.evaluate(() => (location.hash = "#/parser/@?node=seq"));
    await page.waitForSelector(".node .section");
    await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/v1/session")));
    assert.equal(await page.locator(".edits").count(), 0);
    await context.close();
  } finally {
    await reading.stop();
  }
});

test("the search completes names and values, remembers queries, and steps from match to match", async () => {
  const { page, context } = await at("#/parser/@c8");
  await page.waitForSelector(".row");
  const box = page.getByLabel("Search text or a selector");
  await box.fill("^sys .block[ki");
  await page.waitForSelector("#search-suggestions li");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await box.inputValue(), "^sys .block[kind=");
  await page.waitForSelector('#search-suggestions li:has-text("tool")');
  await page.locator('#search-suggestions li:has-text("tool")').first().click();
  assert.equal(await box.inputValue(), "^sys .block[kind='tool']");
  await page.waitForFunction(() => document.querySelector(".result")?.textContent === "3 matches");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".result")?.textContent === "1 of 3 matches");
  const first = await page.locator(".node h2").textContent();
  await box.focus();
  await page.keyboard.press("Shift+Enter");
  await page.waitForFunction((first) => document.querySelector(".node h2")?.textContent !== first, first);
  await box.fill("");
  await page.waitForSelector(`#search-suggestions li:has-text("^sys .block[kind='tool']")`);
  await context.close();
});

test("a diff compares branches, and both sides lead to their own pages", async () => {
  const { page, wrong, context } = await at("#/parser/@/diff");
  await page.waitForSelector(".card");
  await page.getByLabel("branch").selectOption("parser/retry@");
  await page.waitForSelector('.card:has-text("Write a failing test first")');
  await page.locator(".sides a").first().click();
  await page.waitForFunction(() => document.querySelector(".crumb a")?.textContent === "parser/retry");
  assert.deepEqual(wrong, []);
  await context.close();
});

test("prices from a file add what calls cost, and running totals", async () => {
  const { page, wrong, context } = await at("#/parser/@c8/cache");
  await page.waitForSelector("tbody tr");
  const text = 'currency = "USD"\n[models."claude-sonnet-5"]\ninput = 3.00\noutput = 15.00\ncache_read = 0.30\n';
  await page.locator('input[type="file"]').setInputFiles({ name: "prices.toml", mimeType: "text/plain", buffer: Buffer.from(text) });
  await page.waitForSelector('th:has-text("cost, in all")');
  assert.match(await page.locator(".totals").textContent(), /USD.*cost/);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a change by another process appears at once", async () => {
  const { page, context } = await at("#/parser%2Fretry/@");
  await page.waitForSelector(".row");
  await page.waitForSelector(".live:not(.off)");
  await server.api("contexts/parser%2Fretry/add", { node: { role: "user", content: "And one more thing." } });
  await page.waitForSelector('.row:has-text("And one more thing.")');
  await context.close();
});

test("nothing serious for people who use other means than a mouse and a screen", async () => {
  const dark = { colorScheme: "dark" };
  const found = [
    await seriousIn("#/", ".cards li"),
    await seriousIn("#/parser/@c7?node=block:4.2", ".node .history"),
    await seriousIn("#/parser/@c7", ".row.mark-removed", dark),
    await seriousIn("#/parser/@c7/request?node=block:4.2", ".range.chosen"),
    await seriousIn("#/parser/@c7/request?node=block:4.2", ".range.chosen", dark),
    await seriousIn("#/parser/@c7/diff", ".card"),
    await seriousIn("#/parser/@c7/diff?raw", ".byte-diff .lines"),
    await seriousIn("#/parser/@c7/diff?raw", ".byte-diff .lines", dark),
    await seriousIn("#/parser/@/budget?budget=600", ".going li"),
    await seriousIn("#/parser/@/budget?budget=100000", ".treemap .free", dark),
    await seriousIn("#/parser/@c8/cache", ".why strong", dark),
    await seriousIn("#/parser/@c5", ".row", { viewport: { width: 400, height: 800 } }),
  ];
  assert.deepEqual(found.flat(), []);
});
