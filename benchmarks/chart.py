"""Charts of a stored run: time and error against length.

`python -m benchmarks.chart benchmarks/results.json benchmarks` writes `time.png` and
`error.png` into the folder `benchmarks`.
"""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.accuracy import Error
from benchmarks.cases import RUNTIMES, Case
from benchmarks.peers import OURS, PEERS
from benchmarks.results import Results, Times

TIMED = ("ort", "function")
COLOURS = dict(
    zip(PEERS, ("#d1495b", "#2e6f95", "#8a9a5b", "#c08a2d", "#8d8d8d"), strict=True)
)
DASHES = {"float32": "-", "mixed_float16": "--", "mixed_bfloat16": ":"}
# Half-precision tables would lie on the library's lines: both round once.
ERROR_LINES = (
    *((OURS, policy) for policy in DASHES),
    *(("KerasHub", policy) for policy in DASHES),
    ("stored table", "float32"),
)
POSITION_TICKS = {
    2**4: "16",
    2**8: "256",
    2**12: "4,096",
    2**16: "65,536",
    2**20: "1 million",
    2**24: "16 million",
}
WIDEST_ENCODING = 2.0  # sines differ by no more


def time_chart(times: Times) -> Any:
    """Figure of milliseconds against length, one panel per runtime.

    Raises:
        ValueError: no case is one that the chart shows.
    """
    from matplotlib.figure import Figure

    runtimes = [r for r in TIMED if _series(times, r, OURS)]
    if not runtimes:
        raise ValueError(
            "`times` must hold plain cases of batch 1, of the runtimes "
            f"{', '.join(TIMED)}. Received: {len(times)} other cases"
        )
    figure = Figure(figsize=(5 * len(runtimes), 4), layout="constrained")
    panels = figure.subplots(1, len(runtimes), sharey=True, squeeze=False)[0]
    for panel, runtime in zip(panels, runtimes, strict=True):
        _draw_times(panel, times, runtime)
    panels[0].set_ylabel("milliseconds per call")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.suptitle("Time to add the encoding: batch 1, 512 features, float32, CPU")
    return figure


def _draw_times(panel: Any, times: Times, runtime: str) -> None:
    for name in PEERS:
        series = _series(times, runtime, name)
        if series:
            lengths, milliseconds = zip(*series, strict=True)
            panel.plot(lengths, milliseconds, "o-", label=name, **_style(name))
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    lengths = [length for length, _ in _series(times, runtime, OURS)]
    panel.set_xticks(lengths, [f"{length:,}" for length in lengths])
    panel.set_xlabel("tokens per sequence")
    panel.set_title(RUNTIMES[runtime], fontsize="medium")
    _tidy(panel)


def _series(times: Times, runtime: str, peer: str) -> list[tuple[int, float]]:
    """Lengths and milliseconds of a peer, of plain cases."""
    cells = {c: cell for c, cell in times.items() if _plain(c, runtime)}
    return sorted(
        (case.length, statistics.median(cell[peer]) * 1000)
        for case, cell in cells.items()
        if peer in cell
    )


def _plain(case: Case, runtime: str) -> bool:
    """Whether `case` varies nothing but the length."""
    return case == Case(runtime, 1, case.length)


def error_chart(errors: Sequence[Error]) -> Any:
    """Figure of the largest error against the position, one line per peer and policy.

    Raises:
        ValueError: there are no errors to show.
    """
    from matplotlib.figure import Figure

    if not errors:
        raise ValueError("`errors` must not be empty. Received: errors=[]")
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    panel = figure.subplots()
    for name, policy in ERROR_LINES:
        _draw_errors(panel, errors, name, policy)
    panel.axhline(WIDEST_ENCODING, color="black", linewidth=0.8)
    panel.annotate(
        "nothing left of the encoding",
        (min(e.bound for e in errors), WIDEST_ENCODING),
        xytext=(0, 4),
        textcoords="offset points",
        fontsize="small",
    )
    panel.set_xscale("log", base=2)
    panel.set_xticks(list(POSITION_TICKS), list(POSITION_TICKS.values()))
    panel.set_yscale("log")
    panel.set_ylim(1e-8, 10)
    panel.set_xlabel("positions below")
    panel.set_ylabel("largest error of a feature")
    panel.set_title("Error of the encoding against its exact value, 512 features")
    _tidy(panel)
    figure.legend(loc="outside right center", frameon=False, fontsize="small")
    return figure


def _draw_errors(panel: Any, errors: Sequence[Error], name: str, policy: str) -> None:
    points = [
        (e.bound, e.error)
        for e in errors
        if (e.peer, e.policy) == (name, policy) and e.error is not None
    ]
    if points:
        bounds, values = zip(*points, strict=True)
        label = f"{name}, {policy}"
        panel.plot(bounds, values, DASHES[policy], label=label, **_style(name))


def _style(name: str) -> dict[str, Any]:
    ours = name == OURS
    return {
        "color": COLOURS[name],
        "linewidth": 2.4 if ours else 1.4,
        "markersize": 4,
        "zorder": 3 if ours else 2,
    }


def _tidy(panel: Any) -> None:
    panel.grid(alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Draws both charts of a stored run."""
    source, folder = (Path(argument) for argument in sys.argv[1:])
    results = Results.load(source)
    time_chart(results.times).savefig(folder / "time.png", dpi=150)
    error_chart(results.errors).savefig(folder / "error.png", dpi=150)


if __name__ == "__main__":
    main()
