// A context with 100,000 nodes: only what is in view is in the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, open } from "./browser.mjs";
import { serve } from "./server.mjs";
import { makeLarge } from "./session.mjs";

const NODES = 100_000;
let server;
let browser;

before(async () => {
  // The import may take long on a busy machine.
  server = await serve("--max-time", "300");
  await makeLarge(server.api, NODES);
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
  // The whole shape is there.
  await page.waitForFunction((total) => document.querySelector(".extent")?.clientHeight >= Math.min(15_000_000, total * 28), total, { timeout: 120_000 });
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
