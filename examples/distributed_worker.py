"""One worker of `distributed.py`: trains on its share of every batch, under JAX.

`distributed.py` starts two on this machine. On two machines, start one on each, with
the address of the first:

    python examples/distributed_worker.py 0 2 10.0.0.1:29500 reverse.keras
    python examples/distributed_worker.py 1 2 10.0.0.1:29500 reverse.keras

Every worker sees the same seeded stream of batches and takes each `processes`-th row,
so that two workers learn from the very batches that one would have learnt from.
"""

import argparse
import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import command_line  # beside this file, as are `reverse` and `training`

os.environ["KERAS_BACKEND"] = "jax"  # Keras reads it once, when it is imported
os.environ.setdefault("JAX_CPU_COLLECTIVES_IMPLEMENTATION", "gloo")

try:
    import keras
    import reverse
    import training
except ImportError as error:
    sys.exit(f"A worker needs `pip install 'keras_sinpe[examples]'`: {error}")


class KeepLast(training.KeepLast):
    """Keeps the last epoch, of which the chief alone has to know."""

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Saves outside the distribution.

        Saving makes a blank optimizer to learn its attributes. Its variables would be
        distributed, for which the chief would wait for the others forever.
        """
        distribution = keras.distribution.distribution()
        keras.distribution.set_distribution(None)
        super().on_epoch_end(epoch, logs)
        keras.distribution.set_distribution(distribution)


def end_with_standard_input() -> None:
    """End this process when the one that started it is gone, however it went."""

    def wait() -> None:
        os.read(0, 1)
        os._exit(1)  # nothing is lost: the last epoch is in its file

    threading.Thread(target=wait, daemon=True).start()


def join(address: str, processes: int, process: int) -> None:
    """Meet the other workers, and spread batches over the devices of all."""
    if processes > 1:
        keras.distribution.initialize(address, processes, process)
    # Each worker makes its own share of the data, so there is nothing to shard.
    keras.distribution.set_distribution(
        keras.distribution.DataParallel(auto_shard_dataset=False)
    )


def shares(seed: int, processes: int, process: int) -> Iterator[reverse.Batch]:
    for batch in reverse.endless_batches(seed):
        yield tuple(array[process::processes] for array in batch)


def compiled_model(steps: int, seed: int) -> keras.Model:
    """The model of `reverse.py`, trained more gently.

    At its rate of 2e-3 and without a bound, a long training is a matter of luck: of two
    runs that differed in the order of additions, one learnt all and one diverged.
    """
    keras.utils.set_random_seed(seed)
    model = reverse.build_model(encoded=True)
    training.compile_for(model, steps, peak_rate=1e-3)
    return model


def digest(model: keras.Model) -> str:
    """The same for the same weights, to the last bit, and for no others."""
    weights = b"".join(array.tobytes() for array in model.get_weights())
    return hashlib.sha256(weights).hexdigest()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("process", type=int, help="0 is the chief")
    parser.add_argument(
        "processes", type=command_line.positive, help="how many there are"
    )
    parser.add_argument("address", help="HOST:PORT of the chief")
    parser.add_argument("model", type=Path, help="the file that the chief saves")
    parser.add_argument("--steps", type=command_line.positive, default=reverse.STEPS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--digest", type=Path, help="file for the weights' digest")
    parser.add_argument("--end-with-standard-input", action="store_true")
    options = parser.parse_args(arguments)
    if options.end_with_standard_input:
        end_with_standard_input()
    join(options.address, options.processes, options.process)
    chief = options.process == 0
    model = compiled_model(options.steps, options.seed)
    batches = shares(options.seed, options.processes, options.process)
    model.fit(
        **training.in_epochs(batches, options.steps),
        callbacks=[KeepLast(options.model)] if chief else [],
        verbose=training.progress() if chief else 0,
    )
    print(f"worker {options.process}: weights {digest(model)[:16]}", flush=True)
    if options.digest:
        options.digest.write_text(digest(model))


if __name__ == "__main__":
    main()
