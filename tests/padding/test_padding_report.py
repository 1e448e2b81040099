"""The padding report as verdict, error, JSON and table."""

import doctest
import io
import json

import padding_models as models
import pytest
from rich.console import Console

import keras_sinpe.padding.check as check_module
from keras_sinpe.padding import (
    Change,
    MaskLoss,
    PaddingError,
    PaddingReport,
    check_padding,
)

QUIET = Change("logits", "padding appended", 2e-7, (0, 3, 1), 1e-5)
LOUD = Change("logits", "padding replaced", 0.8, (1, 2, 0), 1e-5)
BROKEN = Change("label", "padding replaced", float("nan"), (0, 1), 1e-5)
LOSS = MaskLoss("add", "an operation on tensors hands no mask on")


def report(*changes, first_leak="attention_1"):
    return PaddingReport("encoder", changes, LOSS, first_leak)


def test_one_change_beyond_its_tolerance_fails_the_report():
    assert report(QUIET).passed
    assert not report(QUIET, LOUD).passed


def test_nan_fails():
    assert not report(BROKEN).passed
    assert not report(Change("logits", "padding appended", 0.1, None, 1e-5)).passed


def test_the_error_gives_the_worst_change_and_both_names():
    report(QUIET).raise_if_failed()
    with pytest.raises(PaddingError) as raised:
        report(QUIET, LOUD).raise_if_failed()
    assert str(raised.value) == (
        "The output `logits` of `encoder` must not change by more than 1.0e-05 "
        "(padding replaced). Received: a change of 8.0e-01 at (1, 2, 0); "
        "first changed valid output: `attention_1`; mask first lost at: `add`, "
        "as an operation on tensors hands no mask on"
    )


def test_the_error_gives_nan_before_any_number():
    with pytest.raises(PaddingError, match="a change of nan at"):
        report(LOUD, BROKEN).raise_if_failed()


def test_the_error_says_when_no_layer_can_be_named():
    nameless = PaddingReport("encoder", (LOUD,), None, None)
    with pytest.raises(
        PaddingError, match="; no layer inside the model could be named"
    ):
        nameless.raise_if_failed()


def test_json_holds_everything_and_is_strict():
    def refuse(constant):
        raise AssertionError(constant)

    parsed = json.loads(report(LOUD, BROKEN).to_json(), parse_constant=refuse)
    assert parsed == {
        "passed": False,
        "model": "encoder",
        "changes": [
            {
                "output": "logits",
                "probe": "padding replaced",
                "largest": 0.8,
                "where": [1, 2, 0],
                "tolerance": 1e-5,
                "passed": False,
            },
            {
                "output": "label",
                "probe": "padding replaced",
                "largest": "nan",
                "where": [0, 1],
                "tolerance": 1e-5,
                "passed": False,
            },
        ],
        "mask_loss": {"layer": "add", "reason": LOSS.reason},
        "first_leak": "attention_1",
    }


@pytest.mark.parametrize("render", [str, "rich"])
def test_the_table_shows_every_change_and_the_diagnosis(render):
    found = check_padding(models.stacked_by_implicit_mask(2))
    if render is str:
        text = str(found)
    else:
        console = Console(width=100, record=True, file=io.StringIO())
        console.print(found)
        text = console.export_text()
    assert text.count("leak") == len(found.changes) == 2
    assert "Padding of implicit: valid outputs change" in text
    assert "first changed valid output: `attention_1`" in text
    assert f"`{found.mask_loss.layer}`" in text


def test_the_table_of_a_sound_model_has_nothing_to_diagnose():
    text = str(check_padding(models.stacked_by_explicit_mask(1)))
    assert "valid outputs keep still" in text
    assert "leak" not in text


def test_a_report_without_changes_has_not_passed():
    assert not report().passed


def test_the_error_holds_the_report():
    failed = report(LOUD)
    with pytest.raises(PaddingError) as raised:
        failed.raise_if_failed()
    assert raised.value.report is failed


def test_the_example_in_the_docs_runs():
    results = doctest.testmod(check_module)
    assert results.attempted > 0
    assert results.failed == 0
