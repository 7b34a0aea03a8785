// Makes the pictures that the documents show, or one or all of the others: `node test/pictures.mjs FOLDER [NAME|all]`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { browse, open } from "./browser.mjs";
import { serve } from "./server.mjs";
import { claudeLog } from "./claude-log.mjs";
import { makeSession } from "./session.mjs";

const folder = process.argv[2] ?? "shots";
const wanted = process.argv[3];

const SHOTS = [
  { name: "log", isShown: true, hash: "#/session/@c6?node=block:4.2", ready: ".history li" },
  { name: "contexts", hash: "#/", ready: ".cards li" },
  { name: "tree", isShown: true, hash: "#/parser/@c7?node=block:4.2", ready: ".history li" },
  { name: "tree-dark", hash: "#/parser/@c5?node=block:5.2", ready: ".history li", dark: true },
  { name: "request", isShown: true, hash: "#/parser/@c4/request?node=block:4.2", ready: ".range.chosen" },
  { name: "diff", hash: "#/parser/@c5/diff", ready: ".prefix" },
  { name: "budget", hash: "#/parser/@/budget?budget=900", ready: ".going li" },
  { name: "cache", isShown: true, hash: "#/parser/@c7/cache", ready: ".why strong" },
  { name: "narrow", hash: "#/parser/@c5", ready: ".flag.broken", width: 420 },
];

mkdirSync(folder, { recursive: true });
const server = await serve();
const browser = await browse();
try {
  await makeSession(server.api);
  await server.api("contexts/session/import", claudeLog());
  for (const shot of SHOTS) {
    if (wanted === undefined ? !shot.isShown : wanted !== "all" && wanted !== shot.name) continue;
    const { page, context, wrong } = await open(browser, server, {
      viewport: { width: shot.width ?? 1440, height: 900 },
      colorScheme: shot.dark ? "dark" : "light",
      reducedMotion: "reduce",
    });
    await page.evaluate((hash) => (location.hash = hash), shot.hash);
    await page.waitForSelector(shot.ready, { state: "attached" });
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(folder, `inspector-${shot.name}.png`) });
    if (wrong.length > 0) console.error(shot.name, wrong);
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
