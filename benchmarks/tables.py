"""Measurements as tables for the terminal."""

from collections.abc import Sequence

from rich.table import Table

from benchmarks.demands import (
    CONSTRUCTION_SECONDS,
    IMPORT_SECONDS,
    Demand,
    Times,
)


def demand_table(demands: Sequence[Demand], times: Times) -> Table:
    """One row per demand: measured ratio with its quartiles, and the verdict."""
    table = Table(title="Demands on speed", title_justify="left")
    for heading in ("where", "demand"):
        table.add_column(heading)
    for heading in ("ms", "peer ms", "ratio (quartiles)", "of the best"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for demand in demands:
        ratio = demand.ratio(times)
        cell = times[demand.case]
        table.add_row(
            str(demand.case),
            str(demand),
            milliseconds(cell["keras_sinpe"]),
            milliseconds(cell[demand.peer]),
            str(ratio),
            f"{ratio.best:.2f}",
            verdict(demand.met(times)),
        )
    return table


def cost_demand_table(construction: float, import_: float) -> Table:
    """Construction and import against their limits."""
    table = Table(title="Demands on cost", title_justify="left")
    for heading in ("what", "limit", "measured", "verdict"):
        table.add_column(heading)
    rows = [
        ("construction, 1024 features", construction, CONSTRUCTION_SECONDS),
        ("import on top of Keras", import_, IMPORT_SECONDS),
    ]
    for name, measured, limit in rows:
        cells = f"{limit * 1000:.0f} ms", f"{measured * 1000:.1f} ms"
        table.add_row(name, *cells, verdict(measured < limit))
    return table


def verdict(met: bool) -> str:
    """`met` or `MISSED`, in colour."""
    return "[green]met[/green]" if met else "[bold red]MISSED[/bold red]"


def milliseconds(seconds: Sequence[float]) -> str:
    """The median of the rounds."""
    import statistics

    return f"{statistics.median(seconds) * 1000:.3g}"
