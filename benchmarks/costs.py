"""Costs beside the time of a call: to make a layer, to import the library."""

import statistics
import subprocess
import sys
import time

from benchmarks.cases import Case
from benchmarks.peers import PEERS

IMPORT_PROGRAM = """
import time, keras
start = time.perf_counter()
import keras_sinpe
print(time.perf_counter() - start)
"""


def construction_seconds(peer: str, width: int, rounds: int, length: int) -> float:
    """Seconds to construct a layer of `width` and to encode its first batch, eagerly.

    The first batch counts because some layers do their work there; keras itself is
    warmed up by one layer before.
    """
    import tensorflow as tf

    case = Case("eager", 1, length, width)
    embeddings = tf.constant(case.inputs(length)[0])
    durations = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        PEERS[peer].build(case, length)(embeddings)
        durations.append(time.perf_counter() - start)
    return statistics.median(durations[1:])


def import_seconds(rounds: int) -> float:
    """Seconds that importing `keras_sinpe` adds to importing Keras, in new processes.

    The median; one process more comes first, to compile and to fill the file cache.
    """
    return statistics.median([_import_once() for _ in range(rounds + 1)][1:])


def _import_once() -> float:
    completed = subprocess.run(
        [sys.executable, "-c", IMPORT_PROGRAM],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(completed.stdout)
