"""Run an ONNX file in ONNX Runtime, whatever its version.

python run_onnx.py model.onnx OUTPUTS FEEDS.npz...
"""

import onnxruntime
from feeding import feed, parser_for


def main() -> None:
    arguments = parser_for(__doc__).parse_args()
    session = onnxruntime.InferenceSession(
        arguments.artifact, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]

    def run(feeds):
        return dict(zip(names, session.run(names, feeds)))  # noqa: B905 (Python 3.9)

    feed(run, arguments.feeds, arguments.outputs)
    print(f"onnxruntime {onnxruntime.__version__}")


if __name__ == "__main__":
    main()
