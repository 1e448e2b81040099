// NumPy's .npz files as named tensors and back, in Node and in browsers.
// unzip and zip are fflate's: browsers and Node load it from different places.

const KINDS = {
  "<i4": ["int32", Int32Array],
  "<i8": ["int64", BigInt64Array],
  "<f4": ["float32", Float32Array],
};

export function readNpz(bytes, unzip, Tensor) {
  const tensors = {};
  for (const [file, npy] of Object.entries(unzip(bytes))) {
    tensors[file.replace(/\.npy$/, "")] = readNpy(npy, Tensor);
  }
  return tensors;
}

export function writeNpz(tensors, zip) {
  const files = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    files[`${name}.npy`] = writeNpy(tensor);
  }
  return zip(files, { level: 0 });
}

function readNpy(npy, Tensor) {
  const view = new DataView(npy.buffer, npy.byteOffset);
  const start = 10 + view.getUint16(8, true); // of the data, in version 1 of the format
  const header = new TextDecoder().decode(npy.subarray(10, start));
  const [, kind] = header.match(/'descr': '(\S+)'/);
  const [, sizes] = header.match(/'shape': \(([\d, ]*)\)/);
  if (!(kind in KINDS) || header.includes("'fortran_order': True")) {
    throw new Error(`The array must be one of ${Object.keys(KINDS)}. Received: ${header}`);
  }
  const [type, Values] = KINDS[kind];
  const shape = sizes.split(",").map((size) => size.trim()).filter(Boolean).map(Number);
  return new Tensor(type, new Values(npy.slice(start).buffer), shape);
}

function writeNpy({ type, data, dims }) {
  const kind = Object.keys(KINDS).find((found) => KINDS[found][0] === type);
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(", ")})`;
  const dictionary = `{'descr': '${kind}', 'fortran_order': False, 'shape': ${shape}, }`;
  // The data starts at a multiple of 64 bytes, after a line feed.
  const length = Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 10;
  const header = new Uint8Array(10 + length);
  header.set([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0]);
  new DataView(header.buffer).setUint16(8, length, true);
  header.set(new TextEncoder().encode(dictionary.padEnd(length - 1) + "\n"), 10);
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const npy = new Uint8Array(header.length + bytes.length);
  npy.set(header);
  npy.set(bytes, header.length);
  return npy;
}
