import json

import numpy as np
import pytest
from export_models import dense

from keras_sinpe.exporting import export_onnx
from keras_sinpe.parity import Case, Fault, ParityReport, check_parity
from keras_sinpe.parity.comparison import Pair
from keras_sinpe.parity.verdict import judge

CASE = Case.of(3, {"ids_length": 7})
F32 = np.float32


def comparison(wanted, got, tolerance=1e-5):
    pair = Pair(CASE, np.asarray(wanted), np.asarray(got))
    (found,) = judge("head", [pair], tolerance=tolerance).comparisons
    return found


COMPARISONS = {
    "equal": (F32([1, 2]), F32([1, 2]), []),
    "within the tolerance": (F32([0.5]), F32([0.500009]), []),
    "beyond the tolerance": (F32([0.5]), F32([0.50002]), ["value"]),
    "an infinity that is the same": (F32([-np.inf, 1]), F32([-np.inf, 1]), []),
    "an infinity of the other sign": (F32([-np.inf]), F32([np.inf]), ["value"]),
    "an infinity against a number": (F32([np.inf]), F32([1]), ["value"]),
    "NaN in both": (F32([np.nan]), F32([np.nan]), []),
    "NaN in the artifact": (F32([1.0]), F32([np.nan]), ["nan"]),
    "NaN in the model": (F32([np.nan]), F32([1.0]), ["nan"]),
    "another shape": (F32([1, 2]), F32([[1, 2]]), ["shape"]),
    "another dtype": (F32([1]), np.float64([1]), ["dtype"]),
    "another dtype and value": (F32([1]), np.int64([2]), ["dtype", "value"]),
    "integers must be equal": (np.int64([10**6]), np.int64([10**6 + 1]), ["value"]),
    "booleans must be equal": (np.array([True]), np.array([False]), ["value"]),
    "nothing to compare": (np.zeros((0, 4), F32), np.zeros((0, 4), F32), []),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_each_difference_is_a_fault_of_its_own(name):
    wanted, got, expected = COMPARISONS[name]
    found = comparison(wanted, got)
    assert [fault.kind for fault in found.faults] == expected


def test_progress_is_shown_on_standard_error(tmp_path, capsys):
    model, path = dense(), tmp_path / "model.onnx"
    export_onnx(model, path, lengths=(2,))
    assert capsys.readouterr() == ("", "")
    check_parity(model, path, lengths=(2, 3), progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Checking parity" in printed.err


def report(*comparisons, faults=(), notes=()):
    return ParityReport("model.onnx", comparisons, faults, notes, {"keras": "3.15.1"})


def test_a_report_without_a_comparison_has_not_passed():
    assert not report().passed


def test_a_row_holds_the_worst_run_of_its_output():
    good = comparison(F32([0.5]), F32([0.5]))
    bad = comparison(F32([0.5]), F32([0.7]))
    assert report(good, bad, good).rows == (bad,)


def test_a_report_prints_as_a_table():
    fault = Fault("name", "tail", "is an output of the artifact only")
    printed = str(
        report(
            comparison(F32([[0.5, 0.25]]), F32([[0.5, 0.5]])),
            comparison(F32([[0.5, 0.25]]), F32([[0.5, 0.75]])),
            faults=(fault,),
            notes=("read me",),
        )
    )
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    assert lines[0] == "Parity FAILED: model.onnx in 1 run"
    assert " ".join(lines[1].split()) == (
        "output shape dtype error allowed share where"
    )
    assert " ".join(lines[3].split()) == (
        "head 1x2 float32 5.00e-01 1.00e-05 5e+04 batch 3, ids_length 7 at [0, 1]"
    )
    assert lines[4:] == [
        "name: `tail` is an output of the artifact only",
        "value: `head` differs by 0.25 at [0, 1] of batch 3, ids_length 7: 0.5 instead "
        "of 0.25, 2.5e+04 times what is allowed (1e-05) (and 1 more)",
        "note: read me",
        "keras 3.15.1",
    ]


def test_a_report_is_json_even_where_an_error_is_infinite():
    data = json.loads(report(comparison(F32([1.0]), F32([np.nan]))).to_json())
    assert data["passed"] is False
    assert data["outputs"] == [
        {
            "output": "head",
            "shape": [1],
            "dtype": "float32",
            "error": "inf",
            "allowed": 1e-5,
            "share": "inf",
            "batch": 3,
            "lengths": {"ids_length": 7},
            "index": [0],
            "faults": ["nan"],
        }
    ]
    assert [fault["kind"] for fault in data["faults"]] == ["nan"]
