"""Gaps in the measurements of Mauna Loa, on a reduced setting and in parts."""

import irregular_times as page
import keras
import mauna_loa as data
import numpy as np
import onnxruntime
import pytest

ENCODINGS = ["dates, year", "dates", "index", "none"]

# Another order of summing in float32, for ppm of about 350.
PPM_ROUNDING = 1e-3


@pytest.fixture(scope="module")
def held_out():
    """The windows to judge by, and the days that training may know."""
    series = data.mauna_loa()
    known, starts = data.hold_out(series)
    rng = np.random.default_rng(0)
    return data.windows(known, series, starts, rng), known.days, starts


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder after a reduced run, and what it printed."""
    folder = tmp_path_factory.mktemp("run") / "new"
    lines = []
    two = {name: page.ENCODINGS[name] for name in ("dates, year", "index")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "ENCODINGS", two)
        patch.setattr(data, "TRAINING_WINDOWS", 40)
        patch.setattr(data, "CONTEXTS_PER_GAP", 1)
        patch.setattr("builtins.print", lambda *parts, **_: lines.extend(parts))
        page.main(["--seeds", "1", "--steps", "2", "--output", str(folder)])
    return folder, "\n".join(map(str, lines))


# --- the data


def test_the_series_is_the_measured_one():
    series = data.mauna_loa()
    assert len(series.days) == len(series.ppm) == 2284 - 59
    assert series.days[0] == 0
    assert (series.ppm[0], series.ppm[-1]) == (316.1, 371.5)
    assert set(np.diff(series.days) % 7) == {0}
    assert np.diff(series.days).max() > 100  # the spring of 1964 is missing


def test_a_window_holds_what_is_seen_and_a_gap_to_fill_in(held_out):
    windows, _, starts = held_out
    assert windows.days.shape == windows.seen.shape == windows.ppm.shape == (20, 53)
    assert (windows.seen.sum(axis=1) == 40).all()
    assert (np.diff(windows.days, axis=1) > 0).all()
    for days, seen, start in zip(windows.days, windows.seen, starts, strict=True):
        assert days[seen == 0].tolist() == [start + 7 * week for week in range(13)]
        assert np.ptp(days) < 3 * 365.2425


def test_no_reading_of_a_held_out_gap_is_known(held_out):
    windows, known_days, _ = held_out
    gaps = windows.days[windows.seen == 0]
    assert len(np.unique(gaps)) == 20 * 13
    assert not np.isin(gaps, known_days).any()
    assert np.isin(windows.days[windows.seen == 1], known_days).all()


def test_the_readings_seen_are_at_uneven_distances(held_out):
    windows, _, _ = held_out
    apart = np.diff(windows.days[0][windows.seen[0] == 1])
    assert len(set(apart)) > 4


def test_training_never_meets_a_held_out_gap(monkeypatch):
    monkeypatch.setattr(data, "TRAINING_WINDOWS", 300)
    training, judged = data.training_and_held_out_windows()
    assert training.days.shape == (300, 53)
    assert judged.days.shape == (80, 53)
    gaps = judged.days[judged.seen == 0]
    assert not np.isin(training.days, gaps).any()


def test_the_untrained_methods_fill_in_what_they_should():
    days = np.arange(0.0, 900, 9)
    seen = ~((days > 300) & (days < 400))
    line = 350 + days / 100
    seasons = line + 3 * np.sin(2 * np.pi * days / 365.2425 + 1)
    np.testing.assert_allclose(data.straight_line(days, seen, line), line)
    np.testing.assert_allclose(data.fitted_seasons(days, seen, seasons), seasons)
    off = np.abs(data.straight_line(days, seen, seasons) - seasons)
    assert off[seen].max() < 1e-9
    assert off[~seen].max() > 0.5


# --- the models


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_model_never_sees_what_it_is_to_fill_in(held_out, encoding):
    windows, _, _ = held_out
    keras.utils.set_random_seed(0)
    model = page.build_model(encoding)
    plain = page.fill_in(model, encoding, windows)
    hidden = windows._replace(ppm=np.where(windows.seen == 1, windows.ppm, 0))
    np.testing.assert_array_equal(page.fill_in(model, encoding, hidden), plain)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_nobody_attends_to_a_gap(held_out, encoding):
    windows, _, _ = held_out
    keras.utils.set_random_seed(0)
    model = page.build_model(encoding)
    kept = windows.seen[0] == 1
    inputs = {k: v[:1] for k, v in page.model_inputs(windows, encoding).items()}
    without = {name: array[:, kept] for name, array in inputs.items()}
    np.testing.assert_allclose(
        np.asarray(model(inputs))[:, kept], model(without), rtol=0, atol=1e-5
    )


def test_only_an_encoding_tells_the_weeks_of_a_gap_apart(held_out):
    windows, _, _ = held_out
    gap = windows.seen == 0
    for encoding in ENCODINGS:
        keras.utils.set_random_seed(0)
        filled = page.fill_in(page.build_model(encoding), encoding, windows)
        spread = np.ptp(filled[gap].reshape(20, 13), axis=1)
        if encoding == "none":
            assert spread.max() < PPM_ROUNDING
        else:
            assert spread.min() > PPM_ROUNDING


def test_positions_are_days_or_places(held_out):
    windows, _, _ = held_out
    for encoding, expected in [("dates, year", windows.days[3]), ("index", range(53))]:
        positions = page.model_inputs(windows, encoding)["positions"]
        assert positions.dtype == np.float32
        assert positions[3].tolist() == list(expected)


def test_the_year_is_among_the_periods():
    assert 365.2425 in page.PERIODS
    assert len(page.PERIODS) == page.WIDTH // 2


# --- what is made of the results


def test_errors_count_what_was_to_fill_in_and_nothing_else(held_out):
    windows, _, _ = held_out
    gap = windows.seen == 0
    off = windows.ppm + np.where(gap, 2.0, 100.0)
    measured = page.errors({"off": np.stack([off, windows.ppm])}, windows)
    np.testing.assert_allclose(measured["off"], [2, 0], atol=1e-9)


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ([0.9, 1.1], "every seed of theirs beats every seed of the index."),
        ([0.5, 1.5], "not every seed of theirs beats every seed of the index."),
    ],
)
def test_the_outcome_is_stated_as_measured(index, sentence):
    measured = {"index": np.array(index), "dates, year": np.array([0.4, 0.6])}
    text = page.statement(measured)
    assert text.startswith("From best to worst: dates, year; index.\n")
    assert "make 50% of the error" in text
    assert text.endswith(f"; {sentence}")


def test_the_figure_shows_what_was_there_and_what_was_filled_in(held_out):
    windows, _, starts = held_out
    filled = {"straight": np.stack([windows.ppm + 1])}
    (ax,) = page.draw(windows, filled).axes
    seen, there, line = ax.get_lines()
    assert (len(seen.get_xdata()), len(there.get_xdata())) == (40, 13)
    np.testing.assert_allclose(line.get_ydata(), there.get_ydata() + 1)
    assert there.get_xdata()[0] == pytest.approx(
        1958.238 + starts[10] / 365.2425, abs=0.001
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("year", "ppm")


# --- the whole way


def test_every_model_is_kept(run):
    folder, _ = run
    kept = sorted(file.stem for file in folder.glob("*.keras"))
    assert kept == ["irregular_times_dates_year_0", "irregular_times_index_0"]


def test_a_run_states_its_outcome_and_saves_its_figure(run):
    folder, printed = run
    assert "From best to worst: fitted seasons; straight line; " in printed
    assert (folder / "irregular_times.png").read_bytes().startswith(b"\x89PNG")


def test_the_exported_model_is_proved(run, held_out):
    folder, printed = run
    assert "Parity PASSED" in printed
    windows, _, _ = held_out
    session = onnxruntime.InferenceSession(folder / "irregular_times.onnx")
    inputs = page.model_inputs(windows, "dates, year")
    (deviation,) = session.run(["deviation"], inputs)
    model = keras.saving.load_model(folder / "irregular_times_dates_year_0.keras")
    np.testing.assert_allclose(deviation, model(inputs), rtol=0, atol=1e-5)
