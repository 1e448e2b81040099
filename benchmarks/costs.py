"""Costs beside the time of a call: to make a layer, to import, to store, to trace."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.grid import Programs, program
from benchmarks.peers import OURS, PEERS, Function, Peer
from benchmarks.runtimes import onnx_bytes

IMPORT_PROGRAM = """
import time, keras
start = time.perf_counter()
import keras_sinpe
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Cost:
    """One measured cost.

    Attributes:
        what: what was measured.
        peer: of whom.
        where: at which size.
        value: the figure, in `unit`.
        unit: `"s"`, `"bytes"` or `"traces"`.
    """

    what: str
    peer: str
    where: str
    value: float
    unit: str


@dataclass(frozen=True)
class CostPlan:
    """At which sizes costs are measured.

    Attributes:
        rounds: how often, where the median counts.
        construction_width: features of the layer that is constructed.
        file_lengths: longest lengths that an ONNX file must serve.
        trace_lengths: lengths that follow each other.
        peers: of whom.
    """

    rounds: int = 5
    construction_width: int = 1024
    file_lengths: tuple[int, ...] = (512, 4096)
    trace_lengths: tuple[int, ...] = tuple(range(100, 1100, 100))
    peers: tuple[Peer, ...] = tuple(PEERS.values())


def measure_costs(
    plan: CostPlan,
    kinds: Iterable[str] | None = None,
    each: Callable[[str], object] = lambda kind: None,
) -> list[Cost]:
    """The costs of the peers of `plan`.

    Args:
        plan: at which sizes.
        kinds: keys of `COSTS`; all by default.
        each: called before each kind, for a progress bar.
    """
    costs: list[Cost] = []
    for kind in COSTS if kinds is None else kinds:
        each(kind)
        costs += COSTS[kind](plan)
    return costs


def construction(plan: CostPlan) -> Iterator[Cost]:
    """Seconds until a new layer has encoded its first token, eagerly.

    The first call counts because some layers do their work there. Peers that store a
    table make one of 4096 rows.
    """
    width = plan.construction_width
    for peer in plan.peers:
        case = Case("eager", 1, 4096 if peer.name == "one addition" else 1, width)
        seconds = _first_call_seconds(peer, case, plan.rounds)
        yield Cost("construction", peer.name, f"{width} features", seconds, "s")


def _first_call_seconds(peer: Peer, case: Case, rounds: int) -> float:
    import tensorflow as tf

    embeddings = tf.constant(case.inputs(1)[0])
    durations = []
    for _ in range(rounds + 1):  # the first imports and warms up
        start = time.perf_counter()
        peer.build(case, 4096)(embeddings)
        durations.append(time.perf_counter() - start)
    return statistics.median(durations[1:])


def import_(plan: CostPlan) -> Iterator[Cost]:
    """Seconds that `import keras_sinpe` adds to `import keras`, in new processes."""
    # One process more comes first: it compiles and fills the file cache.
    durations = [float(_run("-c", IMPORT_PROGRAM)) for _ in range(plan.rounds + 1)]
    yield Cost("import", OURS, "after Keras", statistics.median(durations[1:]), "s")


def file_size(plan: CostPlan) -> Iterator[Cost]:
    """Bytes of the ONNX file that serves lengths up to a longest one."""
    for length in plan.file_lengths:
        for peer in plan.peers:
            size = len(onnx_bytes(peer, Case("ort", 1, length), length))
            yield Cost("ONNX file", peer.name, f"length {length}", size, "bytes")


def traces(plan: CostPlan) -> Iterator[Cost]:
    """How often `tf.function` traces, over batches of different lengths."""
    where = f"{len(plan.trace_lengths)} lengths"
    for peer in plan.peers:
        count = _count_traces(peer, plan.trace_lengths)
        yield Cost("traces", peer.name, where, count, "traces")


def _count_traces(peer: Peer, lengths: Sequence[int]) -> int:
    count = 0

    def build(case: Case, longest: int) -> Function:
        function = peer.build(case, longest)

        def counted(*inputs: Any) -> Any:
            nonlocal count
            count += 1
            return function(*inputs)

        return counted

    programs: Programs = {}
    for length in lengths:
        case = Case("function", 1, length, 64)
        run = program(programs, replace(peer, build=build), case, max(lengths))
        run(*case.inputs(length))()
    return count


def _run(*arguments: str) -> str:
    """Output of a new Python that runs `arguments` in this folder."""
    completed = subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    return completed.stdout


COSTS = {
    "construction": construction,
    "import": import_,
    "ONNX file": file_size,
    "traces": traces,
}
