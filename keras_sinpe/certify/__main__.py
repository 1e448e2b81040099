"""The proved bound of an error: `python -m keras_sinpe.certify --dim 512`."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from keras_sinpe.certify.certificate import Certificate, Known, Track, certify_tables
from keras_sinpe.convention_table import CONVENTIONS
from keras_sinpe.conventions import convention, convention_names
from keras_sinpe.engine.digit_tables import DigitTables
from keras_sinpe.engine.waves import LAYOUTS, ODD_WIDTHS, WaveParameters
from keras_sinpe.printing import with_progress

NUMBERS = (
    "max_wavelength",
    "min_wavelength",
    "frequency_shift",
    "first_position",
    "position_scale",
)
PARAMETERS = (*NUMBERS, "layout", "odd", "cos_first", "output_scale", "periods")

Encoding = tuple[str, int, dict[str, Any]]  # name, width, parameters of its waves


def main(arguments: list[str] | None = None) -> int:
    """Prints certificates; returns 1 if a bound is above `--at-most`, else 0."""
    parser = _parser()
    options = parser.parse_args(arguments)
    track: Track = with_progress("Checking frequencies", not options.quiet)
    known: Known = {}
    most = 0.0
    for name, feature_dim, parameters in _encodings(options):
        try:
            waves = WaveParameters(**parameters).waves(feature_dim)
        except (TypeError, ValueError) as error:
            parser.error(str(error))
        tables = DigitTables(waves, "float32")
        certificate = certify_tables(tables, track=track, known=known)
        most = max(most, certificate.bound, certificate.contracted_bound)
        show = _json if options.json else _text
        print(show(name, parameters, certificate), flush=True)
    return int(most > options.at_most)


def _encodings(options: argparse.Namespace) -> Iterator[Encoding]:
    if options.usual:
        for name, known in CONVENTIONS.items():
            for width in known.usual_widths:
                yield name, width, _of_convention(name, width)
        return
    given = {
        name: getattr(options, name)
        for name in PARAMETERS
        if getattr(options, name) is not None
    }
    for width in options.dim:
        if options.convention:
            parameters = _of_convention(options.convention, width) | given
            yield options.convention, width, parameters
        else:
            yield "an encoding", width, given


def _of_convention(name: str, feature_dim: int) -> dict[str, Any]:
    """Its parameters of waves, without those of the layer alone."""
    parameters = convention(name, feature_dim=feature_dim)
    return {key: parameters[key] for key in PARAMETERS if key in parameters}


def _text(name: str, parameters: dict[str, Any], certificate: Certificate) -> str:
    arguments = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    return f"{name}: {certificate.feature_dim} features, {arguments}\n{certificate}\n"


def _json(name: str, parameters: dict[str, Any], certificate: Certificate) -> str:
    bounds = {
        "bound": certificate.bound,
        "contracted_bound": certificate.contracted_bound,
    }
    encoding = {"encoding": name, "parameters": parameters}
    return json.dumps({**encoding, **bounds, **asdict(certificate)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m keras_sinpe.certify", description=__doc__
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--dim", type=int, nargs="+", help="widths")
    what.add_argument(
        "--usual",
        action="store_true",
        help="every named convention at the widths of its models",
    )
    parser.add_argument("--convention", choices=convention_names(), metavar="NAME")
    parser.add_argument("--json", action="store_true", help="one object per line")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument(
        "--at-most", type=float, default=float("inf"), help="fail above this bound"
    )
    for name in NUMBERS:
        parser.add_argument(_flag(name), type=float)
    parser.add_argument("--layout", choices=LAYOUTS)
    parser.add_argument("--odd", choices=ODD_WIDTHS)
    parser.add_argument("--cos-first", action="store_const", const=True)
    parser.add_argument("--output-scale", type=_number_or_word)
    parser.add_argument("--periods", type=float, nargs="+")
    return parser


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _number_or_word(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


if __name__ == "__main__":
    raise SystemExit(main())
