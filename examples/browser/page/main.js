// From the form through ONNX Runtime Web to the pictures.

import { drawDotProducts, drawWaves, wavesShown } from "./charts.js";
import { Encodings, RUNTIME, valueAt } from "./encodings.js";
import { cellAt, drawHeatMap, drawScale } from "./heat_map.js";
import { Settings } from "./settings.js";

const place = (id) => document.getElementById(id);
const say = (id, text) => (place(id).textContent = text);
const grouped = (number) => number.toLocaleString("en");

let encodings;
let settings;
let shown; // the encoding on the page
let running = Promise.resolve(); // one run at a time
let latest = 0;

function showError(error) {
  say("error", error.message);
  place("error").hidden = false;
  console.error(error);
}

// Sliders outrun the runtime: of all that waits, only the latest setting is run.
function refresh() {
  const request = ++latest;
  place("pictures").setAttribute("aria-busy", "true");
  running = running.then(async () => {
    if (request !== latest) return;
    await runAndShow(settings.read());
    place("pictures").setAttribute("aria-busy", String(request !== latest));
  });
}

async function runAndShow(wanted) {
  if (!wanted) return;
  try {
    shown = await encodings.run(wanted);
    place("error").hidden = true;
    place("pictures").classList.remove("empty");
    show();
  } catch (error) {
    showError(error);
  }
}

function show() {
  const choice = settings.choice(shown);
  drawScale(place("scale"));
  drawHeatMap(place("heat-map"), shown, choice);
  drawWaves(place("waves"), shown, choice);
  const products = drawDotProducts(place("dot-products"), shown, choice);
  describe(choice, products);
  tabulate(choice);
}

function describe({ row, feature }, products) {
  const { start, length, width, file, bytes, milliseconds } = shown;
  const last = grouped(start + length - 1);
  say("reading", valueAt(shown, row, feature).toFixed(6));
  say("heat-map-summary", `${width} features of positions ${grouped(start)} to ${last}.`);
  const others = wavesShown(shown, feature).slice(0, -1).join(", ");
  say("waves-summary", `Feature ${feature}, and beside it features ${others}.`);
  const middle = products[row].toFixed(2);
  const lowest = Math.min(...products).toFixed(2);
  say(
    "dot-products-summary",
    `Position ${grouped(start + row)} with each position: ${middle} with itself, ` +
      `${lowest} at the least.`,
  );
  const size = `${Math.round(bytes / 1000)} kB`;
  const time = `${milliseconds.toFixed(1)} ms`;
  say("run", `${file} (${size}) ran for ${time} in ${RUNTIME}, in this page.`);
}

function tabulate({ row }) {
  const lines = Array.from({ length: shown.width }, (_, feature) => {
    const line = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = feature;
    line.append(name);
    line.insertCell().textContent = valueAt(shown, row, feature).toFixed(7);
    return line;
  });
  place("values").replaceChildren(...lines);
}

function followPointer(event) {
  const cell = shown && cellAt(place("heat-map"), event, shown);
  if (!cell) return;
  settings.choose(cell);
  show();
}

try {
  encodings = await Encodings.open();
  settings = new Settings(encodings);
  settings.onChange(refresh);
  place("heat-map").addEventListener("click", followPointer);
  new ResizeObserver(() => shown && show()).observe(place("pictures"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && show());
  refresh();
} catch (error) {
  showError(error);
  place("pictures").setAttribute("aria-busy", "false");
}
