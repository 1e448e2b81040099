import numpy as np
import pytest
from keras import ops
from peer_vectors import PEER_TOLERANCE, PLAIN, SPECIAL, expected, positions

from keras_sinpe import (
    SinusoidalPositionalEncoding,
    convention,
    convention_names,
    reference,
)
from keras_sinpe.conventions import layout_permutation

# The stored vectors that each convention must reproduce.
VECTORS = {
    "vaswani": ["keras_pos_embd_trig", "flax_nlp_seq_sinusoidal_init"],
    "keras_hub": ["keras_hub_sine", "keras_hub_sine_odd7"],
    "pytorch_examples": ["pytorch_examples"],
    "trax": ["trax_positional_encoding"],
    "positional_encodings": ["positional_encodings_1d", "positional_encodings_1d_odd7"],
    "tensor2tensor": ["t2t_timing_signal_1d", "t2t_timing_signal_1d_odd7"],
    "tf_models": ["tfm_relative_position_embedding"],
    "tf_tutorial": ["tf_text_tutorial"],
    "whisper": ["hf_whisper_sinusoids"],
    "flax_wmt": ["flax_wmt_sinusoidal_init"],
    "opennmt_tf": ["opennmt_tf"],
    "marian": ["hf_marian", "hf_marian_odd7"],
    "transformer_xl": ["hf_transfo_xl"],
    "musicgen": ["hf_musicgen"],
    "ddpm": ["diffusers_default"],
    "stable_diffusion": ["diffusers_sd", "keras_cv_sd_timestep"],
    "dit": ["diffusers_1d_sincos"],
    "mlx": ["mlx_default"],
}
MASKED = {"fairseq": "fairseq_pad1", "m2m100": "hf_m2m100_pad1"}
SCALED = {"espnet": "espnet_abs_ones"}

CASES = [(name, vector) for name, vectors in VECTORS.items() for vector in vectors]


def test_every_convention_has_a_vector():
    assert sorted({*VECTORS, *MASKED, *SCALED}) == list(convention_names())


@pytest.mark.parametrize(("name", "vector"), CASES)
def test_a_convention_gives_what_the_library_gives(name, vector):
    case = PLAIN[vector]
    layer = SinusoidalPositionalEncoding(**convention(name))
    rows = positions(case)
    zeros = ops.zeros((1, len(rows), case["feature_dim"]))
    encoded = ops.convert_to_numpy(layer(zeros, positions=ops.array(rows)))[0]
    np.testing.assert_allclose(encoded, expected(case), rtol=0, atol=PEER_TOLERANCE)


@pytest.mark.parametrize(("name", "vector"), MASKED.items())
def test_a_convention_that_counts_tokens_gives_what_the_library_gives(name, vector):
    case = SPECIAL[vector]
    ids = np.array(case["positions"]["input_ids"])
    mask = ops.array(ids != case["positions"]["padding_idx"])
    layer = SinusoidalPositionalEncoding(**convention(name))
    encoded = layer(ops.zeros((*ids.shape, case["feature_dim"])), mask=mask)
    np.testing.assert_allclose(
        ops.convert_to_numpy(encoded), expected(case), rtol=0, atol=PEER_TOLERANCE
    )


@pytest.mark.parametrize(("name", "vector"), SCALED.items())
def test_a_convention_that_scales_embeddings_gives_what_the_library_gives(name, vector):
    case = SPECIAL[vector]
    rows = positions(case)
    layer = SinusoidalPositionalEncoding(**convention(name))
    ones = ops.ones((1, len(rows), case["feature_dim"]))
    encoded = ops.convert_to_numpy(layer(ones))
    np.testing.assert_allclose(
        encoded.reshape(expected(case).shape),
        expected(case),
        rtol=0,
        atol=PEER_TOLERANCE,
    )


def test_a_convention_is_a_new_dictionary_each_time():
    convention("whisper")["layout"] = "interleaved"
    assert convention("whisper")["layout"] == "halves"


def test_an_unknown_convention_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="must be one of") as caught:
        convention("bert")
    known = ", ".join(f'"{name}"' for name in convention_names())
    assert str(caught.value) == (
        f"`name` must be one of {known}. Received: name='bert'"
    )


@pytest.mark.parametrize("feature_dim", [1, 2, 6, 7])
def test_a_permutation_leads_from_one_layout_to_the_other(feature_dim):
    rows = np.array([1, 5, 1000])
    halves = reference.encode(rows, feature_dim, layout="halves")
    order = layout_permutation(feature_dim, source="halves", target="interleaved")
    interleaved = reference.encode(rows, feature_dim)
    np.testing.assert_array_equal(halves[:, order], interleaved)
