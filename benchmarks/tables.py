"""Measurements as tables for the terminal.

`python -m benchmarks.tables benchmarks/results.json` prints a stored run.
"""

import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.accuracy import POLICIES, Error
from benchmarks.cases import RUNTIMES, Case
from benchmarks.costs import Cost
from benchmarks.demands import COST_LIMITS, DEMANDS, Demand
from benchmarks.peers import OURS, PEERS
from benchmarks.results import Results, Times
from benchmarks.timing import Ratio

OTHERS = [name for name in PEERS if name != OURS]
WIDTH = 180
NAMED_BOUNDS = (2**12, 2**16, 2**20, 2**24)


def tables(results: Results) -> Iterator[Table]:
    """Every table that the results can fill."""
    for runtime in RUNTIMES:
        if any(case.runtime == runtime for case in results.times):
            yield ratio_table(runtime, results.times)
    growth = growth_table(results.times)
    if growth.row_count:
        yield growth
    if results.costs:
        yield cost_table(results.costs)
    if results.errors:
        yield error_table(results.errors)
    demands = [demand for demand in DEMANDS if demand.measured(results.times)]
    if demands:
        yield demand_table(demands, results)
    limited = [cost for cost in results.costs if _limit(cost) is not None]
    if limited:
        yield limit_table(limited)


def ratio_table(runtime: str, times: Times) -> Table:
    """Milliseconds of the library, and how many times as long each peer takes."""
    table = _table(
        f"{RUNTIMES[runtime]}: times the time of {OURS}",
        ["batch x length x width"],
        [f"{OURS}, ms", *OTHERS],
    )
    for case, cell in times.items():
        if case.runtime == runtime:
            table.add_row(case.shape, milliseconds(cell[OURS]), *_ratios(cell))
    return table


def _ratios(cell: dict[str, list[float]]) -> Iterator[str]:
    for name in OTHERS:
        yield str(Ratio.of(cell[name], cell[OURS])) if name in cell else "-"


def growth_table(times: Times) -> Table:
    """How many times as long a call takes at the next length that was measured."""
    peers = [OURS, *OTHERS]
    table = _table("Growth with length", ["where"], ["lengths", *peers])
    for short, long in _neighbours(times):
        growth = [
            f"{Ratio.of(times[long][name], times[short][name]).median:.2f}"
            if name in times[long] and name in times[short]
            else "-"
            for name in peers
        ]
        lengths = f"{short.length} to {long.length}"
        table.add_row(RUNTIMES[short.runtime], lengths, *growth)
    return table


def _neighbours(times: Times) -> Iterator[tuple[Case, Case]]:
    """Pairs of plain cases of batch 1 that differ in length alone."""
    for runtime in RUNTIMES:
        cases = sorted(
            (case for case in times if case == Case(runtime, 1, case.length)),
            key=lambda case: case.length,
        )
        yield from pairwise(cases)


def cost_table(costs: Sequence[Cost]) -> Table:
    """One row per cost and size, one column per peer."""
    peers = [OURS, *OTHERS]
    table = _table("Other costs", ["cost", "at"], peers)
    cells = {(cost.what, cost.where, cost.peer): cost for cost in costs}
    for what, where in dict.fromkeys((cost.what, cost.where) for cost in costs):
        row = (cells.get((what, where, name)) for name in peers)
        table.add_row(
            what, where, *("-" if cost is None else amount(cost) for cost in row)
        )
    return table


def amount(cost: Cost) -> str:
    """The value with its unit, in a size that people read."""
    if cost.unit == "bytes":
        return f"{cost.value / 1e6:.3g} MB"
    if cost.unit == "s":
        return f"{cost.value * 1000:.3g} ms"
    return f"{cost.value:g}"


def error_table(errors: Sequence[Error]) -> Table:
    """Largest error below each bound, one row per peer and policy."""
    found = {(e.peer, e.policy, e.bound): e.error for e in errors}
    bounds = [b for b in NAMED_BOUNDS if any(e.bound == b for e in errors)]
    bounds = bounds or sorted({e.bound for e in errors})
    headings = [f"below {bound:,}" for bound in bounds]
    table = _table("Largest error", ["peer", "policy"], headings)
    for peer in dict.fromkeys(e.peer for e in errors):
        for policy in POLICIES:
            row = (found[peer, policy, bound] for bound in bounds)
            cells = ("no row" if error is None else f"{error:.1e}" for error in row)
            table.add_row(peer, policy, *cells)
    return table


def demand_table(demands: Iterable[Demand], results: Results) -> Table:
    """One row per demand: measured ratio with its quartiles, and the verdict.

    A peer that is the same program is as fast, whatever the noise says.
    """
    table = _table(
        "Demands on speed",
        ["where", "demand"],
        ["ms", "peer, ms", "ratio (quartiles)", "of the best", "verdict"],
    )
    for demand in demands:
        times, cell = results.times, results.times[demand.case]
        ratio = demand.ratio(times)
        same = demand.peer in results.same_programs.get(demand.case, ())
        table.add_row(
            str(demand.case),
            str(demand),
            milliseconds(cell[OURS]),
            milliseconds(cell[demand.peer]),
            str(ratio),
            f"{ratio.best:.2f}",
            "same program" if same else verdict(demand.met(times)),
        )
    return table


def limit_table(costs: Iterable[Cost]) -> Table:
    """Costs of the library against their limits."""
    table = _table("Demands on cost", ["cost", "at"], ["limit", "measured", "verdict"])
    for cost in costs:
        limit = Cost(cost.what, cost.peer, cost.where, _limit(cost) or 0, cost.unit)
        met = verdict(cost.value < limit.value)
        table.add_row(cost.what, cost.where, amount(limit), amount(cost), met)
    return table


def _limit(cost: Cost) -> float | None:
    return COST_LIMITS.get(cost.what) if cost.peer == OURS else None


def verdict(met: bool) -> str:
    """`met` or `MISSED`, in colour."""
    return "[green]met[/green]" if met else "[bold red]MISSED[/bold red]"


def milliseconds(seconds: Sequence[float]) -> str:
    """The median of the rounds."""
    return f"{statistics.median(seconds) * 1000:.3g}"


def screen() -> Console:
    """The terminal, or lines long enough for every table where there is none."""
    return Console(width=None if sys.stdout.isatty() else WIDTH)


def _table(title: str, names: Iterable[str], figures: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in names:
        table.add_column(heading, no_wrap=True)
    for heading in figures:
        table.add_column(heading, justify="right")
    return table


if __name__ == "__main__":
    for stored in tables(Results.load(Path(sys.argv[1]))):
        screen().print(stored)
