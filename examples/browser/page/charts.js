// The two line charts, drawn by uPlot from the rows of an encoding.

import uPlot from "./libraries/uPlot.esm.js";
import { colour } from "./colours.js";
import { dotProducts, valueAt } from "./encodings.js";
import { LEFT, RIGHT } from "./heat_map.js";

const HEIGHT = 220;
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200];
const FEW = 32; // positions that are marked by a point each
const digits = (value) => (value === null ? "–" : value.toFixed(4));
const charts = new Map(); // one chart a place: drawing again removes the last one

const axis = (label, more) => ({
  label,
  labelSize: 20,
  stroke: colour("faint"),
  grid: { stroke: colour("line"), width: 1 },
  ticks: { stroke: colour("line") },
  font: "12px system-ui, sans-serif",
  labelFont: "12px system-ui, sans-serif",
  ...more,
});

// A dashed line at the position shown, or at no distance.
const mark = (x) => (chart) => {
  const at = Math.round(chart.valToPos(x, "x", true));
  const { ctx: context, bbox } = chart;
  context.save();
  context.strokeStyle = colour("faint");
  context.lineWidth = 1;
  context.setLineDash([6, 5]);
  context.beginPath();
  context.moveTo(at, bbox.top);
  context.lineTo(at, bbox.top + bbox.height);
  context.stroke();
  context.restore();
};

function draw(place, { x, xLabel, yLabel, lines, data, marked, range }) {
  charts.get(place)?.destroy();
  const grouped = (_, ticks) => ticks.map((tick) => tick.toLocaleString("en"));
  const options = {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [8, RIGHT, 0, 0],
    // Half a position at both ends, as in the heat map.
    scales: { x: { time: false, range: [x[0] - 0.5, x.at(-1) + 0.5] }, y: { range } },
    axes: [
      axis(xLabel, { values: grouped, space: 90, size: 32, incrs: WHOLE_STEPS }),
      axis(yLabel, { size: LEFT - 20 }),
    ],
    series: [{ label: xLabel }, ...lines],
    hooks: {
      draw: [mark(marked)],
      // Until a pointer asks for another place.
      ready: [(chart) => chart.setLegend({ idx: x.indexOf(marked) })],
    },
    cursor: { drag: { x: false, y: false } },
    legend: { markers: { width: 0, fill: (chart, i) => chart.series[i].stroke() } },
  };
  charts.set(place, new uPlot(options, [x, ...data], place));
}

const line = (label, ink, width, points) => ({
  label,
  stroke: colour(ink),
  width,
  points: { show: points },
  pxAlign: 0, // whole pixels would make steps of a slow wave
  value: (_, value) => digits(value),
});

// Three features spread over the width, and the one that is shown, drawn thicker.
export function wavesShown({ width }, chosen) {
  const pairs = width / 2;
  const spread = [0, 1, 2].map((quarter) => 2 * Math.floor((quarter * pairs) / 3));
  return [...spread.filter((feature) => feature !== chosen), chosen];
}

export function drawWaves(place, encoding, { row, feature }) {
  const { length, start } = encoding;
  const rows = Array.from({ length }, (_, at) => at);
  const shown = wavesShown(encoding, feature);
  draw(place, {
    x: rows.map((at) => start + at),
    xLabel: "position",
    yLabel: "value",
    range: [-1.05, 1.05],
    marked: start + row,
    data: shown.map((one) => rows.map((at) => valueAt(encoding, at, one))),
    lines: shown.map((one, i) => {
      const chosen = one === feature;
      const ink = chosen ? "chosen" : `wave-${i + 1}`;
      return line(`feature ${one}`, ink, chosen ? 3 : 1.5, length <= FEW);
    }),
  });
}

// Draws the curve and returns it, for the words beside it.
export function drawDotProducts(place, encoding, { row }) {
  const products = dotProducts(encoding, row);
  draw(place, {
    x: products.map((_, other) => other - row),
    xLabel: "distance",
    yLabel: "dot product",
    range: (_, low, high) => [Math.min(0, low * 1.05), high * 1.05],
    marked: 0,
    data: [products],
    lines: [line("dot product", "wave-1", 2, encoding.length <= FEW)],
  });
  return products;
}
