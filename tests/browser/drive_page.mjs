// Use the page as a person does, in headless Chromium, and report what it shows.
//
//   node drive_page.mjs ADDRESS OUTPUTS STEPS.json
//
// STEPS is a list of runs, each a list of [action, ...arguments] on a fresh page:
//   ["size", width, height]  ["scheme", "dark"]  ["go"]  ["press", selector, key, times]
//   ["click", selector, x, y]  ["fill", selector, text]  ["read"]
//   ["screenshot", name]  ["refuse", pattern] (the server's answer is to be an error)
// Prints one JSON list: for each run its readings, console errors, requests and widths.
// CHROMIUM names the browser's binary if it is not /usr/bin/chromium.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [address, outputs, steps] = process.argv.slice(2);
const page_folder = join(import.meta.dirname, "../../examples/browser/");
const { chromium } = createRequire(page_folder)("playwright-core");

const SWITCHES = [
  "--no-sandbox", // Chromium refuses to run as root with its sandbox
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const settled = (page) =>
  page.waitForFunction(
    () => document.getElementById("pictures").getAttribute("aria-busy") === "false",
  );

const text = (page, id) => page.textContent(`#${id}`);

async function read(page) {
  await settled(page);
  const values = await page.$$eval("#values td", (cells) =>
    cells.map((cell) => Number(cell.textContent)),
  );
  return {
    values,
    reading: Number(await text(page, "reading")),
    position: await text(page, "position-value"),
    feature: await text(page, "feature-value"),
    width: await text(page, "width-value"),
    length: await text(page, "length-value"),
    maxWavelength: await text(page, "wavelength-value"),
    dotProducts: await text(page, "dot-products-summary"),
    run: await text(page, "run"),
    error: (await page.isVisible("#error")) ? await text(page, "error") : "",
    startError: await text(page, "start-error"),
    focus: await page.evaluate(() => document.activeElement.id),
    overflow: await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    ),
  };
}

const ACTIONS = {
  size: (page, width, height) => page.setViewportSize({ width, height }),
  scheme: (page, colorScheme) => page.emulateMedia({ colorScheme }),
  go: (page) => page.goto(address).then(() => settled(page)),
  refuse: (page, pattern) => page.route(pattern, (route) => route.fulfill({ status: 404 })),
  fill: (page, selector, value) => page.fill(selector, value),
  async press(page, selector, key, times = 1) {
    await page.focus(selector);
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
  },
  click: (page, selector, x, y) =>
    page.click(selector, x === undefined ? {} : { position: { x, y } }),
  screenshot: (page, name) => page.screenshot({ path: join(outputs, name), fullPage: true }),
};

async function run(browser, actions) {
  const page = await browser.newPage();
  const found = { readings: [], errors: [], requests: [] };
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) found.errors.push(message.text());
  });
  page.on("pageerror", (error) => found.errors.push(String(error)));
  page.on("request", (request) => found.requests.push(request.url()));
  for (const [action, ...rest] of actions) {
    if (action === "read") found.readings.push(await read(page));
    else await ACTIONS[action](page, ...rest);
  }
  await page.close();
  return found;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: SWITCHES,
});
try {
  const runs = [];
  for (const actions of JSON.parse(readFileSync(steps))) {
    runs.push(await run(browser, actions));
  }
  console.log(JSON.stringify(runs));
} finally {
  await browser.close();
}
