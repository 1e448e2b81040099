"""Run an artifact in a process that has no Keras in it.

Started by `isolation.py` as a script, so that importing this package imports nothing.
One JSON line on standard input, the path of a `.npz` file with the inputs and of one
for the outputs, is answered by one JSON line on standard output.
"""

import json
import os
import sys

import numpy as np


def main() -> None:
    """Load the artifact named by the arguments and serve runs until end of input."""
    # TensorFlow works without Keras; the artifact must, too.
    sys.modules["keras"] = None  # type: ignore[assignment]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from runners import open_runner  # type: ignore[import-not-found]

    answer = _Answers()
    try:
        runner = open_runner(sys.argv[1], sys.argv[2])
    except Exception as error:
        answer(error=str(error))
        return
    ports = {
        role: [vars(port) for port in getattr(runner, role).values()]
        for role in ("inputs", "outputs")
    }
    answer(**ports, metadata=runner.metadata)
    for line in sys.stdin:
        source, target = json.loads(line)
        try:
            with np.load(source) as feeds:
                np.savez(target, **runner.run(dict(feeds)))
        except Exception as error:
            answer(error=f"{type(error).__name__}: {error}")
        else:
            answer()


class _Answers:
    """Keeps the real standard output for answers, whatever libraries print."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def __call__(self, **data: object) -> None:
        self._stream.write(json.dumps(data) + "\n")
        self._stream.flush()


if __name__ == "__main__":
    main()
