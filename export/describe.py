"""Say what an artifact wants and gives, how it was made and how it was proved.

Works on a SavedModel directory or an ONNX file of any exporter: inputs, outputs, dtypes
and axes. Artifacts of this package also say which versions, options and layers went
into them and what their parity check found.

  python export/describe.py model.onnx
  python export/describe.py exported/1 --json
"""

import argparse

from shell import exit_status, import_quietly


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "artifact", metavar="ARTIFACT", help="a SavedModel directory or an ONNX file"
    )
    parser.add_argument(
        "--endpoint",
        default="serving_default",
        metavar="NAME",
        help="the signature of a SavedModel (default: serving_default)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    import_quietly()
    from keras_sinpe.exporting import describe

    with exit_status():
        description = describe(arguments.artifact, endpoint=arguments.endpoint)
        print(description.to_json() if arguments.json else description)


if __name__ == "__main__":
    main()
