// Positions from left to right, features from top to bottom, one colour a value.

import { colour, divergingColours } from "./colours.js";
import { valueAt } from "./encodings.js";

// As wide as the charts' axes, so that positions stand above each other.
export const LEFT = 56;
export const RIGHT = 14;
const BOTTOM = 22;

function box(canvas) {
  return {
    width: canvas.clientWidth - LEFT - RIGHT,
    height: canvas.clientHeight - BOTTOM,
  };
}

// Row and feature under the pointer, or nothing outside the picture.
export function cellAt(canvas, { offsetX, offsetY }, { length, width }) {
  const { width: across, height: down } = box(canvas);
  const row = Math.floor(((offsetX - LEFT) / across) * length);
  const feature = Math.floor((offsetY / down) * width);
  const inside = row >= 0 && row < length && feature >= 0 && feature < width;
  return inside ? { row, feature } : undefined;
}

function picture(encoding) {
  const { length, width } = encoding;
  const canvas = new OffscreenCanvas(length, width);
  const context = canvas.getContext("2d");
  const image = context.createImageData(length, width);
  const colours = divergingColours();
  for (let feature = 0; feature < width; feature++) {
    for (let row = 0; row < length; row++) {
      const pixel = 4 * (feature * length + row);
      image.data.set([...colours(valueAt(encoding, row, feature)), 255], pixel);
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function sharpContext(canvas) {
  const ratio = window.devicePixelRatio;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

function drawLabels(context, encoding, { width, height }) {
  const { start, length } = encoding;
  context.fillStyle = colour("faint");
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillText("0", LEFT - 8, 8);
  context.fillText(String(encoding.width - 1), LEFT - 8, height - 8);
  context.save();
  context.translate(14, height / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText("feature", 0, 0);
  context.restore();
  const below = height + BOTTOM / 2 + 2;
  context.textAlign = "left";
  context.fillText(start.toLocaleString("en"), LEFT, below);
  context.textAlign = "center";
  context.fillText("position", LEFT + width / 2, below);
  context.textAlign = "right";
  context.fillText((start + length - 1).toLocaleString("en"), LEFT + width, below);
}

function drawChoice(context, encoding, { row, feature }, { width, height }) {
  const across = width / encoding.length;
  const down = height / encoding.width;
  context.strokeStyle = colour("ink");
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(LEFT + (row + 0.5) * across, 0);
  context.lineTo(LEFT + (row + 0.5) * across, height);
  context.moveTo(LEFT, (feature + 0.5) * down);
  context.lineTo(LEFT + width, (feature + 0.5) * down);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 2;
  const [left, top] = [LEFT + row * across - 2, feature * down - 2];
  context.strokeRect(left, top, across + 4, down + 4);
}

export function drawHeatMap(canvas, encoding, choice) {
  const context = sharpContext(canvas);
  const size = box(canvas);
  // Sharp cells, unless there are more of them than pixels.
  const pixels = size.width * window.devicePixelRatio;
  context.imageSmoothingEnabled = encoding.length > pixels;
  context.drawImage(picture(encoding), LEFT, 0, size.width, size.height);
  drawLabels(context, encoding, size);
  drawChoice(context, encoding, choice, size);
}

export function drawScale(canvas) {
  const context = canvas.getContext("2d");
  const colours = divergingColours();
  for (let x = 0; x < canvas.width; x++) {
    context.fillStyle = `rgb(${colours((2 * x) / (canvas.width - 1) - 1)})`;
    context.fillRect(x, 0, 1, canvas.height);
  }
}
