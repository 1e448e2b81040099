// Open a page in headless Chromium and print the text that an element comes to hold.
//
//   node read_page.mjs ADDRESS SELECTOR

import { createRequire } from "node:module";
import { join } from "node:path";

const runtimes = join(import.meta.dirname, "../../runtimes/");
const { chromium } = createRequire(runtimes)("playwright-core");

const [address, selector] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(error));
  await page.goto(address);
  await page.waitForFunction((s) => document.querySelector(s).textContent, selector);
  console.log(await page.textContent(selector));
} finally {
  await browser.close();
}
