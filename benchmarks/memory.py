"""Peak memory of one call, measured in the process that this module is run in.

`python -m benchmarks.memory ort FILE BATCH LENGTH WIDTH`, or `function PEER ...`.
The kernel's own high-water mark: Python's tracemalloc sees no native memory, and
`ru_maxrss` inherits the peak of the process that started this one.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cases import Case

STATUS = Path("/proc/self/status")
RESET_PEAK = "5"


def peak_bytes(call: Callable[[], Any]) -> int:
    """Bytes by which the resident set peaks, during `call`, above its size before.

    Raises:
        OSError: on a system without Linux's `/proc`.
    """
    Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    before = _kilobytes("VmRSS")
    call()
    return (_kilobytes("VmHWM") - before) * 1024


def _kilobytes(field: str) -> int:
    lines = STATUS.read_text().splitlines()
    (value,) = (line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return int(value)


def _session_call(file: str, case: Case) -> Callable[[], Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(file)
    (name,) = (value.name for value in session.get_inputs())
    feed = {name: case.inputs(case.length)[0]}
    return lambda: session.run(None, feed)


def _function_call(peer: str, case: Case) -> Callable[[], Any]:
    import tensorflow as tf

    from benchmarks.peers import PEERS
    from benchmarks.runtimes import traced

    # Traced before, so that the call is measured and not the tracing.
    function = traced(PEERS[peer], case, case.length).get_concrete_function()
    embeddings = tf.constant(case.inputs(case.length)[0])
    return lambda: function(embeddings)


def main() -> None:
    """Prints the peak in bytes."""
    runtime, source, *shape = sys.argv[1:]
    case = Case(runtime, *map(int, shape))
    make = {"ort": _session_call, "function": _function_call}[runtime]
    print(peak_bytes(make(source, case)))


if __name__ == "__main__":
    main()
