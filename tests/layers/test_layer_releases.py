"""Files of every release load, and compute what they computed."""

from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

import keras_sinpe  # noqa: F401  registers the layers
from keras_sinpe import reference

# Keras 3.10, which saved the files, stored the structure of inputs in another form.
pytestmark = pytest.mark.filterwarnings("ignore:[\\s\\S]*structure of `inputs`")

RELEASES = Path(__file__).parents[1] / "data" / "releases"
VERSIONS = sorted(folder.name for folder in RELEASES.iterdir())

# A few float32 products; measured 3e-7 over the int32 range.
FLOAT32_TOLERANCE = 5e-7
# One rounding to float16 of a sum below 2.
FLOAT16_TOLERANCE = 2.0**-11


def loaded(version, name):
    return keras.saving.load_model(RELEASES / version / f"{name}.keras")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_encoding_of_the_paper_loads(version):
    model = loaded(version, "paper")
    embeddings = np.linspace(-1, 1, 2 * 5 * 6).reshape(2, 5, 6).astype("float32")
    expected = embeddings + reference.encode(np.arange(5), 6)
    np.testing.assert_allclose(
        ops.convert_to_numpy(model(embeddings)),
        expected,
        rtol=0,
        atol=FLOAT32_TOLERANCE,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_layer_with_every_parameter_loads(version):
    model = loaded(version, "everything")
    positions = np.array([[0.5, 7.0, -3.25]], "float32")
    encoded = model({"embeddings": np.ones((1, 3, 7)), "positions": positions})
    expected = np.sqrt(7) + reference.encode(
        positions,
        7,
        max_wavelength=500.0,
        min_wavelength=0.5,
        frequency_shift=1.0,
        layout="halves",
        cos_first=True,
        odd="zero",
        first_position=2,
        position_scale=0.25,
        output_scale="unit_norm",
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(encoded), expected, rtol=0, atol=2 * FLOAT32_TOLERANCE
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_layer_that_counts_tokens_in_half_precision_loads(version):
    model = loaded(version, "masked")
    ids = np.array([[0, 0, 3, 5], [4, 1, 2, 0]], "int32")
    valid = ids != 0
    positions = np.maximum(np.cumsum(valid, axis=1) - 1, 0)
    table = ops.convert_to_numpy(model.get_layer(index=1).embeddings)
    encoding = np.where(valid[..., None], reference.encode(positions, 6), 0)
    encoded = ops.convert_to_numpy(model(ids))
    assert encoded.dtype == "float16"
    np.testing.assert_allclose(
        encoded, table[ids] + encoding, rtol=0, atol=FLOAT16_TOLERANCE
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_an_embedding_of_numbers_loads(version):
    days = np.array([0.25, 19700.5], "float32")
    expected = reference.encode(days, 6, periods=[1.0, 7.0, 365.2425])
    np.testing.assert_allclose(
        ops.convert_to_numpy(loaded(version, "calendar")(days)),
        expected,
        rtol=0,
        atol=1e-6,  # real positions are exact to this
    )
