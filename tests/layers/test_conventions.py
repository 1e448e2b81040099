import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, REAL_TOLERANCE, assert_exact
from keras import ops
from peer_vectors import PEER_TOLERANCE, PLAIN, SPECIAL, expected, positions
from published_formulas import FORMULAS, nerf, transformer_xl

from keras_sinpe import (
    SinusoidalEmbedding,
    SinusoidalPositionalEncoding,
    convention,
    convention_names,
    reference,
)
from keras_sinpe.convention_table import CONVENTIONS
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


# At each of them: an even width, an odd one where the library takes it, the smallest.
WIDTHS = [
    (name, width)
    for name, known in CONVENTIONS.items()
    for width in sorted({10, 7 if known.takes_odd else 8, known.least_width})
]
OF_THE_LAYER = ("input_scale", "positions_from_mask", "zero_masked")


def embedding(name, width):
    """The encoding of a convention, without what the layer does beside it."""
    parameters = convention(name, feature_dim=width)
    rest = {key: parameters[key] for key in parameters if key not in OF_THE_LAYER}
    return SinusoidalEmbedding(width, **rest)


def test_every_convention_has_a_vector_or_a_formula():
    assert sorted(FORMULAS) == list(convention_names())
    assert {*VECTORS, *MASKED, *SCALED} < set(FORMULAS)


@pytest.mark.parametrize(("name", "width"), WIDTHS)
def test_a_convention_is_the_published_formula_at_every_kind_of_width(name, width):
    rows = np.array([0, 1, 2, 64, 4097])
    assert_exact(
        embedding(name, width)(rows), FORMULAS[name](rows, width), INTEGER_TOLERANCE
    )


@pytest.mark.parametrize(("name", "width"), WIDTHS)
def test_a_convention_is_the_published_formula_between_whole_numbers(name, width):
    rows = np.array([0.125, 0.75, 3.5])
    assert_exact(
        embedding(name, width)(rows.astype("float32")),
        FORMULAS[name](rows, width),
        REAL_TOLERANCE,
    )


def test_an_odd_timestep_ends_in_a_zero():
    row = SinusoidalEmbedding(7, **convention("ddpm"))(1)
    expected = np.array([0.841471, 0.01, 0.0001, 0.540302, 0.99995, 1, 0])
    assert_exact(row, expected, 5e-7)  # half of the sixth digit


def test_odd_widths_and_sources_are_told_of_every_convention():
    for known in CONVENTIONS.values():
        assert known.source
        assert known.odd_widths
        assert known.least_width % 2 == 0 or known.takes_odd


def test_distances_come_in_the_reversed_order_of_transformer_xl():
    length, width = 37, 10
    layer = SinusoidalPositionalEncoding(**convention("transformer_xl", length=length))
    distances = np.arange(length - 1, -1, -1)
    assert_exact(
        layer(ops.zeros((2, length, width))),
        np.stack([transformer_xl(distances, width)] * 2),
        INTEGER_TOLERANCE,
    )


def test_angles_of_an_axis_are_normalised_to_one_turn_as_in_detr():
    length, width = 25, 8
    layer = SinusoidalEmbedding(width, **convention("detr", length=length))
    angles = np.arange(1, length + 1) / (length + 1e-6) * 2 * np.pi
    assert_exact(
        layer(np.arange(length)), reference.encode(angles, width), INTEGER_TOLERANCE
    )


def test_bands_of_nerf_without_pi_are_a_scale_away():
    numbers = np.array([-0.9, 0.1, 0.7], "float32")
    parameters = convention("nerf", feature_dim=20)
    layer = SinusoidalEmbedding(20, **parameters, position_scale=1 / np.pi)
    expected = nerf(numbers.astype("float64") / np.pi, 20)
    assert_exact(layer(numbers), expected, REAL_TOLERANCE)


@pytest.mark.parametrize(
    ("error", "width"), [(TypeError, None), (ValueError, 7), (ValueError, 0)]
)
def test_bands_of_nerf_need_an_even_width(error, width):
    with pytest.raises(error) as caught:
        convention("nerf", feature_dim=width)
    assert str(caught.value) == (
        '`feature_dim` must be an even integer above 0 for "nerf". '
        f"Received: feature_dim={width}"
    )


def test_a_length_is_refused_where_nothing_depends_on_it():
    with pytest.raises(ValueError, match="left out") as caught:
        convention("whisper", length=5)
    assert str(caught.value) == (
        '`length` must be left out for "whisper". Received: length=5'
    )


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
