// Chromium, as it is installed on the machine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function browse() {
  const executablePath = process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error("no Chromium; `cargo xtask setup` installs it, or name one in CHROMIUM");
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Opens a page that fails the test on any error in the console, and on any request to another host. */
export async function open(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  await useFiles(page);
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith("data:")) wrong.push(`asks for ${request.url()}`);
  });
  await page.goto(server.page);
  await page.waitForSelector("h1");
  return { page, context, wrong };
}

/** While the page is being written: takes the files of a folder instead of those in the program. */
export async function useFiles(page) {
  if (process.env.INSPECTOR_PAGE === undefined) return;
  await page.route(/\/inspector\.(js|css)$/, (route) => route.fulfill({ path: join(process.env.INSPECTOR_PAGE, new URL(route.request().url()).pathname) }));
}
