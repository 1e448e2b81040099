// Run an ONNX file in onnxruntime-web, on a page in headless Chromium.
//
//   node run_browser.mjs model.onnx OUTPUTS FEEDS.npz...
//
// CHROMIUM names the browser's binary if it is not /usr/bin/chromium.

import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { basename, extname, join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";
import { chromium } from "playwright-core";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};
const SWITCHES = [
  "--no-sandbox", // Chromium refuses to run as root with its sandbox
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const [artifact, outputs, ...feeds] = process.argv.slice(2);
mkdirSync(outputs, { recursive: true });

// What the page may ask for: the model, the feeds by number, and this folder's files.
function fileFor(path) {
  const [, place, index] = path.split("/");
  if (place === "model") return artifact;
  if (place === "feeds") return feeds[index];
  if (place === "outputs") return join(outputs, basename(feeds[index]));
  return join(import.meta.dirname, normalize(path));
}

async function answer(request, response) {
  const file = fileFor(request.url);
  try {
    if (request.method === "PUT") {
      await pipeline(request, createWriteStream(file));
      response.end();
    } else {
      response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
      await pipeline(createReadStream(file), response);
    }
  } catch (error) {
    console.error(error);
    response.destroy();
  }
}

const server = createServer(answer);
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: SWITCHES,
});
try {
  const page = await browser.newPage();
  page.on("console", (message) => console.error(message.text()));
  page.on("pageerror", (error) => console.error(error));
  await page.goto(`http://127.0.0.1:${server.address().port}/browser.html`);
  await page.waitForFunction(() => window.run !== undefined);
  const runtime = await page.evaluate(() => window.load("/model"));
  for (const index of feeds.keys()) {
    await page.evaluate((n) => window.run(`/feeds/${n}`, `/outputs/${n}`), index);
  }
  console.log(`${runtime} in Chromium ${browser.version()}`);
} finally {
  await browser.close();
  server.close();
}
