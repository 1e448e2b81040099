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

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

import command_line  # beside this file, as are all that follow

try:
    import keras
    import numpy as np
    import training
    from char_lm_model import build_models
    from char_lm_without_keras import generate
    from rich.console import Console
    from rich.table import Table

    from keras_sinpe import export_onnx
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[tensorflow]'`: {error}")

CONTEXT = 128  # characters in a window of training
BATCH_SIZE, STEPS = 16, 1000
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


def train(
    model: keras.Model, text: np.ndarray, steps: int, seed: int, filepath: Path
) -> None:
    """Train, show the progress, and keep the last epoch in `filepath`."""
    training.compile_for(model, steps, peak_rate=3e-3)
    batches = training.in_epochs(endless_batches(text, seed), steps)
    training.fit(model, filepath=filepath, **batches)


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
    """Export with proof: its largest error, and the number of cases compared."""
    report = export_onnx(step, filepath)
    compared = report.comparisons
    return max(one.error for one in compared), len({one.case for one in compared})


def main(arguments: list[str] | None = None) -> None:
    parser = command_line.parser_of(__doc__, steps=STEPS)
    parser.add_argument(
        "--count", type=command_line.positive, default=COUNT, help="characters"
    )
    options = parser.parse_args(arguments)
    command_line.require("tensorflow", "onnx", "tf2onnx", "onnxruntime")
    folder = command_line.writable_folder(options.output)
    text, held_out = read_text()
    keras.utils.set_random_seed(options.seed)
    whole, step = build_models()
    print(f"Training on {len(text):,} characters, {options.steps} steps")
    train(whole, text, options.steps, options.seed, folder / "char_lm.keras")
    step.save(folder / "char_lm_step.keras")
    bits = bits_per_character(whole, held_out)
    onnx_file = folder / "char_lm_step.onnx"
    error, cases = export(step, onnx_file)
    print(f"{step.count_params():,} weights, exported as {onnx_file}; now the race")
    written = race(step, onnx_file, options.count, options.seed)
    show(bits, error, cases, written)
    if len(written["texts"]) > 1:
        sys.exit("Keras and onnxruntime wrote different texts.")


def show(bits: float, error: float, cases: int, written: dict) -> None:
    ratio = written["onnxruntime"] / written["keras"]
    table = Table("what", "measured")
    for row in (
        ("bits per character, held-out pages", f"{bits:.2f}"),
        (f"step model beside Keras, {cases} cases", f"error {error:.1e}"),
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
