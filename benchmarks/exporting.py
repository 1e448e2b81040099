"""Time, memory and file size of an ONNX export: four layers of width 256.

Run it on an idle machine: `python benchmarks/exporting.py`. Imports are not counted.
"""

import math
import os
import resource
import tempfile
import time

import keras
import onnx  # noqa: F401  what the export imports is not part of its time
import onnxruntime  # noqa: F401
import tf2onnx  # noqa: F401
from keras import layers, ops

from keras_sinpe import SinusoidalPositionalEncoding
from keras_sinpe.exporting import export_onnx

LAYERS, WIDTH, HEADS, VOCABULARY = 4, 256, 8, 8000
MEGABYTE = 1_000_000


def encoder():
    ids = keras.Input((None,), dtype="int32", name="ids")
    mask = ops.expand_dims(ops.not_equal(ids, 0), axis=1)
    x = layers.Embedding(VOCABULARY, WIDTH)(ids)
    x = SinusoidalPositionalEncoding(input_scale="sqrt_dim")(x)
    for _ in range(LAYERS):
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        attended = attention(x, x, attention_mask=mask)
        x = layers.LayerNormalization()(layers.Add()([x, attended]))
        hidden = layers.Dense(4 * WIDTH, activation="gelu")(x)
        hidden = layers.Dense(WIDTH)(hidden)
        x = layers.LayerNormalization()(layers.Add()([x, hidden]))
    return keras.Model(ids, layers.Dense(10, name="head")(x))


def peak_memory():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    model = encoder()
    weights = 4 * sum(math.prod(weight.shape) for weight in model.weights)
    before, wall, processor = peak_memory(), time.monotonic(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "encoder.onnx")
        report = export_onnx(model, path)
        size = os.path.getsize(path)
    print(report)
    print(f"elapsed    {time.monotonic() - wall:8.1f} s, proof included")
    print(f"processor  {time.process_time() - processor:8.1f} s")
    print(f"memory     {(peak_memory() - before) / MEGABYTE:8.0f} MB above the imports")
    print(f"weights    {weights / MEGABYTE:8.2f} MB")
    print(f"file       {size / MEGABYTE:8.2f} MB")
    print(f"overhead   {(size - weights) / MEGABYTE:8.2f} MB")


if __name__ == "__main__":
    main()
