"""Make what the runtimes are fed: artifacts, inputs, and what Keras computes for them.

For every model of `models.py`, a folder with `model.keras`, `model.onnx`,
`saved_model/`, and for every size one `feeds/SIZE.npz` (arrays by input name) and one
`expected/SIZE.npz` (arrays by output name, computed by Keras, traced for that size, or
exact where that is known).

  python runtimes/make_artifacts.py artifacts/runtimes
"""

import argparse
import itertools
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from models import EXACT, MODELS, SIGNATURES, VOCABULARY

from keras_sinpe import export_onnx, export_saved_model
from keras_sinpe.model.signatures import read_signature

BATCHES = (1, 3)
LENGTHS = (1, 7, 128, 1024, 4096)
# Where runtimes that divide by way of float32 go wrong, and the ends of int32.
EDGES = (0, -5000, 2**24, -(2**24), 2**31 - 2000, -(2**31), 123456789)
# The last float32 that has an integer to go to.
LAST_TIME = 2**31 - 128
# Each exporter compares its artifact with the model before it gives it its name.
QUICK_CHECK = {"batch_sizes": (1, 2), "lengths": (1, 7)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder to fill")
    folder = parser.parse_args().folder
    for name, make in MODELS.items():
        # One seed: with and without the encoding, the classifier has the same weights.
        keras.utils.set_random_seed(0)
        model, signature = make(), SIGNATURES.get(name)
        (folder / name).mkdir(parents=True, exist_ok=True)
        export(model, signature, folder / name)
        write_cases(name, model, read_signature(model, signature), folder / name)
        print(f"made {folder / name}", flush=True)


def export(model, signature, folder: Path) -> None:
    options = {"input_signature": signature, **QUICK_CHECK}
    model.save(folder / "model.keras")
    export_onnx(model, folder / "model.onnx", **options)
    export_saved_model(model, folder / "saved_model", **options)


def write_cases(name, model, signature, folder: Path) -> None:
    for kind in ("feeds", "expected"):
        (folder / kind).mkdir(exist_ok=True)
    # Run eagerly, a recurrent layer takes half a minute over 4096 tokens.
    run = tf.function(lambda feeds: signature.call(model, feeds), autograph=False)
    for batch, length in itertools.product(BATCHES, LENGTHS):
        rng = np.random.default_rng([batch, length])
        feeds = {spec.name: draw(spec, batch, length, rng) for spec in signature.inputs}
        if name in EXACT:
            expected = EXACT[name](**feeds)
        else:
            expected = {output: y.numpy() for output, y in run(feeds).items()}
        np.savez(folder / "feeds" / f"{batch}x{length}.npz", **feeds)
        np.savez(folder / "expected" / f"{batch}x{length}.npz", **expected)


def draw(spec, batch: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """Ids, row `r` of them padded to a share of `1 / (r + 1)`, or as the name says."""
    if spec.name == "zeros":
        return np.zeros((batch, length, spec.shape[-1]), "float32")
    if spec.name == "starts":
        return near_edges((batch,), rng, 2**31 - length).astype("int32")
    if spec.name == "positions":
        return near_edges((batch, length), rng, 2**31 - 1).astype("int32")
    if spec.name == "times":
        near = near_edges((batch, length), rng, LAST_TIME)
        return np.maximum(near + rng.random(near.shape), -LAST_TIME).astype("float32")
    if spec.dtype == "float32":
        shape = (batch, length, spec.shape[-1])
        return rng.standard_normal(shape, dtype=np.float32)
    if spec.name == "source":
        length = length // 2 + 1  # unlike the target's
    ids = rng.integers(1, VOCABULARY, (batch, length), dtype=np.int32)
    for row in range(batch):
        ids[row, -(-length // (row + 1)) :] = 0
    return ids


def near_edges(shape, rng: np.random.Generator, last: int) -> np.ndarray:
    """Integers of both sides of every edge, up to `last`."""
    near = rng.choice(EDGES, shape) + rng.integers(-3000, 3000, shape)
    return np.clip(near, -(2**31), last)


if __name__ == "__main__":
    main()
