"""Run a LiteRT (`.tflite`) file; its inputs are resized to whatever is fed.

python run_litert.py model.tflite OUTPUTS FEEDS.npz...
"""

from importlib.metadata import version

from ai_edge_litert.interpreter import Interpreter
from feeding import feed, parser_for


def main() -> None:
    arguments = parser_for(__doc__).parse_args()
    interpreter = Interpreter(model_path=arguments.artifact)
    # The signature resizes its inputs by itself and knows them by their names.
    run = interpreter.get_signature_runner("serving_default")
    feed(lambda feeds: run(**feeds), arguments.feeds, arguments.outputs)
    print(f"ai-edge-litert {version('ai-edge-litert')}")


if __name__ == "__main__":
    main()
