"""Check that a SavedModel or an ONNX file computes what a Keras model computes.

The model and the artifact get the same inputs by name, at several batch sizes and
lengths: ids within the vocabulary, padded rows, unequal lengths where the model allows
them. The report has the largest error of every output and where it is; names, dtypes,
shapes, NaN and values are compared apart.

  python export/check_parity.py model.keras model.onnx
  python export/check_parity.py model.keras exported/1 --lengths 1,1000,5000 --json
"""

import sys

from shell import (
    add_check_arguments,
    check_options,
    exit_status,
    import_quietly,
    load_model,
    parser_for,
)


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument(
        "artifact", metavar="ARTIFACT", help="a SavedModel directory or an ONNX file"
    )
    add_check_arguments(parser)
    arguments = parser.parse_args()
    import_quietly()
    from keras_sinpe.parity import check_parity

    with exit_status():
        report = check_parity(
            load_model(arguments.model, arguments.modules),
            arguments.artifact,
            **check_options(arguments),
        )
    print(report.to_json() if arguments.json else report)
    sys.exit(0 if report.passed else 1)


if __name__ == "__main__":
    main()
