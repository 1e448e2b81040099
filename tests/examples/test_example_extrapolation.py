"""The experiment beyond the training length, on a reduced setting and in its parts."""

import extrapolation as page
import keras
import numpy as np
import onnxruntime
import pytest


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder after a reduced run, and what it printed."""
    folder = tmp_path_factory.mktemp("run") / "new"
    two = {name: page.ENCODINGS[name] for name in ("sinusoidal", "table")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "ENCODINGS", two)
        patch.setattr(page, "HELD_OUT", 8)
        lines = []
        patch.setattr("builtins.print", lambda *parts, **_: lines.extend(parts))
        page.main(["--seeds", "1", "--steps", "2", "--output", str(folder)])
    return folder, "\n".join(map(str, lines))


# --- the whole way


def test_every_model_is_kept(run):
    folder, _ = run
    kept = sorted(file.name for file in folder.glob("*.keras"))
    assert kept == ["extrapolation_sinusoidal_0.keras", "extrapolation_table_0.keras"]


def test_the_outcome_is_stated_whatever_it_is(run):
    _, printed = run
    for name in ("sinusoidal", "table"):
        assert f"{name}: " in printed
    assert "table and the sinusoidal encoding differ by" in printed


def test_the_table_ends_where_its_rows_end(run):
    _, printed = run
    assert "A table of 32 rows, given 33 letters: InvalidArgumentError." in printed


def test_the_exported_model_is_proved(run):
    folder, printed = run
    assert "Parity PASSED" in printed
    session = onnxruntime.InferenceSession(folder / "extrapolation.onnx")
    letters = np.zeros((2, 500), "int32")  # far beyond what a table could serve
    (logits,) = session.run(["letters"], {"ids": letters})
    assert logits.shape == (2, 500, 16)
    assert np.isfinite(logits).all()


def test_the_figure_is_saved(run):
    folder, _ = run
    assert (folder / "extrapolation.png").read_bytes().startswith(b"\x89PNG")


# --- the task


def test_the_target_is_the_letter_three_places_before():
    letters, before = page.sequences(np.random.default_rng(0), 4, 9)
    np.testing.assert_array_equal(before[:, 3:], letters[:, :-3])
    assert not before[:, :3].any()


def test_training_counts_no_place_that_has_no_answer():
    letters, before, weights = next(page.endless_batches("none", 0))
    assert letters.shape == before.shape == weights.shape == (32, 32)
    assert not weights[:, :3].any()
    assert (weights[:, 3:] == 1).all()


def test_held_out_letters_are_not_those_of_the_training():
    class Perfect:
        def __call__(self, letters):
            self.letters = letters
            before = np.pad(letters[:, :-3], ((0, 0), (3, 0)))
            return keras.ops.one_hot(before, 16)

    perfect = Perfect()
    assert (page.accuracies(perfect, "any", 0) == 1).all()
    trained_on = next(page.endless_batches("any", 0))[0]
    assert not (perfect.letters[:32, :32] == trained_on).all(axis=1).any()


@pytest.mark.parametrize("name", ["sinusoidal", "table", "none"])
def test_no_place_sees_a_later_letter(name):
    keras.utils.set_random_seed(0)
    model = page.build_model(page.ENCODINGS[name])
    letters, _ = page.sequences(np.random.default_rng(1), 2, 40)
    short = np.asarray(model(letters[:, :17]))
    # Sums in another order: roundings of float32 of logits of order one.
    np.testing.assert_allclose(model(letters)[:, :17], short, rtol=0, atol=1e-5)


# --- what is made of the curves


@pytest.fixture
def curves():
    """Right up to place 36, then at chance; two seeds that differ in one place."""
    right = np.concatenate([np.ones(36 - 3), np.full(128 - 36, 1 / 16)])
    other = right.copy()
    other[-1] = 0.5
    return {"sinusoidal": np.stack([right, other]), "table": np.stack([right, right])}


def test_the_reach_counts_the_places_beyond_the_training_length(curves):
    assert page.reach(curves["sinusoidal"]) == 4
    assert page.reach(np.ones((2, 125))) == 96


def test_places_are_counted_from_one(curves):
    sinusoidal = curves["sinusoidal"]
    assert page.between(sinusoidal, 1, 36).tolist() == [1, 1]
    assert page.between(sinusoidal, 33, 37)[0] == pytest.approx((4 + 1 / 16) / 5)
    assert page.between(sinusoidal, 128, 128).tolist() == [1 / 16, 0.5]


def test_the_figure_shows_mean_and_range_of_every_encoding(curves):
    (ax,) = page.draw(curves).axes
    mean = ax.get_lines()[0]
    assert mean.get_label() == "sinusoidal"
    np.testing.assert_array_equal(mean.get_xdata(), np.arange(4, 129))
    np.testing.assert_array_equal(mean.get_ydata(), curves["sinusoidal"].mean(axis=0))
    band = ax.collections[0].get_paths()[0].vertices
    assert band[band[:, 0] == 128, 1].max() == 0.5
    assert ax.get_lines()[2].get_xdata()[0] == 32
    assert ax.get_xlabel() == "place in the sequence"
    assert ax.get_ylabel() == "share of right letters"


def test_the_results_name_mean_and_range(curves):
    table = page.results(curves)
    columns = {column.header: list(column.cells) for column in table.columns}
    assert list(columns) == ["encoding", "1-32", "33-36", "37-40", "61-64", "125-128"]
    assert columns["125-128"] == ["11.7%", "6% - 17%", "6.2%", "6% - 6%"]


# --- misuse


def test_an_interrupted_training_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    steps = []

    def interrupt_the_sixth(*_):
        steps.append("another")
        if len(steps) == 6:  # four of the first model, one of the second
            raise KeyboardInterrupt

    monkeypatch.setattr(page.several_seeds.Progress, "advance", interrupt_the_sixth)
    with pytest.raises(SystemExit) as caught:
        page.main(["--seeds", "1", "--steps", "4", "--output", str(tmp_path)])
    kept = "extrapolation_sinusoidal_0.keras, extrapolation_table_0.keras"
    assert str(caught.value) == f"\nInterrupted: {tmp_path} holds {kept}."
    model = keras.saving.load_model(tmp_path / "extrapolation_table_0.keras")
    assert model(np.zeros((1, 5), "int32")).shape == (1, 5, 16)
