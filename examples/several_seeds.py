"""What two experiments share: variants of a model, each trained from several seeds.

Read `extrapolation.py` or `irregular_times.py` first; both run on this page. It reads
the command line, trains with a progress bar, and keeps the last epoch of every model.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import command_line  # beside this file
import keras
import numpy as np
from rich.console import Console
from rich.progress import Progress

BATCH_SIZE, EPOCHS = 32, 4
PEAK_RATE = 3e-3

Batches = Iterator[tuple]  # inputs, targets, weights


@dataclass(frozen=True)
class Experiment:
    """One experiment's name, where its models go, and how long each is trained."""

    name: str
    folder: Path
    seeds: range
    steps: int

    def checkpoint(self, variant: str, seed: int) -> Path:
        """The file that holds the last epoch of one model."""
        return self.folder / f"{self.name}_{variant.replace(', ', '_')}_{seed}.keras"

    def train(
        self,
        variants: Sequence[str],
        build: Callable[[str], keras.Model],
        batches: Callable[[str, int], Batches],
        loss: keras.losses.Loss,
    ) -> None:
        """Train every variant from every seed, each to its checkpoint."""
        models = [(seed, variant) for seed in self.seeds for variant in variants]
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("Training", total=len(models) * self.steps)
            advance = keras.callbacks.LambdaCallback(
                on_train_batch_end=lambda batch, logs: progress.advance(task)
            )
            for seed, variant in models:
                progress.update(task, description=f"{variant}, seed {seed}")
                keep = keras.callbacks.ModelCheckpoint(self.checkpoint(variant, seed))
                keras.utils.set_random_seed(seed)
                model = build(variant)
                # Compiling a step takes longer here than it saves.
                model.compile(self._optimizer(), loss, jit_compile=False)
                self._fit(model, batches(variant, seed), [keep, advance])

    def _optimizer(self) -> keras.optimizers.Optimizer:
        warmup = max(1, self.steps // 10)
        rate = keras.optimizers.schedules.CosineDecay(
            0.0,
            max(1, self.steps - warmup),
            warmup_target=PEAK_RATE,
            warmup_steps=warmup,
        )
        return keras.optimizers.Adam(rate)

    def _fit(self, model: keras.Model, batches: Batches, callbacks: list) -> None:
        epochs = min(EPOCHS, self.steps)
        try:
            model.fit(
                batches,
                steps_per_epoch=self.steps // epochs,
                epochs=epochs,
                shuffle=False,  # the batches are drawn at random already
                verbose=0,
                callbacks=callbacks,
            )
        except KeyboardInterrupt:
            kept = sorted(self.folder.glob(f"{self.name}_*.keras"))
            names = ", ".join(file.name for file in kept) or "nothing"
            sys.exit(f"\nInterrupted: {self.folder} holds {names}.")

    def measure(
        self,
        variants: Sequence[str],
        result: Callable[[keras.Model, str, int], np.ndarray],
    ) -> dict[str, np.ndarray]:
        """The results of all models, those of a variant stacked along the seeds."""
        return {
            variant: np.stack(
                [result(self.load(variant, seed), variant, seed) for seed in self.seeds]
            )
            for variant in variants
        }

    def load(self, variant: str, seed: int) -> keras.Model:
        """The model that `train` kept."""
        return keras.saving.load_model(self.checkpoint(variant, seed), compile=False)


def read_command_line(
    name: str, page: str, steps: int, arguments: list[str] | None
) -> Experiment:
    """The experiment that the command line asks for, its folder ready."""
    parser = command_line.parser_of(page, steps=steps)
    parser.add_argument(
        "--seeds",
        type=command_line.positive,
        default=3,
        help="how many, from `--seed` on",
    )
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.seeds)
    folder = command_line.writable_folder(options.output)
    return Experiment(name, folder, seeds, options.steps)
