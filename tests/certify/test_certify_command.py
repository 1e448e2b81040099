"""`python -m keras_sinpe.certify`."""

import json
from dataclasses import replace

import pytest
from exactness import INTEGER_TOLERANCE

from keras_sinpe.certify.__main__ import main
from keras_sinpe.convention_table import CONVENTIONS


def run(capsys, *arguments):
    code = main([*arguments, "--quiet"])
    return code, capsys.readouterr().out


def test_the_bound_its_parts_and_its_assumptions_are_printed(capsys):
    code, output = run(capsys, "--dim", "2", "--first-position", "1")
    assert code == 0
    assert output.startswith("an encoding: 2 features, first_position=1.0\n")
    for part in ("rotation of any block", "low digit", "last rounding", "bound"):
        assert f"\n  {part}" in output
    assert "\n  if products and sums of float32 are rounded to nearest" in output


def test_json_holds_one_certificate_per_line(capsys):
    arguments = ("--dim", "2", "3", "--convention", "stable_diffusion", "--json")
    code, output = run(capsys, *arguments, "--at-most", "5e-7")
    assert code == 0
    for line, width in zip(output.splitlines(), (2, 3), strict=True):
        certificate = json.loads(line)
        assert certificate["encoding"] == "stable_diffusion"
        assert certificate["feature_dim"] == width
        assert certificate["parameters"]["odd"] == "zero"
        assert 0 < certificate["bound"] < INTEGER_TOLERANCE
        assert len(certificate["assumptions"]) == 3


def test_a_bound_above_the_limit_fails(capsys):
    assert run(capsys, "--dim", "2", "--at-most", "1e-7")[0] == 1


def test_every_convention_is_certified_at_the_widths_of_its_models(capsys, monkeypatch):
    nerf = {"nerf": replace(CONVENTIONS["nerf"], usual_widths=(2, 4))}
    monkeypatch.setattr("keras_sinpe.certify.__main__.CONVENTIONS", nerf)
    code, output = run(capsys, "--usual", "--json")
    assert code == 0
    widths = [json.loads(line)["feature_dim"] for line in output.splitlines()]
    assert widths == [2, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dim", "0"], "`feature_dim` must be an integer above 0."),
        (["--dim", "4", "--max-wavelength", "-1"], "`max_wavelength` must be"),
        (["--dim", "4", "--convention", "bert"], "invalid choice: 'bert'"),
        ([], "one of the arguments --dim --usual is required"),
    ],
)
def test_what_cannot_be_certified_is_an_error_of_the_command(
    capsys, arguments, message
):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
