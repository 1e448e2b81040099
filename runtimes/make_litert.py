"""Convert the SavedModels of `make_artifacts.py` to LiteRT, beside them.

`model.tflite` takes every batch and length. LiteRT's converter refuses the loop of a
recurrent layer with a free batch, so that model becomes one file a batch size,
`model_batch_1.tflite` and `model_batch_3.tflite`, each for every length.

  python runtimes/make_litert.py artifacts/runtimes
"""

import argparse
from pathlib import Path

import keras
import tensorflow as tf
from make_artifacts import BATCHES, QUICK_CHECK
from models import MODELS

from keras_sinpe import export_saved_model

FIXED_BATCH = ("recurrent",)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="what make_artifacts.py has filled")
    folder = parser.parse_args().folder
    for name in MODELS:
        if name in FIXED_BATCH:
            convert_for_each_batch(folder / name)
        else:
            convert(folder / name / "saved_model", folder / name / "model.tflite")
        print(f"converted {folder / name}", flush=True)


def convert(saved_model: Path, target: Path) -> None:
    converter = tf.lite.TFLiteConverter.from_saved_model(
        str(saved_model), signature_keys=["serving_default"]
    )
    target.write_bytes(converter.convert())


def convert_for_each_batch(folder: Path) -> None:
    model = keras.saving.load_model(folder / "model.keras")
    for batch in BATCHES:
        ids = keras.InputSpec(shape=(batch, None), dtype="int32", name="ids")
        saved_model = folder / f"saved_model_batch_{batch}"
        export_saved_model(model, saved_model, input_signature=[ids], **QUICK_CHECK)
        convert(saved_model, folder / f"model_batch_{batch}.tflite")


if __name__ == "__main__":
    main()
