"""What is timed: one case is one cell of the grid, every peer runs in each."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

# How a user runs the layer, by the name that `--only` takes.
RUNTIMES = {
    "eager": "TF eager",
    "function": "tf.function, any length",
    "fixed": "tf.function, fixed shape",
    "xla": "XLA",
    "saved_model": "SavedModel",
    "ort": "ONNX Runtime",
}
FIXED_SHAPE = ("fixed", "xla")

LENGTHS = (1, 128, 1024, 4096, 32768)
# Where models are served, also around those that are stored, and odd ones.
SERVED_LENGTHS = (1, 7, 64, 100, 128, 500, 512, 513, 1000, 1024, 4095, 4096, 32768)


@dataclass(frozen=True)
class Case:
    """One cell: where it runs, on what.

    Attributes:
        runtime: a key of `RUNTIMES`.
        batch: sequences in the batch.
        length: tokens per sequence.
        width: features per token.
        policy: the Keras dtype policy; embeddings come in its compute dtype.
        positions: `"consecutive"` from 0, or `"arbitrary"`, one integer per token.
    """

    runtime: str
    batch: int
    length: int
    width: int = 512
    policy: str = "float32"
    positions: str = "consecutive"

    @property
    def dtype(self) -> str:
        """The dtype of the embeddings."""
        return self.policy.removeprefix("mixed_")

    def inputs(self, longest: int) -> tuple[np.ndarray, ...]:
        """Embeddings and, if arbitrary, int32 positions below `longest`."""
        rng = np.random.default_rng(0)
        shape = (self.batch, self.length, self.width)
        embeddings = rng.standard_normal(shape, "float32")
        if self.positions == "consecutive":
            return (embeddings,)
        return embeddings, rng.integers(0, longest, shape[:2], "int32")

    @property
    def shape(self) -> str:
        """The shape, and what else is not the usual."""
        text = f"{self.batch} x {self.length} x {self.width}"
        if self.positions != "consecutive":
            text += f", {self.positions}"
        return text if self.policy == "float32" else f"{text}, {self.policy}"

    def __str__(self) -> str:
        return f"{RUNTIMES[self.runtime]}, {self.shape}"


def full_grid() -> list[Case]:
    """The subset of all combinations that says something new, in about 90 cells.

    Every runtime at every length; then batches, widths, arbitrary positions and
    policies each varied alone, where artifacts are served or models trained.
    """
    cases = [
        Case(runtime, 1, length)
        for runtime in RUNTIMES
        for length in (SERVED_LENGTHS if runtime in ("function", "ort") else LENGTHS)
    ]
    served = ("function", "ort")
    cases += [Case(r, 8, length) for r in served for length in (1, 128, 1024, 4096)]
    cases += [
        Case(runtime, 1, length, width)
        for runtime in served
        for width in (64, 1024)
        for length in (1, 1024, 4096)
    ]
    cases += [
        Case(runtime, batch, length, positions="arbitrary")
        for runtime in ("eager", "function", "xla", "ort")
        for batch, length in ((1, 1), (1, 4096), (8, 1024))
    ]
    cases += [
        Case(runtime, 8, 1024, policy=policy)
        for runtime in ("eager", "function", "xla")
        for policy in ("mixed_float16", "mixed_bfloat16")
    ]
    return cases


def quick_grid() -> list[Case]:
    """A few small cells of every kind: to see that everything runs."""
    cases = [Case(runtime, 1, 16, 8) for runtime in RUNTIMES]
    cases += [replace(case, length=64) for case in cases]
    return [
        *cases,
        Case("function", 2, 16, 8, positions="arbitrary"),
        Case("ort", 2, 16, 8, positions="arbitrary"),
        Case("function", 2, 16, 8, policy="mixed_float16"),
    ]


def longest_lengths(cases: Iterable[Case]) -> dict[Case, int]:
    """For each case, the longest length among those that share its programs."""
    longest: dict[Case, int] = {}
    for case in cases:
        program = replace(case, batch=0, length=0)
        longest[program] = max(longest.get(program, 0), case.length)
    return {case: longest[replace(case, batch=0, length=0)] for case in cases}
