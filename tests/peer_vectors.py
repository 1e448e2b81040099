"""Encodings of other libraries, from the stored float64 vectors."""

import json
from pathlib import Path

import numpy as np

# Peers compute in float32 at small positions; the vectors are float64.
PEER_TOLERANCE = 1e-6


def vectors(kind):
    """The stored cases by their names."""
    path = Path(__file__).parent / "data" / "peers.json"
    return {case["id"]: case for case in json.loads(path.read_text())[kind]}


PLAIN = vectors("plain")
SPECIAL = vectors("special")


def expected(case):
    """The rows of a case."""
    return np.array(case["expected"], "float64")


def positions(case):
    """The positions of a case: int32, or float32 where one is no integer."""
    values = np.array(case["positions"])
    return values.astype("int32" if values.dtype.kind == "i" else "float32")
