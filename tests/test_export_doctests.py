import doctest
import importlib

import pytest

MODULES = [
    "keras_sinpe.exporting.axes",
    "keras_sinpe.exporting.description",
    "keras_sinpe.exporting.onnx",
    "keras_sinpe.exporting.saved_model",
    "keras_sinpe.full_precision",
    "keras_sinpe.parity.checking",
    "keras_sinpe.parity.interface",
    "keras_sinpe.parity.tied_axes",
    "keras_sinpe.parity.tolerances",
    "keras_sinpe.tensor_specs",
    "keras_sinpe.tensor_names",
    "keras_sinpe.versions",
]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_are_true(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0
