"""Run an artifact in another process, where neither Keras nor this package exists."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from keras_sinpe.parity.runners import Arrays, Port

WORKER = Path(__file__).with_name("worker.py")


class WorkerError(RuntimeError):
    """The other process could not run the artifact."""


class IsolatedRunner:
    """A runner whose artifact lives in a process of its own; close it when done."""

    def __init__(
        self, filepath: str | os.PathLike[str], endpoint: str = "serving_default"
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            # Isolated: no PYTHONPATH, no current directory, nothing but the runtime.
            [sys.executable, "-I", str(WORKER), os.path.abspath(filepath), endpoint],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        try:
            loaded = self._read()
        except WorkerError as error:
            self.close()
            raise ValueError(str(error)) from error
        self.inputs = _ports(loaded["inputs"])
        self.outputs = _ports(loaded["outputs"])
        self.metadata: dict[str, Any] = loaded["metadata"]

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Compute every output from one array per input name."""
        paths = [os.path.join(self._folder.name, n) for n in ("in.npz", "out.npz")]
        np.savez(paths[0], **feeds)
        self._stdin.write(json.dumps(paths) + "\n")
        self._stdin.flush()
        self._read()
        with np.load(paths[1]) as outputs:
            return dict(outputs)

    def close(self) -> None:
        """End the process and remove its files."""
        # Also where the process has died with a request unread.
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()
        self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> IsolatedRunner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self) -> dict[str, Any]:
        line = self._stdout.readline()
        if not line:
            raise WorkerError(
                f"The process of the artifact ended with {self._process.wait()}."
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer


def _ports(data: list[dict[str, Any]]) -> dict[str, Port]:
    ports = {}
    for entry in data:
        shape = None if entry["shape"] is None else tuple(entry["shape"])
        ports[entry["name"]] = Port(entry["name"], shape, entry["dtype"])
    return ports
