// Run an ONNX file in onnxruntime-node.
//
//   node run_node.mjs model.onnx OUTPUTS FEEDS.npz...

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { unzipSync, zipSync } from "fflate";
import { InferenceSession, Tensor, env } from "onnxruntime-node";
import { readNpz, writeNpz } from "./npz.mjs";

const [artifact, outputs, ...feeds] = process.argv.slice(2);
mkdirSync(outputs, { recursive: true });
const session = await InferenceSession.create(artifact);
for (const path of feeds) {
  const results = await session.run(readNpz(readFileSync(path), unzipSync, Tensor));
  writeFileSync(join(outputs, basename(path)), writeNpz(results, zipSync));
}
console.log(`onnxruntime-node ${env.versions.node}`);
