// Measures the page with 100,000 nodes in Chromium: the time until a tree can be used, against a page with an empty context, and the
// time of a scroll step. Prints JSON; nothing is compared here.
import { browse, open } from "./browser.mjs";
import { FIRST, serve } from "./server.mjs";
import { makeLarge } from "./session.mjs";

const ROUNDS = 5;
const STEPS = 200;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Returns the milliseconds from the navigation until something is there. */
async function firstView(browser, server, hash, ready) {
  const { page, context } = await open(browser, server);
  await page.goto("about:blank");
  const start = performance.now();
  await page.goto(`${server.url}/${hash}`);
  await page.waitForSelector(ready);
  const took = performance.now() - start;
  await context.close();
  return took;
}

const server = await serve();
const browser = await browse();
try {
  await makeLarge(server.api, 100_000);
  const empty = [];
  const large = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    empty.push(await firstView(browser, server, `#/${FIRST}/@`, ".notice.empty"));
    large.push(await firstView(browser, server, "#/large/@?against=none", ".row .tokens"));
  }
  const { page, context } = await open(browser, server);
  await page.goto(`${server.url}/#/large/@?against=none`);
  await page.waitForSelector(".row");
  const steps = await page.evaluate(async (count) => {
    // The work of a frame: from its first callback until the task after it. The wait for the next frame is not counted.
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
  }, STEPS);
  await context.close();
  const round = (value) => Math.round(value * 10) / 10;
  console.log(JSON.stringify({ empty_ms: round(median(empty)), large_ms: round(median(large)), ratio: round(median(large) / median(empty)), scroll_median_ms: round(median(steps)), scroll_worst_ms: round(Math.max(...steps)) }));
} finally {
  await browser.close();
  await server.stop();
}
