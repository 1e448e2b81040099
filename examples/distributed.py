"""Train in two processes, then export and prove: how to outgrow one machine.

Keras itself does all of it, on the JAX backend: `keras.distribution.initialize` makes
two processes meet, here on this machine's loopback, and
`keras.distribution.DataParallel` gives each a share of every batch and adds up the
gradients. `distributed_worker.py` is what each of them runs, on two machines as well.
The layers of keras_sinpe need no word about it: they have no weights and no state.

The task is that of `reverse.py`. The first worker saves `.keras`, which this process
loads under TensorFlow, exports to ONNX, and compares with the model. One process is
trained on the same batches beside it: it has to reach the same held-out accuracy.

`tf.distribute.MultiWorkerMirroredStrategy` is no way here: it does not work with
Keras 3's `fit`, which ends in "Attempt to convert a value (PerReplica: ..." (measured
with Keras 3.15 and TensorFlow 2.21).

    python examples/distributed.py
    python examples/distributed.py --steps 500 --output somewhere/else
"""

import argparse
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import command_line  # beside this file, as is `reverse`

# Of this process, which exports; the workers choose JAX for themselves.
os.environ["KERAS_BACKEND"] = "tensorflow"

try:
    import keras
    import reverse

    from keras_sinpe import export_onnx
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[tensorflow]'`: {error}")

Options = argparse.Namespace

PROCESSES = 2
STEPS = 1000
# One letter, the longest word, and far more than any.
CHECK = {"batch_sizes": (1, 3), "lengths": (1, 21, 500)}
# Two processes add gradients in another order than one: of the last bit, training makes
# as much as of another seed.
ACCURACY_MARGIN = 0.02


@dataclass(frozen=True)
class Worker:
    """A process at work, and where it leaves its words."""

    name: str
    process: subprocess.Popen
    digest: Path
    log: Path

    def last_words(self) -> str:
        """The last line of its log that is not a library's report of itself."""
        lines = self.log.read_text().splitlines()
        words = [line for line in lines if line and not re.match(r"I\d{4} ", line)]
        return words[-1] if words else "none"


def free_port(port: int) -> int:
    """The port itself, or any that is free for 0."""
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))
            return listener.getsockname()[1]
    except (OSError, OverflowError) as error:
        sys.exit(f"`--port` must be free on 127.0.0.1. Received: port={port} ({error})")


def start(
    process: int, processes: int, port: int, options: Options, model: Path
) -> Worker:
    name = f"worker_{process}_of_{processes}"
    digest, log = (options.output / f"{name}.{kind}" for kind in ("sha256", "log"))
    digest.unlink(missing_ok=True)
    address = f"127.0.0.1:{port}"
    command = [sys.executable, Path(__file__).with_name("distributed_worker.py")]
    command += [process, processes, address, model, "--digest", digest]
    command += ["--steps", options.steps, "--seed", options.seed]
    command += ["--end-with-standard-input"]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_COORDINATOR_BIND_ADDRESS": address}
    with log.open("w") as words:
        popen = subprocess.Popen(
            [str(word) for word in command],
            env=os.environ | quiet,
            stdin=subprocess.PIPE,  # its end is how a worker learns of this one's end
            stdout=None if process == 0 else words,  # one progress bar is enough
            stderr=words,
            start_new_session=True,  # Ctrl-C is for this process to deal with
        )
    return Worker(name, popen, digest, log)


def wait_for(workers: list[Worker]) -> None:
    """Return when all are done; when one fails, none is left running."""
    with ThreadPoolExecutor(len(workers)) as pool:
        ends = {pool.submit(worker.process.wait): worker for worker in workers}
        try:
            for end in as_completed(ends):
                if end.result() != 0:
                    worker = ends[end]
                    sys.exit(
                        f"{worker.name} ended with code {end.result()}, and all others "
                        f"were stopped. Its last words, from {worker.log}: "
                        f"{worker.last_words()}"
                    )
        finally:
            for worker in workers:
                # Not `terminate`: JAX catches that signal and goes on.
                worker.process.kill()
                worker.process.stdin.close()


def train(processes: int, port: int, options: Options) -> tuple[Path, list[Worker]]:
    """Train in so many processes, and return the file that the first has saved."""
    model = options.output / f"reverse_by_{processes}.keras"
    model.unlink(missing_ok=True)
    print(f"\nTraining, processes: {processes}, steps: {options.steps}", flush=True)
    begin = time.monotonic()
    workers = [
        start(process, processes, port, options, model) for process in range(processes)
    ]
    try:
        wait_for(workers)
    except KeyboardInterrupt:
        kept = (
            f"{model} holds the last epoch" if model.exists() else "nothing was saved"
        )
        sys.exit(f"\nInterrupted: {kept}. No worker is left running.")
    print(f"took {time.monotonic() - begin:.0f} s; saved as {model}")
    return model, workers


def assert_equal_weights(workers: list[Worker]) -> None:
    digests = {worker.name: worker.digest.read_text() for worker in workers}
    for name, digest in digests.items():
        print(f"{name}: weights {digest[:16]}")
    if len(set(digests.values())) > 1:
        sys.exit("The workers' weights are to be equal, bit for bit, and are not.")


def assert_equal_accuracy(together: float, alone: float) -> None:
    print(f"{together:.1%} of {reverse.HELD_OUT_WORDS} held-out words by {PROCESSES}")
    print(f"{alone:.1%} of them by one process on the same batches")
    if abs(together - alone) > ACCURACY_MARGIN:
        sys.exit(f"The two are to be within {ACCURACY_MARGIN:.0%} and are not.")


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = command_line.parser_of(__doc__, steps=STEPS)
    parser.add_argument("--port", type=int, default=0, help="0 for any that is free")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = parsed(arguments)
    command_line.require(
        *("jax", "tensorflow", "onnx", "tf2onnx", "onnxruntime"),
        extras="tensorflow,onnx,examples",
    )
    command_line.writable_folder(options.output)
    port = free_port(options.port)
    by_two, workers = train(PROCESSES, port, options)
    assert_equal_weights(workers)
    by_one, _ = train(1, port, options)

    print("\nLoading both under TensorFlow")
    together, alone = (keras.saving.load_model(path) for path in (by_two, by_one))
    assert_equal_accuracy(
        reverse.held_out_accuracy(together, options.seed),
        reverse.held_out_accuracy(alone, options.seed),
    )
    print(f"SINUSOID -> {reverse.reverse(together, 'SINUSOID')}")
    report = export_onnx(together, options.output / "reverse_by_2.onnx", **CHECK)
    print(report)


if __name__ == "__main__":
    main()
