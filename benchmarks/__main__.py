"""Measures keras_sinpe beside what a user would pick instead, and prints ratios.

Times are interleaved and ratios pair rounds; quartiles tell how far to trust them. Run
it on a quiet machine.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks import accuracy, costs, demands
from benchmarks.cases import RUNTIMES, Case, full_grid, quick_grid
from benchmarks.costs import COSTS, CostPlan
from benchmarks.grid import time_cases
from benchmarks.peers import OURS, PEERS, Peer
from benchmarks.programs import same_programs
from benchmarks.results import Results, this_machine
from benchmarks.tables import screen, tables
from benchmarks.timing import Effort

PARTS = (*RUNTIMES, "costs", "accuracy")


@dataclass(frozen=True)
class Plan:
    """What a run measures.

    Attributes:
        effort: how long each case is timed.
        cells: who is timed, where.
        kinds: keys of `COSTS`.
        cost_plan: at which sizes.
        bounds: positions below which errors are measured.
        peers: whose errors.
    """

    effort: Effort
    cells: Mapping[Case, Sequence[Peer]]
    kinds: Sequence[str] = tuple(COSTS)
    cost_plan: CostPlan = field(default_factory=CostPlan)
    bounds: Sequence[int] = accuracy.BOUNDS
    peers: Sequence[Peer] = tuple(PEERS.values())

    def only(self, parts: Sequence[str]) -> "Plan":
        """The plan without all but the named `PARTS`."""
        return replace(
            self,
            cells={c: peers for c, peers in self.cells.items() if c.runtime in parts},
            kinds=self.kinds if "costs" in parts else (),
            bounds=self.bounds if "accuracy" in parts else (),
        )


def full_plan(rounds: int, burst_seconds: float) -> Plan:
    """The figures for the README."""
    peers = tuple(PEERS.values())
    return Plan(Effort(rounds, burst_seconds), _cells(full_grid(), peers))


def demand_plan(rounds: int, burst_seconds: float) -> Plan:
    """What the demands need and nothing else."""
    return Plan(
        Effort(rounds, burst_seconds),
        demands.demanded_cells(),
        tuple(demands.COST_LIMITS),
        CostPlan(rounds=3, peers=(PEERS[OURS],)),
        bounds=(),
    )


def quick_plan(peers: Sequence[Peer] = tuple(PEERS.values())) -> Plan:
    """Everything once, at toy sizes: to see that it runs, not to read the figures."""
    return Plan(
        Effort(rounds=2, burst_seconds=0.001),
        _cells(quick_grid(), peers),
        cost_plan=CostPlan(1, 8, (16, 64), (5, 6, 7), tuple(peers)),
        bounds=(2**6, 2**12, 2**17),
        peers=peers,
    )


def _cells(cases: Sequence[Case], peers: Sequence[Peer]) -> dict[Case, list[Peer]]:
    return {case: [peer for peer in peers if peer.takes(case)] for case in cases}


def run(plan: Plan, console: Console) -> Results:
    """Measures all of `plan`, under a progress bar."""
    same = same_programs(plan.cells)
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    machine = this_machine()
    errors = len(plan.peers) if plan.bounds else 0
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(plan.cells) + len(plan.kinds) + errors)

        def each(name: object) -> None:
            progress.update(task, description=str(name), advance=1)

        times = time_cases(plan.cells, plan.effort, each)
        measured = costs.measure_costs(plan.cost_plan, plan.kinds, each)
        peers = plan.peers if plan.bounds else ()
        wrong = accuracy.measure_errors(plan.bounds, peers=peers, each=each)
    return Results(machine, plan.effort, times, measured, wrong, same)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--demands", action="store_true", help="only what is promised")
    size.add_argument("--quick", action="store_true", help="toy sizes: does it run?")
    parser.add_argument(
        "--only",
        type=_parts,
        default=PARTS,
        help=f"parts, separated by commas, of {', '.join(PARTS)}",
    )
    parser.add_argument("--rounds", type=int, default=15, help="turns of each peer")
    parser.add_argument("--burst", type=float, default=0.04, help="seconds per turn")
    parser.add_argument("--json", type=Path, help="file for the results")
    return parser.parse_args(arguments)


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"must name parts of {', '.join(PARTS)}. Received: {', '.join(unknown)}"
        )
    return parts


def _silence_tensorflow() -> None:
    """Peers that trace anew at every length would fill the screen with warnings."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints, and stores if asked to."""
    options = parse(arguments)
    _silence_tensorflow()
    console = screen()
    if options.quick:
        plan = quick_plan()
    else:
        make = demand_plan if options.demands else full_plan
        plan = make(options.rounds, options.burst)
    results = run(plan.only(options.only), console)
    for table in tables(results):
        console.print(table)
    console.print(f"Load {results.machine['load']} on {results.machine['cores']} cores")
    if options.json:
        results.save(options.json)


if __name__ == "__main__":
    main()
