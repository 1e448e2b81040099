"""Largest errors of each peer against the exact encoding, by position and policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.cases import Case
from benchmarks.peers import PEERS, Peer

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")
BOUNDS = tuple(2**k for k in range(4, 25))

# Who stores or computes a row for every position from 0 gets no further than this:
# 65,536 rows of 512 features are 134 MB, 16 million rows would be 34 GB.
MOST_ROWS = 2**16
ROWS = 128


@dataclass(frozen=True)
class Error:
    """The largest error below a position.

    Attributes:
        peer: whose.
        policy: the Keras dtype policy.
        bound: positions are below it.
        error: the largest error of any feature; `None` where the peer would have to
            make more than `MOST_ROWS` rows.
    """

    peer: str
    policy: str
    bound: int
    error: float | None


def measure_errors(
    bounds: Sequence[int] = BOUNDS,
    width: int = 512,
    peers: Sequence[Peer] = tuple(PEERS.values()),
    each: Callable[[str], object] = lambda name: None,
) -> list[Error]:
    """Errors of every peer below every bound, under every policy.

    One addition is left out: it adds the numbers of the stored table.
    """
    errors = []
    for peer in peers:
        if peer.name == "one addition":
            continue
        each(f"errors of {peer.name}")
        for policy in POLICIES:
            for bound in bounds:
                error = _largest_error(peer, policy, bound, width)
                errors.append(Error(peer.name, policy, bound, error))
    return errors


def sampled_positions(bound: int) -> np.ndarray:
    """`ROWS` positions below `bound`, half of them the last ones, or all if fewer."""
    if bound <= ROWS:
        return np.arange(bound, dtype="int32")
    last = np.arange(bound - ROWS // 2, bound)
    before = np.random.default_rng(0).integers(0, bound - ROWS // 2, ROWS // 2)
    return np.concatenate([before, last]).astype("int32")


def _largest_error(peer: Peer, policy: str, bound: int, width: int) -> float | None:
    from keras_sinpe.reference import encode

    makes_all_rows = peer.stores_rows or not peer.any_positions
    if makes_all_rows and bound > MOST_ROWS:
        return None
    positions = sampled_positions(bound)
    exact = encode(positions, width)
    return float(np.abs(_encoding(peer, policy, positions, bound, width) - exact).max())


def _encoding(
    peer: Peer, policy: str, positions: np.ndarray, bound: int, width: int
) -> np.ndarray:
    """What the peer adds at `positions`: its output for embeddings of zeros."""
    import tensorflow as tf

    length = len(positions) if peer.any_positions else bound
    case = Case("eager", 1, length, width, policy)
    zeros = tf.zeros((1, length, width), case.dtype)
    function = peer.build(case, bound)
    if peer.any_positions:
        return tf.cast(function(zeros, tf.constant(positions)), "float64").numpy()[0]
    return tf.cast(function(zeros)[0], "float64").numpy()[positions]
