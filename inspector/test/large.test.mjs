// A context with 100,000 nodes: only what is in view is in the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, open } from "./browser.mjs";
import { serve } from "./server.mjs";
import { makeLarge, makeMany } from "./session.mjs";

const NODES = 100_000;
let server;
let browser;

before(async () => {
  // The import may take long on a busy machine.
  server = await serve("--max-time", "300");
  await makeLarge(server.api, NODES);
  await makeMany(server.api, NODES);
  browser = await browse();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

test("a tree of 100,000 nodes is drawn a window at a time, from the first row to the last", async () => {
  const { page, wrong, context } = await open(browser, server);
  await page.evaluate(() => (location.hash = "#/large/@?against=none"));
  await page.waitForSelector(".row");
  const { total } = await server.api("contexts/large/rows?at=@&limit=1");
  assert.ok(total >= NODES, `${total} rows`);
  const drawn = () => page.locator(".row").count();
  assert.ok((await drawn()) < 100, `${await drawn()} rows are drawn`);
  // The whole shape is there: all but the cores of turns, which have no rows of their own.
  await page.waitForFunction((nodes) => document.querySelector(".extent")?.clientHeight >= nodes * 28, NODES, { timeout: 120_000 });
  await page.locator(".tree").focus();
  await page.keyboard.press("End");
  await page.waitForSelector(`#row-${total - 1}`);
  await page.waitForFunction((id) => document.querySelector(`#${id} .name`)?.textContent !== "…", `row-${total - 1}`);
  assert.ok((await drawn()) < 100, `${await drawn()} rows are drawn`);
  const last = page.locator(`#row-${total - 1}`);
  assert.equal(await last.getAttribute("aria-posinset"), await last.getAttribute("aria-setsize"));
  await page.getByLabel("Search text or a selector").fill("Question 12345:");
  await page.waitForSelector('.row.hit:has-text("what is 12345 + 12345")');
  assert.equal(await page.locator(".row.hit").count(), 1);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("every view works on a context with 100,000 nodes, and draws only a part of it", async () => {
  const { page, wrong, context } = await open(browser, server);
  page.setDefaultTimeout(120_000);
  const show = (hash) => page.evaluate((hash) => (location.hash = hash), hash);
  const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
  const few = async (view) => assert.ok((await elements()) < 6_000, `${view} has ${await elements()} elements`);

  // Contexts.
  await page.waitForSelector('.cards li:has-text("many"):has-text("100,0")');
  await few("contexts");
  // Timeline and tree.
  await show("#/many");
  await page.waitForSelector(".row");
  assert.deepEqual(await page.locator(".call .number").allTextContents(), ["1", "2", "3", "now"]);
  assert.deepEqual((await page.locator(".group h3").allTextContents()).slice(-2), ["What is the largest of them?", "And the smallest?"]);
  await page.waitForSelector('.row.mark-added:has-text("And the smallest?")');
  await few("tree");
  // Node.
  await page.locator('.row:has-text("And the smallest?")').click();
  await page.waitForSelector(".node .history .mark-added");
  await page.waitForSelector('.node code:has-text("messages[100")');
  await few("node");
  // Request: the part with the node.
  await page.keyboard.press("2");
  await page.waitForSelector(".range.chosen");
  assert.match(await page.locator(".proof").textContent(), /same hash as attempt:3/);
  assert.match(await page.locator(".pages").textContent(), /of 100,0/);
  await few("request");
  await page.locator(".pages").getByText("first", { exact: true }).click();
  await page.waitForSelector('.range:has-text("Question 0:")');
  assert.ok(page.url().includes("from=0"), page.url());
  // Diff.
  await show("#/many/@c3/diff");
  await page.waitForSelector('.card.mark-added:has-text("And the smallest?")');
  await page.waitForSelector(".prefix");
  assert.match(await page.locator(".prefix").textContent(), /only adds/);
  await few("diff");
  // Budget.
  await page.keyboard.press("4");
  await page.waitForSelector(".treemap a");
  assert.match(await page.locator(".legend").textContent(), /history/);
  await few("budget");
  // Cache.
  await page.keyboard.press("5");
  await page.waitForSelector("tbody tr");
  assert.equal(await page.locator("tbody tr").count(), 3);
  await few("cache");
  // Search, by text and by selector.
  await show("#/many/@c3?q=Question%2099");
  await page.waitForSelector(".row.hit");
  assert.match(await page.locator(".result").textContent(), /matches/);
  await show("#/many/@c3?q=%5Esys%20.block");
  await page.waitForFunction(() => document.querySelector(".result")?.textContent === "1 match");
  await few("search");
  assert.deepEqual(wrong, []);
  await context.close();
});
