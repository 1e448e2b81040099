"""A check that proves nothing must not pass."""

import keras
import numpy as np
import pytest
from export_models import dense

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.parity import check_parity

TOLERANCE = "a finite number of at least 0, or one by dtype"
SIZES = "a non-empty sequence of integers of at least 0"
INPUTS = "arrays by input name, a non-empty list of these, or a function to them"

REFUSED = [
    ("tolerance", float("nan"), ValueError, TOLERANCE),
    ("tolerance", float("inf"), ValueError, TOLERANCE),
    ("tolerance", -1e-9, ValueError, TOLERANCE),
    ("tolerance", "1e-5", TypeError, TOLERANCE),
    ("tolerance", True, TypeError, TOLERANCE),
    ("tolerance", {"float32": float("nan")}, ValueError, TOLERANCE),
    ("tolerance", {"float32": -1.0}, ValueError, TOLERANCE),
    ("tolerance", {"float32": None}, TypeError, TOLERANCE),
    ("inputs", [], ValueError, INPUTS),
    ("inputs", 5, TypeError, INPUTS),
    ("inputs", [[1.0]], TypeError, INPUTS),
    ("batch_sizes", (0, 0), ValueError, "sizes of which one is above 0"),
] + [
    (name, value, error, SIZES)
    for name in ("batch_sizes", "lengths")
    for value, error in [
        (5, TypeError),
        ("5", TypeError),
        ((), ValueError),
        ((2, -1), ValueError),
        ((2.0,), TypeError),
        ((True,), TypeError),
    ]
]
ENDPOINTS = "models by name, other than `serve` and `serving_default`"
EVERYWHERE = [check_parity, export_onnx, export_saved_model]
EXPORTERS = [export_onnx, export_saved_model]
BOOLEAN = "`True` or `False`"

REFUSED_BY = [
    (EVERYWHERE, "lengths", [2**62], ValueError, "sizes of at most 2147483647"),
    (EVERYWHERE, "batch_sizes", [2**31], ValueError, "sizes of at most 2147483647"),
    (EVERYWHERE, "output_names", "y", TypeError, "a sequence of names"),
    (EVERYWHERE, "output_names", [5], TypeError, "a sequence of names"),
    (EVERYWHERE, "output_names", [""], ValueError, "a sequence of names"),
    (EVERYWHERE, "progress", 1, TypeError, BOOLEAN),
    (EXPORTERS, "overwrite", "no", TypeError, BOOLEAN),
    (EXPORTERS, "overwrite", None, TypeError, BOOLEAN),
    ([export_onnx], "opset_version", 17.0, ValueError, "13 to 18"),
    ([export_onnx], "opset_version", "17", ValueError, "13 to 18"),
    ([export_onnx], "opset_version", True, ValueError, "13 to 18"),
    ([export_onnx], "opset_version", 19, ValueError, "13 to 18"),
    ([export_saved_model], "endpoints", ["step"], TypeError, ENDPOINTS),
    ([export_saved_model], "endpoints", {1: None}, TypeError, ENDPOINTS),
    ([export_saved_model], "endpoints", {"serve": None}, ValueError, ENDPOINTS),
    ([check_parity], "seed", -1, ValueError, "an integer of at least 0"),
    ([check_parity], "seed", 0.0, TypeError, "an integer of at least 0"),
    ([check_parity], "endpoint", None, TypeError, "the name of a signature"),
]
REFUSED_OPTIONS = [(f, *rest) for functions, *rest in REFUSED_BY for f in functions]


@pytest.mark.parametrize(
    ("function", "name", "value", "error", "expected"), REFUSED_OPTIONS
)
def test_an_option_is_refused_before_any_work(
    tmp_path, function, name, value, error, expected
):
    with pytest.raises(error) as raised:
        function(dense(), tmp_path / "model", **{name: value})
    assert str(raised.value) == (
        f"`{name}` must be {expected}. Received: {name}={value!r}"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", EXPORTERS)
@pytest.mark.parametrize(
    ("made", "received"),
    [
        (None, "one array for each of ['features']. Received: None"),
        ([1.0], "one array for each of ['features']. Received: [1.0]"),
        (
            {"features": "text"},
            "an array of float32 for `features`. Received: 'text'",
        ),
        (
            {"features": [[1.0], [1.0, 2.0]]},
            "an array of float32 for `features`. Received: [[1.0], [1.0, 2.0]]",
        ),
    ],
)
def test_a_function_that_makes_no_arrays_is_refused(tmp_path, function, made, received):
    with pytest.raises(ValueError, match="`inputs` must hold") as raised:
        function(dense(), tmp_path / "model", inputs=lambda case, rng: made)
    assert str(raised.value) == f"`inputs` must hold {received}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", [check_parity, export_onnx, export_saved_model])
@pytest.mark.parametrize(("name", "value", "error", "expected"), REFUSED)
def test_an_option_that_would_prove_nothing_is_refused(
    tmp_path, function, name, value, error, expected
):
    with pytest.raises(error) as raised:
        function(dense(), tmp_path / "model", **{name: value})
    assert str(raised.value) == (
        f"`{name}` must be {expected}. Received: {name}={value!r}"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    features = keras.Input((None, 4), name="features")
    model = keras.Model(features, keras.layers.Activation("tanh")(features))
    path = tmp_path_factory.mktemp("options") / "model.onnx"
    export_onnx(model, path, batch_sizes=(2,), lengths=(3,))
    return model, path


@pytest.mark.parametrize(
    "options",
    [
        {"inputs": {"features": np.ones((0, 5, 4), "float32")}},
        {"inputs": lambda case, rng: {"features": np.ones((2, 0, 4), "float32")}},
        {"lengths": (0,)},
    ],
)
def test_a_check_of_empty_outputs_only_fails_and_says_so(artifact, options):
    report = check_parity(*artifact, **options)
    assert not report.passed
    (fault,) = report.all_faults
    assert (fault.kind, fault.message) == (
        "empty",
        "every output of every run is empty",
    )


def test_an_empty_batch_may_come_beside_a_full_one(artifact):
    report = check_parity(*artifact, batch_sizes=(2, 0), lengths=(0, 3))
    assert report.passed
    # Turns would leave nothing to compare: every size meets every other.
    assert len(report.comparisons) == 4


@pytest.mark.parametrize("tolerance", [0.5, np.float32(0.5), {"float32": 0.5}])
def test_a_tolerance_of_any_kind_of_number_is_taken(artifact, tolerance):
    report = check_parity(*artifact, lengths=(3,), tolerance=tolerance)
    assert report.passed
    assert report.rows[0].allowed == 0.5
