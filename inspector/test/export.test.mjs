// The page as one file: every view works from the disk, without a server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { browse } from "./browser.mjs";
import { CTX, serve } from "./server.mjs";
import { makeSession } from "./session.mjs";

const folder = mkdtempSync(join(tmpdir(), "export-"));
const file = join(folder, "session.html");
let browser;

before(async () => {
  const server = await serve();
  await makeSession(server.api);
  execFileSync(CTX, [...server.store, "--context", "parser", "export", "--html", "-o", file], { stdio: "ignore" });
  await server.stop();
  browser = await browse();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a file shows every view from the disk, and asks for nothing", async () => {
  assert.ok(statSync(file).size < 4_000_000, `${statSync(file).size} bytes`);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || wrong.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector(".row.mark-added");
  assert.equal(await page.locator(".state h1").textContent(), "Call 8");
  assert.equal(await page.locator(".group h3").count(), 3);
  await page.waitForSelector(".flag.broken");
  await page.keyboard.press("[");
  await page.waitForSelector('.row.mark-removed .reason:text-is("pruned")');
  await page.locator(".row.mark-removed.block").first().click();
  await page.waitForSelector(".node .history li");
  assert.equal(await page.locator(".edits").count(), 0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await page.waitForSelector(".range");
  assert.match(await page.locator(".proof").textContent(), /same hash as/);
  await page.keyboard.press("3");
  await page.waitForSelector(".card.mark-removed");
  await page.keyboard.press("4");
  await page.waitForSelector(".treemap a");
  assert.equal(await page.locator(".what-if").count(), 0);
  await page.keyboard.press("5");
  await page.waitForSelector(".why strong");
  await page.keyboard.press("1");
  await page.getByLabel("Search text or a selector").fill("style guide");
  await page.waitForSelector(".row.hit");
  await page.getByLabel("Search text or a selector").fill("^seq");
  await page.waitForSelector(".caret:has-text('ctx ui')");
  await page.getByLabel("Search text or a selector").fill("");
  await page.getByLabel("compared with").selectOption("none");
  await page.waitForFunction(() => document.querySelectorAll(".row.mark-removed").length === 0);
  assert.equal(await page.locator('a[href^="v1/"]:visible').count(), 0);
  await page.locator("a.home").click();
  await page.waitForSelector('.cards li:has-text("parser")');
  assert.deepEqual(wrong, []);
  await context.close();
});
