import doctest
import sys

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from keras_sinpe import plots, properties
from keras_sinpe.plots import (
    dot_product,
    encoding,
    error,
    plot_dot_product,
    plot_encoding,
    plot_error,
    plot_wavelengths,
    wavelengths,
)

# The layer stays within 5e-7 of float64 at every int32 position.
EXACT = 5e-7


def labels(ax):
    return ax.get_xlabel(), ax.get_ylabel()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def curves(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


@pytest.mark.parametrize("module", [dot_product, encoding, error, wavelengths])
def test_the_examples_of_the_docstrings_run(module):
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed


# --- the heat map and its waves


def test_the_heat_map_shows_the_encoding():
    heat = plot_encoding(12, 30, columns=(), cos_first=True).axes[0]
    (image,) = heat.get_images()
    expected = properties.encoding(np.arange(30), 12, cos_first=True)
    np.testing.assert_array_equal(image.get_array(), expected)
    assert image.get_clim() == (-1, 1)
    assert labels(heat) == ("feature", "position")


def test_by_default_four_waves_of_width_128_run_through_100_positions():
    figure = plot_encoding()
    heat, waves, _ = figure.axes
    assert heat.get_images()[0].get_array().shape == (100, 128)
    assert legend(waves) == [
        "column 0, period 6.28",
        "column 10, period 12.9",
        "column 40, period 112",
        "column 100, period 8,379",
    ]
    assert labels(waves) == ("position", "value")
    assert waves.get_xlim() == (0, 99)


def test_each_chosen_column_is_a_wave_with_a_dot_at_every_position():
    heat, waves, _ = plot_encoding(12, 30, columns=(3, 8)).axes
    marks = heat.get_lines()
    assert [mark.get_xdata() for mark in marks] == [[3], [8]]
    for i, column in enumerate((3, 8)):
        wave, dots = waves.get_lines()[2 * i : 2 * i + 2]
        assert wave.get_color() == dots.get_color() == marks[i].get_color()
        expected = properties.encoding(wave.get_xdata(), 12)[:, column]
        np.testing.assert_array_equal(wave.get_ydata(), expected)
        np.testing.assert_array_equal(dots.get_xdata(), np.arange(30))


def test_a_scaled_encoding_gets_a_scale_of_its_own():
    heat = plot_encoding(12, 30, columns=(), output_scale=0.25).axes[0]
    assert heat.get_images()[0].get_clim() == (-0.25, 0.25)


def test_a_column_of_zeros_has_no_period():
    waves = plot_encoding(5, 7, columns=(4,), odd="zero").axes[1]
    assert legend(waves) == ["column 4"]


def test_a_column_that_does_not_exist_is_refused():
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared
        plot_encoding(12, 30, columns=(3, 12))
    assert str(caught.value) == (
        "`columns` must be features, 0 to 11. Received: columns=(3, 12)"
    )


# --- dot product


def test_the_dot_product_is_drawn_for_both_signs_of_the_distance():
    ax = plot_dot_product(64, 30).axes[0]
    curve = ax.get_lines()[0]
    np.testing.assert_array_equal(curve.get_xdata(), np.arange(-30, 31))
    expected = properties.dot_product(np.arange(-30, 31), 64)
    np.testing.assert_array_equal(curve.get_ydata(), expected)
    assert ax.get_title("left") == "Dot product of two encodings, 64 features"
    assert labels(ax) == ("distance of the positions", "dot product")


# --- wavelengths


def test_the_ladder_parts_at_the_training_length():
    ax = plot_wavelengths(64, 100).axes[0]
    complete, incomplete, mark = ax.get_lines()
    assert complete.get_ydata().max() <= 100 < incomplete.get_ydata().min()
    together = np.concatenate([complete.get_ydata(), incomplete.get_ydata()])
    np.testing.assert_array_equal(together, properties.wavelengths(64))
    assert mark.get_ydata() == [100, 100]
    assert ax.get_yscale() == "log"
    assert labels(ax) == ("pair of features, fastest first", "wavelength in positions")


# --- error


@pytest.fixture(scope="module")
def error_axes():
    return plot_error(16).axes[0]


def test_the_layer_is_exact_to_the_last_position(error_axes):
    ours = curves(error_axes)["keras_sinpe"]
    assert ours[0, 0] == 1
    assert ours[-1, 0] == 2**31 - 8
    assert ours[:, 1].max() < EXACT


@pytest.mark.parametrize(
    ("curve", "position", "least"),
    [
        ("float32 angles", 2**16, 1e-3),
        ("float32 angles", 2**26, 1),
        ("float16 angles", 2**12, 0.5),
        ("bfloat16 angles", 2**11, 1),
    ],
)
def test_angles_in_low_precision_lose_the_position(error_axes, curve, position, least):
    points = curves(error_axes)[curve]
    assert points[points[:, 0] >= position, 1].max() > least
    assert points[0, 1] < 0.05


def test_float16_ends_where_its_numbers_end(error_axes):
    last = {name: points[-1, 0] for name, points in curves(error_axes).items()}
    assert 30_000 < last["float16 angles"] < 65504
    assert last["bfloat16 angles"] == 2**31 - 8


def test_both_axes_of_the_error_are_logarithmic_and_named(error_axes):
    assert (error_axes.get_xscale(), error_axes.get_yscale()) == ("log", "log")
    assert labels(error_axes) == ("position", "largest error")


def test_a_first_position_moves_the_error():
    moved = plot_error(16, 1000, first_position=10**6).axes[0]
    assert curves(moved)["float32 angles"][0, 1] > 1e-3
    assert curves(moved)["keras_sinpe"][:, 1].max() < EXACT


def test_an_end_beyond_int32_is_refused():
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared
        plot_error(16, 2**31)
    assert str(caught.value) == (
        "`max_position` must be from 16 to 2147483647. Received: "
        "max_position=2147483648"
    )


# --- every figure


DRAWINGS = [
    lambda ax: plot_dot_product(8, 9, ax=ax),
    lambda ax: plot_wavelengths(8, 9, ax=ax),
    lambda ax: plot_error(8, 99, ax=ax),
    lambda ax: plot_encoding(8, 9, columns=(1,), axes=ax and (ax, ax)),
]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_figure_is_drawn_on_the_axes_that_are_given(draw):
    figure = Figure()
    ax = figure.add_subplot()
    assert draw(ax) is figure
    assert ax.get_lines()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_new_figure_can_be_saved_and_leaves_pyplot_alone(draw, tmp_path):
    figure = draw(None)
    assert isinstance(figure, Figure)
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("draw", DRAWINGS)
def test_without_matplotlib_a_sentence_says_what_to_install(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError) as caught:
        draw(None)
    assert str(caught.value) == (
        "Figures need matplotlib: pip install keras_sinpe[plot]"
    )


def test_every_public_name_is_there():
    assert sorted(plots.__all__) == [
        "plot_dot_product",
        "plot_encoding",
        "plot_error",
        "plot_wavelengths",
    ]


def test_a_narrow_encoding_shows_the_default_columns_that_it_has():
    waves = plot_encoding(64, 20).axes[1]
    labels = [line.get_label() for line in waves.get_lines()[::2]]
    assert [label.split(",")[0] for label in labels] == [
        "column 0",
        "column 10",
        "column 40",
    ]
