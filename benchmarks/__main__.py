"""The command line: `python -m benchmarks --help`."""

import argparse
import os

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.demands import DEMANDS, demanded_cells
from benchmarks.timing import Effort


def main() -> None:
    arguments = parse()
    console = Console()
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    console.print(f"load {load:.1f} on {cores} cores")
    run_demands(console, Effort(arguments.rounds, arguments.burst))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--demands", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--burst", type=float, default=0.01)
    return parser.parse_args()


def run_demands(console: Console, effort: Effort) -> None:
    from benchmarks.costs import construction_seconds, import_seconds
    from benchmarks.grid import time_cases
    from benchmarks.tables import cost_demand_table, demand_table

    cells = demanded_cells()
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(cells) + 2)

        def each(name: object) -> None:
            progress.update(task, description=str(name), advance=1)

        times = time_cases(cells, effort, each=each)
        each("construction")
        construction = construction_seconds("keras_sinpe", 1024, 5, 128)
        each("import")
        import_ = import_seconds(3)
    console.print(demand_table(DEMANDS, times))
    console.print(cost_demand_table(construction, import_))


if __name__ == "__main__":
    main()
