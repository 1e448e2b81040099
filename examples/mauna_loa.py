"""The data of `irregular_times.py`: Mauna Loa's carbon dioxide, cut into windows.

A window spans three years. It holds 40 readings, drawn at random, and the 13 weekly
readings of a gap in its middle, which are to be filled in from the 40.
"""

from typing import NamedTuple

import numpy as np
from statsmodels.datasets import co2

YEAR = 365.2425  # days
FIRST_YEAR = 1958 + 87 / YEAR  # the first reading: 29 March 1958
WINDOW, GAP = 3 * YEAR, 91.0  # days
CONTEXT, QUERIES = 40, 13  # readings seen, weekly readings to fill in
HELD_OUT_GAPS, CONTEXTS_PER_GAP = 20, 4  # draws of the 40 about each of the gaps
TRAINING_WINDOWS = 6000


class Series(NamedTuple):
    """Readings in the order of time: days since the first one, and ppm."""

    days: np.ndarray
    ppm: np.ndarray


class Windows(NamedTuple):
    """Samples for the model, `(count, CONTEXT + QUERIES)` each."""

    days: np.ndarray
    seen: np.ndarray  # 1 for a reading that the model sees, 0 for one to fill in
    ppm: np.ndarray
    level: np.ndarray  # (count, 1): the mean of what is seen


def training_and_held_out_windows() -> tuple[Windows, Windows]:
    """Windows about gaps cut anywhere, and about gaps that the former never touch."""
    series = mauna_loa()
    known, starts = hold_out(series)
    rng = np.random.default_rng(1958)  # the same data, whatever the seed of a training
    anywhere = rng.choice(complete_gaps(known), TRAINING_WINDOWS)
    each = np.repeat(starts, CONTEXTS_PER_GAP)
    return windows(known, known, anywhere, rng), windows(known, series, each, rng)


def mauna_loa() -> Series:
    frame = co2.load_pandas().data["co2"].dropna()
    days = (frame.index - frame.index[0]).days.to_numpy("float64")
    return Series(days, frame.to_numpy("float64"))


def hold_out(series: Series) -> tuple[Series, np.ndarray]:
    """The series without the held-out gaps, and the first days of these."""
    usable = complete_gaps(series)
    places = np.linspace(0, len(usable) - 1, HELD_OUT_GAPS + 2)[1:-1].astype(int)
    starts = usable[places]
    outside = ~np.any([inside(series.days, start) for start in starts], axis=0)
    return Series(series.days[outside], series.ppm[outside]), starts


def inside(days: np.ndarray, start: float) -> np.ndarray:
    return (days >= start) & (days < start + GAP)


def complete_gaps(series: Series) -> np.ndarray:
    """First days of the gaps with all their weeks and half a window on each side."""
    margin = (WINDOW - GAP) / 2
    starts = series.days[
        (series.days >= margin) & (series.days <= series.days[-1] - GAP - margin)
    ]
    counts = [inside(series.days, start).sum() for start in starts]
    return starts[np.array(counts) == QUERIES]


def windows(
    known: Series, asked: Series, starts: np.ndarray, rng: np.random.Generator
) -> Windows:
    """One window about each gap: readings from `known`, the gap filled from `asked`."""
    rows = [_window(known, asked, start, rng) for start in starts]
    days, seen, ppm = (np.stack(part) for part in zip(*rows, strict=True))
    level = (ppm * seen).sum(axis=1, keepdims=True) / CONTEXT
    return Windows(days, seen, ppm, level)


def _window(
    known: Series, asked: Series, start: float, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    near = np.abs(known.days - start - GAP / 2) < WINDOW / 2
    around = np.flatnonzero(near & ~inside(known.days, start))
    kept = np.sort(rng.choice(around, CONTEXT, replace=False))
    gap = np.flatnonzero(inside(asked.days, start))
    days = np.concatenate([known.days[kept], asked.days[gap]])
    ppm = np.concatenate([known.ppm[kept], asked.ppm[gap]])
    seen = np.repeat([1.0, 0.0], [CONTEXT, QUERIES])
    order = np.argsort(days)
    return days[order], seen[order], ppm[order]


def untrained(data: Windows) -> dict[str, np.ndarray]:
    """What two methods without training fill in, `(1, windows, readings)` each."""
    methods = {"straight line": straight_line, "fitted seasons": fitted_seasons}
    rows = list(zip(data.days, data.seen == 1, data.ppm, strict=True))
    return {
        name: np.array([[method(*row) for row in rows]])
        for name, method in methods.items()
    }


def straight_line(days: np.ndarray, seen: np.ndarray, ppm: np.ndarray) -> np.ndarray:
    return np.interp(days, days[seen], ppm[seen])


def fitted_seasons(days: np.ndarray, seen: np.ndarray, ppm: np.ndarray) -> np.ndarray:
    """A parabola, and sines and cosines of a year and half a year."""
    years = (days - days.mean()) / YEAR
    waves = [f(2 * np.pi * n * years) for n in (1, 2) for f in (np.sin, np.cos)]
    terms = np.stack([np.ones_like(years), years, years**2, *waves], axis=-1)
    return terms @ np.linalg.lstsq(terms[seen], ppm[seen], rcond=None)[0]
