import gc

import numpy as np
import pytest
from export_models import encoder_decoder

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.parity import FeedError, open_runner

EXPORTERS = {"pair.onnx": export_onnx, "pair": export_saved_model}
AXES = {"pair.onnx": "(batch, source_length)", "pair": "(?, ?)"}


@pytest.fixture(scope="module", params=EXPORTERS)
def artifact(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("runners") / request.param
    EXPORTERS[request.param](encoder_decoder(), path, lengths=(2, 5))
    return path


@pytest.fixture(scope="module")
def runner(artifact):
    return open_runner(artifact)


def feeds(**changes):
    tokens = np.ones((2, 3), "int32")
    return {"source": tokens, "target": tokens} | changes


def refusal(runner, wrong):
    with pytest.raises(FeedError) as raised:
        runner.run(wrong)
    return str(raised.value)


def test_inputs_and_outputs_are_known_by_name(runner):
    assert sorted(runner.inputs) == ["source", "target"]
    assert sorted(runner.outputs) == ["logits", "memory"]
    assert {port.dtype for port in runner.inputs.values()} == {"int32"}


def test_outputs_come_by_name(runner):
    outputs = runner.run(feeds())
    assert {name: array.shape for name, array in outputs.items()} == {
        "logits": (2, 3, 7),
        "memory": (2, 3, 2),
    }


def test_a_runner_keeps_what_it_loaded(artifact):
    outputs = open_runner(artifact).run(feeds())
    gc.collect()
    assert np.isfinite(outputs["logits"]).all()


def test_a_wrong_dtype_is_refused_with_what_is_wanted(artifact, runner):
    wide = np.ones((2, 3), "int64")
    assert refusal(runner, feeds(source=wide)) == (
        f"Input `source` must be int32 of shape {AXES[artifact.name]}. "
        "Received: int64 of shape (2, 3)"
    )


def test_a_wrong_rank_is_refused_with_what_is_wanted(artifact, runner):
    flat = np.ones((3,), "int32")
    assert refusal(runner, feeds(source=flat)) == (
        f"Input `source` must be int32 of shape {AXES[artifact.name]}. "
        "Received: int32 of shape (3,)"
    )


def test_a_missing_input_is_named(artifact, runner):
    tokens = np.ones((2, 3), "int32")
    assert refusal(runner, {"target": tokens}) == (
        f"Input `source` must be fed: int32 of shape {AXES[artifact.name]}. "
        "Received: ['target']"
    )


def test_an_unknown_input_is_named(runner):
    assert refusal(runner, feeds(sauce=np.ones(1))) == (
        "The artifact has no input `sauce`, only ['source', 'target']. "
        "Received: ['sauce', 'source', 'target']"
    )
