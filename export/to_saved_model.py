"""Export a Keras model to a TensorFlow SavedModel that is proved to compute the same.

The directory is written beside its target, loaded by TensorFlow and compared with the
model on several batch sizes and lengths. Only if all of it passes does the directory
get its name; otherwise an existing SavedModel stays as it was.

The signature `serving_default` has the model's input names, and outputs called by dict
key or by the layer that makes them; `serve` takes and returns what the model does.

  python export/to_saved_model.py model.keras exported/1
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
    parser.add_argument("target", metavar="DIR", help="the directory to write")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace an existing SavedModel"
    )
    add_check_arguments(parser)
    arguments = parser.parse_args()
    import_quietly()
    from keras_sinpe.exporting import export_saved_model

    with exit_status():
        check_target(arguments.model, arguments.target)
        report = export_saved_model(
            load_model(arguments.model, arguments.modules),
            arguments.target,
            overwrite=arguments.overwrite,
            **check_options(arguments),
        )
    print(report.to_json() if arguments.json else report)


if __name__ == "__main__":
    main()
