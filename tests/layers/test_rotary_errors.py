"""Wrong calls of the rotary layer: one sentence each."""

import keras
import numpy as np
import pytest

from keras_sinpe import RotaryPositionalEncoding


@pytest.fixture(autouse=True)
def _bare_errors():
    keras.config.disable_traceback_filtering()
    yield
    keras.config.enable_traceback_filtering()


EVEN = "`rotary_dim` must be an even integer above 0, or `None`. Received: rotary_dim="
AXIS = (
    "`sequence_axis` must be 1 or 2, the place of the length in the inputs' shape. "
    "Received: sequence_axis="
)
CONSTRUCTION = [
    (ValueError, {"rotary_dim": 3}, f"{EVEN}3"),
    (ValueError, {"rotary_dim": 0}, f"{EVEN}0"),
    (TypeError, {"rotary_dim": 0.5}, f"{EVEN}0.5"),
    (ValueError, {"sequence_axis": 0}, f"{AXIS}0"),
    (TypeError, {"sequence_axis": True}, f"{AXIS}True"),
]


@pytest.mark.parametrize(("error", "arguments", "sentence"), CONSTRUCTION)
def test_arguments_are_checked_at_construction(error, arguments, sentence):
    with pytest.raises(error) as caught:
        RotaryPositionalEncoding(**arguments)
    assert str(caught.value) == sentence


CALLS = [
    (
        {},
        (2, 8),
        "`inputs` must have shape (batch, length, feature_dim) or "
        "(batch, length, heads, feature_dim). Received: inputs.shape=(2, 8)",
    ),
    (
        {"sequence_axis": 2},
        (2, 5, 8),
        "`inputs` must have shape (batch, heads, length, feature_dim). "
        "Received: inputs.shape=(2, 5, 8)",
    ),
    (
        {},
        (2, 5, 7),
        "`inputs` must have an even width above 0, as features turn in pairs; "
        "`rotary_dim` leaves some out. Received: inputs.shape=(2, 5, 7)",
    ),
    (
        {"rotary_dim": 10},
        (2, 5, 8),
        "`rotary_dim` must not exceed the width of the inputs. Received: "
        "rotary_dim=10 with inputs.shape=(2, 5, 8)",
    ),
]


@pytest.mark.parametrize(("arguments", "shape", "sentence"), CALLS)
def test_inputs_that_cannot_be_rotated_are_refused(arguments, shape, sentence):
    with pytest.raises(ValueError, match="must") as caught:
        RotaryPositionalEncoding(**arguments)(np.zeros(shape, "float32"))
    assert str(caught.value) == sentence


def test_start_index_and_positions_exclude_each_other():
    with pytest.raises(ValueError, match="both") as caught:
        RotaryPositionalEncoding()(
            np.zeros((2, 3, 8), "float32"), start_index=1, positions=np.arange(3)
        )
    assert str(caught.value) == (
        "`start_index` and `positions` must not both be given. "
        "Received: start_index=1 with positions"
    )
