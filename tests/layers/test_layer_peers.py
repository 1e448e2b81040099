"""What other libraries compute, from our parameters."""

import numpy as np
import pytest
from exactness import assert_exact, encode
from peer_vectors import PEER_TOLERANCE, PLAIN, SPECIAL, expected, positions

import keras_sinpe
from keras_sinpe import reference


def test_the_stored_vectors_are_all_there():
    assert len(PLAIN) == 34
    assert len(SPECIAL) == 4


@pytest.mark.parametrize("name", PLAIN)
def test_reference_gives_the_rows_of_the_peer(name):
    case = PLAIN[name]
    rows = reference.encode(
        case["positions"], case["feature_dim"], **case["parameters"]
    )
    assert_exact(rows, expected(case), PEER_TOLERANCE)


@pytest.mark.parametrize("name", PLAIN)
def test_layer_gives_the_rows_of_the_peer(name):
    case = PLAIN[name]
    received = encode(
        positions(case), width=case["feature_dim"], batch=3, **case["parameters"]
    )
    assert_exact(received, np.stack([expected(case)] * 3), PEER_TOLERANCE)


@pytest.mark.parametrize("name", ["hf_m2m100_pad1", "fairseq_pad1"])
def test_padding_is_counted_as_the_peer_counts_it(name):
    case = SPECIAL[name]
    padding = case["positions"]["padding_idx"]
    ids = np.array(case["positions"]["input_ids"])
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        first_position=padding + 1,
        positions_from_mask=True,
        zero_masked=True,
        **case["parameters"],
    )
    zeros = np.zeros((*ids.shape, case["feature_dim"]), "float32")
    assert_exact(layer(zeros, mask=ids != padding), expected(case), PEER_TOLERANCE)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("espnet_abs_ones", {"input_scale": "sqrt_dim"}),
        ("espnet_scaled_ones", {"learned_scale": True}),
    ],
)
def test_ones_come_out_of_the_layer_as_out_of_the_peer(name, parameters):
    case = SPECIAL[name]
    layer = keras_sinpe.SinusoidalPositionalEncoding(**case["parameters"], **parameters)
    ones = np.ones((2, len(case["expected"]), case["feature_dim"]), "float32")
    assert_exact(layer(ones), np.stack([expected(case)] * 2), PEER_TOLERANCE)
