"""Continue a text with the exported step model: NumPy and onnxruntime, no Keras.

The model takes the new characters, the position of the first of them, and the keys and
values of all characters before; it returns logits, and keys and values for next time.

    python examples/char_lm_without_keras.py artifacts/char_lm_step.onnx "The statement"
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

Arrays = dict[str, np.ndarray]


def generate(
    step: Callable[[Arrays], Mapping[str, np.ndarray]],
    cache_shapes: Mapping[str, tuple[int, int]],
    prompt: str,
    *,
    count: int,
    seed: int,
    temperature: float = 0.5,
) -> str:
    """Draw `count` characters after `prompt`, one call of `step` for each.

    Args:
        step: the step model: named arrays to named arrays.
        cache_shapes: heads and their width for every cache, by name.
        prompt: ASCII text; all of it goes into the first call.
        count: number of characters to draw.
        seed: seed of the draws, the same text for the same logits.
        temperature: below 1 for likelier text.
    """
    rng = np.random.default_rng(seed)
    text, new = prompt, prompt
    caches = {
        name: np.zeros((1, 0, *shape), "float32")
        for name, shape in cache_shapes.items()
    }
    for _ in range(count):
        ids = np.array([[ord(character) for character in new]], "int32")
        start_index = np.array([len(text) - len(new)], "int32")
        outputs = step({"ids": ids, "start_index": start_index, **caches})
        caches = {name: outputs[f"next_{name}"] for name in caches}
        new = draw(outputs["logits"][0, -1], rng, temperature)
        text += new
    return text


def draw(logits: np.ndarray, rng: np.random.Generator, temperature: float) -> str:
    scaled = logits.astype("float64") / temperature
    cumulated = np.exp(scaled - scaled.max()).cumsum()
    return chr(int(np.searchsorted(cumulated, rng.random() * cumulated[-1])))


def open_step(filepath: str) -> tuple[Callable, dict[str, tuple[int, int]]]:
    """The step function of an ONNX file, and the shapes of its caches."""
    try:
        import onnxruntime
    except ImportError as error:
        sys.exit(f"This example needs `pip install onnxruntime`: {error}")
    try:
        session = onnxruntime.InferenceSession(
            filepath, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own errors share no narrower class
        sys.exit(f"{filepath!r} does not load: {error}")
    names = [output.name for output in session.get_outputs()]
    caches = {
        value.name: tuple(value.shape[2:])
        for value in session.get_inputs()
        if len(value.shape) == 4
    }

    def step(feeds: Arrays) -> dict[str, np.ndarray]:
        return dict(zip(names, session.run(names, feeds), strict=True))

    return step, caches


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("prompt", metavar="TEXT")
    parser.add_argument("--count", type=int, default=100, help="characters to add")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--at-each-line",
        action="store_true",
        help="for measurements: generate whenever a line comes in, answer with JSON",
    )
    options = parser.parse_args()
    if not options.prompt or not options.prompt.isascii():
        parser.error(f"TEXT must be ASCII and not empty. Received: {options.prompt!r}")
    step, caches = open_step(options.model)
    heavy = {"keras", "tensorflow"} & set(sys.modules)
    if heavy:
        sys.exit(f"This process was to run without {', '.join(sorted(heavy))}.")
    for _ in sys.stdin if options.at_each_line else [None]:
        began = time.perf_counter()
        text = generate(
            step, caches, options.prompt, count=options.count, seed=options.seed
        )
        seconds = time.perf_counter() - began
        answer = {"text": text, "seconds": seconds}
        print(json.dumps(answer) if options.at_each_line else text, flush=True)


if __name__ == "__main__":
    main()
