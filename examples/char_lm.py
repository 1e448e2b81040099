"""A language model of characters that writes on in ONNX Runtime, token by token.

A causal Transformer learns the English of Python's own help pages, which Python ships
as `pydoc_data.topics`. It is exported as a step model: new characters, the position of
the first of them (`start_index`), and the keys and values of all characters before go
in; logits, and keys and values for next time come out. A process without Keras then
continues a prompt, and its text equals that of `model.predict`, to the character.

With the default steps the model needs 2.2 bits for a character of held-out pages.

    python examples/char_lm.py
    python examples/char_lm.py --steps 100 --output my_models
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pydoc_data.topics import topics

try:
    import keras
    import numpy as np
    from char_lm_model import build_models  # both beside this file
    from char_lm_without_keras import generate
    from rich.console import Console
    from rich.table import Table

    from keras_sinpe import export_onnx
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[tensorflow]'`: {error}")

CONTEXT = 128  # characters in a window of training
BATCH_SIZE, EPOCH_STEPS, STEPS = 16, 100, 1000
PROMPT, COUNT, ROUNDS = "The statement ", 60, 3


def read_text() -> tuple[np.ndarray, np.ndarray]:
    """Codes of the help pages, every tenth page held out."""
    pages = [page.encode("ascii", "ignore") for _, page in sorted(topics.items())]
    held_out = b"\n".join(pages[::10])
    rest = b"\n".join(page for n, page in enumerate(pages) if n % 10)
    return np.frombuffer(rest, "uint8"), np.frombuffer(held_out, "uint8")


def endless_batches(text: np.ndarray, seed: int) -> Iterator[tuple]:
    rng = np.random.default_rng(seed)
    while True:
        starts = rng.integers(0, len(text) - CONTEXT, (BATCH_SIZE, 1))
        windows = text[starts + np.arange(CONTEXT + 1)].astype("int32")
        yield windows[:, :-1], windows[:, 1:]


def bits_per_character(model: keras.Model, text: np.ndarray) -> float:
    """Over windows that start with nothing known, as in training."""
    count = (len(text) - 1) // CONTEXT
    ids = text[: count * CONTEXT].reshape(count, CONTEXT).astype("int32")
    targets = text[1 : count * CONTEXT + 1].reshape(count, CONTEXT).astype("int32")
    return model.evaluate(ids, targets, batch_size=32, verbose=0) / float(np.log(2))


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


def train(
    model: keras.Model, text: np.ndarray, steps: int, seed: int, filepath: Path
) -> None:
    """Train, show the progress, and keep the last epoch in `filepath`."""
    warmup = max(1, steps // 20)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, max(1, steps - warmup), warmup_target=3e-3, warmup_steps=warmup
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate, beta_2=0.98, global_clipnorm=1.0), loss)
    epoch_steps = min(steps, EPOCH_STEPS)
    keep_last = KeepLast(filepath)
    try:
        model.fit(
            endless_batches(text, seed),
            steps_per_epoch=epoch_steps,
            epochs=steps // epoch_steps,
            shuffle=False,  # the generator has seen to it
            verbose=1 if sys.stdout.isatty() else 2,
            callbacks=[keep_last],
        )
    except KeyboardInterrupt:
        kept = f"{filepath} holds epoch {keep_last.epochs}"
        sys.exit(f"\nInterrupted: {kept if keep_last.epochs else 'nothing was saved'}.")


def keras_text(step: keras.Model, count: int, seed: int) -> str:
    """The text that `predict` writes, step by step."""
    caches = {
        name: tensor.shape[2:]
        for name, tensor in step.input.items()
        if len(tensor.shape) == 4
    }

    def predict(feeds: dict) -> dict:
        return step.predict(feeds, verbose=0)

    return generate(predict, caches, PROMPT, count=count, seed=seed)


def race(step: keras.Model, onnx_file: Path, count: int, seed: int) -> dict:
    """Both write the same text in turns; texts, and median characters per second."""
    # Growing caches would make XLA compile every step anew.
    step.compile(jit_compile=False)
    script = Path(__file__).with_name("char_lm_without_keras.py")
    command = [sys.executable, script, onnx_file, PROMPT, "--at-each-line"]
    command += ["--count", str(count), "--seed", str(seed)]
    texts: set[str] = set()
    seconds: dict[str, list[float]] = {"keras": [], "onnxruntime": []}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        for turn in range(ROUNDS + 1):
            began = time.perf_counter()
            texts.add(keras_text(step, count, seed))
            elapsed = time.perf_counter() - began
            print("go", file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            texts.add(answer["text"])
            if turn:  # the first turn warms up
                seconds["keras"].append(elapsed)
                seconds["onnxruntime"].append(answer["seconds"])
        process.stdin.close()
    speeds = {name: count / statistics.median(s) for name, s in seconds.items()}
    return {"texts": texts, **speeds}


def export(step: keras.Model, filepath: Path) -> tuple[float, int]:
    """Export with proof: its largest error, and the number of runs compared."""
    report = export_onnx(step, filepath)
    runs = report.comparisons
    return max(run.error for run in runs), len({run.case for run in runs})


def writable_folder(path: Path) -> Path:
    """The folder, made if need be, or one sentence before any time is spent."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / ".writable").touch()
        (path / ".writable").unlink()
    except OSError as error:
        sys.exit(f"`--output` must be a folder that can be written to: {error}")
    return path


def require(*modules: str) -> None:
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        sys.exit(
            "This example needs `pip install 'keras_sinpe[tensorflow,onnx]'`: there is "
            f"no {' and no '.join(missing)}."
        )


def positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=positive, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("artifacts"))
    parser.add_argument("--count", type=positive, default=COUNT, help="characters")
    options = parser.parse_args(arguments)
    require("tensorflow", "onnx", "tf2onnx", "onnxruntime")
    folder = writable_folder(options.output)
    text, held_out = read_text()
    keras.utils.set_random_seed(options.seed)
    training, step = build_models()
    print(f"Training on {len(text):,} characters, {options.steps} steps")
    train(training, text, options.steps, options.seed, folder / "char_lm.keras")
    step.save(folder / "char_lm_step.keras")
    bits = bits_per_character(training, held_out)
    onnx_file = folder / "char_lm_step.onnx"
    error, runs = export(step, onnx_file)
    print(f"{step.count_params():,} weights, exported as {onnx_file}; now the race")
    written = race(step, onnx_file, options.count, options.seed)
    show(bits, error, runs, written)
    if len(written["texts"]) > 1:
        sys.exit("Keras and onnxruntime wrote different texts.")


def show(bits: float, error: float, runs: int, written: dict) -> None:
    ratio = written["onnxruntime"] / written["keras"]
    table = Table("what", "measured")
    for row in (
        ("bits per character, held-out pages", f"{bits:.2f}"),
        (f"step model beside Keras, {runs} runs", f"error {error:.1e}"),
        ("characters a second, Keras predict", f"{written['keras']:.1f}"),
        ("characters a second, onnxruntime", f"{written['onnxruntime']:.1f}"),
        ("onnxruntime is faster by", f"{ratio:.1f} times"),
        ("equal texts", "yes" if len(written["texts"]) == 1 else "NO"),
    ):
        table.add_row(*row)
    Console().print(table)
    for text in written["texts"]:
        print(text)


if __name__ == "__main__":
    main()
