"""Write words backwards with the exported ONNX file: NumPy and onnxruntime, no Keras.

python examples/reverse_without_keras.py artifacts/reverse.onnx SINUSOID TIMES
"""

import argparse
import sys

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    sys.exit(f"This example needs `pip install onnxruntime`: {error}")

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ."  # ids 1 to 27, as in training


def reverse(session: onnxruntime.InferenceSession, word: str) -> str:
    ids = np.array([[ALPHABET.index(letter) + 1 for letter in f"{word}."]], "int32")
    (logits,) = session.run(["letters"], {"ids": ids})
    return "".join(f" {ALPHABET}"[i] for i in logits.argmax(axis=-1)[0, :-1])


def word_of_letters(text: str) -> str:
    if not text or set(text.upper()) - set(ALPHABET[:-1]):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a word of the letters A to Z"
        )
    return text.upper()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("words", metavar="WORD", nargs="+", type=word_of_letters)
    options = parser.parse_args()
    try:
        session = onnxruntime.InferenceSession(
            options.model, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own errors share no narrower class
        sys.exit(f"{options.model!r} does not load: {error}")
    heavy = {"keras", "tensorflow"} & set(sys.modules)
    if heavy:
        sys.exit(f"This process was to run without {', '.join(sorted(heavy))}.")
    for word in options.words:
        print(f"{word} -> {reverse(session, word)}")


if __name__ == "__main__":
    main()
