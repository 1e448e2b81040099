"""Export a Keras model to an ONNX file that is proved to compute the same.

The file is written beside its target, checked, loaded by ONNX Runtime and compared
with the model on several batch sizes and lengths. Only if all of it passes does the
file get its name; otherwise an existing file stays as it was.

Inputs keep their Keras names; outputs are called by dict key or by the layer that makes
them; free axes are `batch` and `<input>_length`.

  python export/to_onnx.py model.keras model.onnx
  python export/to_onnx.py model.keras model.onnx --opset 13 --lengths 1,64,4096
"""

from shell import (
    add_check_arguments,
    check_options,
    check_target,
    exit_status,
    import_quietly,
    load_model,
    parser_for,
)


def main() -> None:
    parser = parser_for(__doc__)
    parser.add_argument("target", metavar="FILE.onnx", help="the file to write")
    parser.add_argument(
        "--opset",
        type=int,
        default=17,
        choices=range(13, 19),
        metavar="N",
        help="version of the ONNX operators, 13 to 18 (default: 17)",
    )
    parser.add_argument(
        "--precision",
        default="float32",
        choices=["float32", "float16"],
        help="float16: half the size, float32 inputs and outputs (default: float32)",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace an existing ONNX file"
    )
    add_check_arguments(parser)
    arguments = parser.parse_args()
    import_quietly()
    from keras_sinpe.exporting import export_onnx

    with exit_status():
        check_target(arguments.model, arguments.target)
        report = export_onnx(
            load_model(arguments.model, arguments.modules),
            arguments.target,
            opset_version=arguments.opset,
            precision=arguments.precision,
            overwrite=arguments.overwrite,
            **check_options(arguments),
        )
    print(report.to_json() if arguments.json else report)


if __name__ == "__main__":
    main()
