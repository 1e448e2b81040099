"""Interleaved timing: peers take turns in short bursts, so noise meets all of them."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Between bursts, for the worker threads of the last runtime to stop spinning: on two
# cores they take one from the next. ONNX Runtime's spin for longer than 4 ms, which
# doubled the time of the peer that followed.
REST_SECONDS = 0.05
# First calls of a burst: they wake the threads and fill the caches again.
WARM_UP_CALLS = 3


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes:
        rounds: how often each peer takes its turn.
        burst_seconds: about how long a turn lasts.
    """

    rounds: int
    burst_seconds: float


def interleave(
    calls: Mapping[str, Callable[[], Any]], effort: Effort
) -> dict[str, list[float]]:
    """Seconds per call of each of `calls`: the median of its burst, round by round.

    The order turns by one in each round, so that no peer always follows the same one.
    """
    names = list(calls)
    repeats = {name: _repeats(calls[name], effort.burst_seconds) for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(effort.rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(REST_SECONDS)
            for _ in range(WARM_UP_CALLS):
                calls[name]()
            seconds[name].append(_burst(calls[name], repeats[name]))
    return seconds


def _repeats(call: Callable[[], Any], burst_seconds: float) -> int:
    for _ in range(WARM_UP_CALLS):  # traces, compiles, fills arenas
        call()
    return max(3, min(1000, int(burst_seconds / _burst(call, 3))))


def _burst(call: Callable[[], Any], repeats: int) -> float:
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)


@dataclass(frozen=True)
class Ratio:
    """How many times as long one peer takes as another, round against round.

    Attributes:
        median: the figure to quote.
        low: the lower quartile of the rounds.
        high: the upper quartile.
        best: the ratio of the fastest rounds, which noise can only leave out.
    """

    median: float
    low: float
    high: float
    best: float

    @classmethod
    def of(cls, numerator: list[float], denominator: list[float]) -> "Ratio":
        """The ratio of two lists of seconds, measured in the same rounds."""
        ratios = [a / b for a, b in zip(numerator, denominator, strict=True)]
        low, median, high = _quartiles(ratios)
        return cls(median, low, high, min(numerator) / min(denominator))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return (values[0],) * 3
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high
