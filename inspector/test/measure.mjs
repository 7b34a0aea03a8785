// Measures the page with 100,000 nodes in Chromium, prints each bar with its number, and fails if one is missed. Only meaningful on an
// idle machine with a release build: `cargo xtask inspector --bench`.
import { browse, open } from "./browser.mjs";
import { FIRST, serve } from "./server.mjs";
import { makeLarge } from "./session.mjs";

const ROUNDS = 9;
const STEPS = 300;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * Returns the milliseconds from the navigation until the page is interactive: what it shows is there, and a key has an effect. The clock
 * is the page's own.
 */
async function firstView(context, server, hash, ready) {
  const page = await context.newPage();
  await page.addInitScript((ready) => {
    const look = () => {
      if (document.querySelector("dialog[open]") !== null) return (globalThis.interactive = performance.now());
      // Until a key is answered: what was drawn first may not listen yet.
      if (document.querySelector(ready) !== null) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, ready);
  await page.goto(`${server.url}/${hash}`);
  const took = await (await page.waitForFunction(() => globalThis.interactive, undefined, { polling: 50 })).jsonValue();
  await page.close();
  return took;
}

/** Returns the milliseconds of each scroll step: from the event until the frame after it is drawn, without the wait for the frame. */
async function scrollSteps(page, count) {
  return page.evaluate(async (count) => {
    const tree = document.querySelector(".tree");
    const took = [];
    for (let step = 0; step < count; step += 1) {
      await new Promise((resolve) => {
        requestAnimationFrame(() => {
          tree.scrollTop += 1_000;
          requestAnimationFrame(() => {
            const start = performance.now();
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => resolve(took.push(performance.now() - start));
            port2.postMessage(0);
          });
        });
      });
    }
    return took;
  }, count);
}

const server = await serve("--max-time", "300");
const browser = await browse();
const bars = [];
const bar = (what, value, most, unit) => bars.push({ what, value, most, unit });
try {
  await makeLarge(server.api, 100_000);
  const { page, context } = await open(browser, server);
  const [empty, large] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    // A change, so that the server has not listed the rows of this state yet.
    await server.api("contexts/large/add", { node: { role: "user", content: `Round ${round}` } });
    const both = [await firstView(context, server, `#/${FIRST}/@`, ".notice.empty"), await firstView(context, server, "#/large/@?against=none", ".row .excerpt")];
    // The first round fills the cache of the browser.
    if (round === 0) continue;
    empty.push(both[0]);
    large.push(both[1]);
  }
  bar(`first view of 100,000 nodes until interactive (${median(large).toFixed(0)} ms), against the empty page (${median(empty).toFixed(0)} ms)`, median(large.map((time, round) => time / empty[round])), 1.5, "×");
  await page.goto(`${server.url}/#/large/@?against=none`);
  await page.waitForFunction(() => document.querySelector(".extent")?.clientHeight > 1_000_000);
  // The tokens of all rows are counted.
  await page.waitForSelector(".row .tokens");
  const steps = await scrollSteps(page, STEPS);
  bar("median scroll step in a tree of 100,000 nodes", median(steps), 8, " ms");
  bar("worst scroll step", Math.max(...steps), 50, " ms");
  await context.close();
} finally {
  await browser.close();
  await server.stop();
}
console.log("| what | measured | bar | |\n|---|--:|--:|---|");
for (const { what, value, most, unit } of bars) console.log(`| ${what} | ${value.toFixed(2)}${unit} | ≤ ${most}${unit} | ${value <= most ? "holds" : "**missed**"} |`);
if (bars.some(({ value, most }) => value > most)) process.exitCode = 1;
