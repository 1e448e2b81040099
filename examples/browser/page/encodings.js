// The exported encodings: one ONNX file for each width and longest wavelength.

import { InferenceSession, Tensor, env } from "./libraries/ort.wasm.min.mjs";

// Threads would need a page that its server's headers isolate.
env.wasm.numThreads = 1;
env.wasm.wasmPaths = new URL("./libraries/", import.meta.url).href;

export const RUNTIME = `ONNX Runtime Web ${env.versions.web}`;

const FOLDER = new URL("./encodings/", import.meta.url).href;

async function fetched(name) {
  let response;
  try {
    response = await fetch(FOLDER + name);
  } catch {
    throw new Error(`The server does not answer: encodings/${name} could not be read.`);
  }
  if (!response.ok) {
    throw new Error(
      `There is no encodings/${name}: run “make browser-page”, then reload this page.`,
    );
  }
  return response;
}

async function started(bytes) {
  try {
    return await InferenceSession.create(bytes);
  } catch (error) {
    throw new Error(
      `${RUNTIME} could not start in this browser. Its own words: ${error.message}`,
    );
  }
}

const ascending = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

export class Encodings {
  static async open() {
    return new Encodings(await (await fetched("catalogue.json")).json());
  }

  constructor({ longest, encodings }) {
    this.longest = longest;
    this.files = encodings;
    this.widths = ascending(encodings.map((line) => line.width));
    this.maxWavelengths = ascending(encodings.map((line) => line.maxWavelength));
    this.sessions = new Map();
  }

  // Positions `start` to `start + length - 1`: values row by row, `width` to a row.
  async run({ width, maxWavelength, length, start }) {
    const line = this.files.find(
      (file) => file.width === width && file.maxWavelength === maxWavelength,
    );
    const session = await this.#session(line.file);
    const feeds = {
      embeddings: new Tensor(new Float32Array(length * width), [1, length, width]),
      start_index: new Tensor("int32", [start], []),
    };
    const begin = performance.now();
    const { encoded } = await session.run(feeds);
    const milliseconds = performance.now() - begin;
    return { values: encoded.data, width, length, start, milliseconds, ...line };
  }

  async #session(file) {
    if (!this.sessions.has(file)) {
      const bytes = new Uint8Array(await (await fetched(file)).arrayBuffer());
      this.sessions.set(file, await started(bytes));
    }
    return this.sessions.get(file);
  }
}

export function valueAt({ values, width }, row, feature) {
  return values[row * width + feature];
}

// The dot product of one row with each row.
export function dotProducts({ values, width, length }, row) {
  const chosen = values.subarray(row * width, (row + 1) * width);
  return Array.from({ length }, (_, other) =>
    chosen.reduce((sum, value, j) => sum + value * values[other * width + j], 0),
  );
}
