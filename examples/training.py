"""How the pages train one model: with a warm-up, shown, and kept epoch by epoch."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import keras

EPOCH_STEPS = 100


class KeepLast(keras.callbacks.Callback):
    """Keeps the last epoch in a file that no interruption can leave half written."""

    def __init__(self, filepath: Path) -> None:
        super().__init__()
        self.filepath = filepath
        self.epochs = 0

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Saves beside the file, then renames."""
        partial = self.filepath.with_name(f"partial_{self.filepath.name}")
        self.model.save(partial)
        os.replace(partial, self.filepath)
        self.epochs = epoch + 1


def fit(model: keras.Model, *data: object, filepath: Path, **options: object) -> None:
    """Fit, show the progress, and keep the last epoch in `filepath`."""
    keep_last = KeepLast(filepath)
    try:
        model.fit(*data, callbacks=[keep_last], verbose=progress(), **options)
    except KeyboardInterrupt:
        kept = f"{filepath} holds epoch {keep_last.epochs}"
        sys.exit(f"\nInterrupted: {kept if keep_last.epochs else 'nothing was saved'}.")


def progress() -> int:
    """Keras's `verbose`: a bar on a terminal, a line an epoch elsewhere."""
    return 1 if sys.stdout.isatty() else 2


def compile_for(model: keras.Model, steps: int, peak_rate: float) -> None:
    """Compile with a rate that rises to its peak, then falls as a cosine to nothing."""
    warmup = max(1, steps // 20)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, max(1, steps - warmup), warmup_target=peak_rate, warmup_steps=warmup
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate, beta_2=0.98, global_clipnorm=1.0), loss)


def in_epochs(batches: Iterator[tuple], steps: int) -> dict[str, object]:
    """Options of `fit` for so many of these batches, an epoch each `EPOCH_STEPS`."""
    epoch_steps = min(steps, EPOCH_STEPS)
    return {
        "x": batches,
        "steps_per_epoch": epoch_steps,
        "epochs": steps // epoch_steps,
        "shuffle": False,  # the batches come in random order as it is
    }
