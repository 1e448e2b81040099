"""A process that is killed at any step leaves a whole artifact."""

import signal
from pathlib import Path

import pytest
import tensorflow as tf
from artifact_writers import (
    ROOT,
    WRITERS,
    contents,
    names,
    run_script,
    write_saved_model,
)

KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import export_models
from keras_sinpe.exporting import {function}
import {module} as room

original, calls = room.{step}, []

def die(*args, **kwargs):
    calls.append(args)
    if len(calls) == {call}:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args, **kwargs)

room.{step} = die
{function}(export_models.dense(), {path!r}, lengths=(2,), batch_sizes=(1,))
"""

ONNX, SAVED_MODEL = "keras_sinpe.exporting.onnx", "keras_sinpe.exporting.saved_model"
WRITING, STAGES = "keras_sinpe.exporting.safe_writing", "keras_sinpe.exporting.stages"
STEPS = [
    ("model.onnx", ONNX, "convert", 1),
    ("model.onnx", ONNX, "check_artifact", 1),
    ("model.onnx", WRITING, "_flush", 1),
    ("model.onnx", "os", "replace", 1),
    ("model", SAVED_MODEL, "check_artifact", 1),
    ("model", WRITING, "_flush", 1),
    ("model", "os", "rename", 1),
]
FUNCTIONS = {"model.onnx": "export_onnx", "model": "export_saved_model"}


def export_and_die(path, module, step, call):
    """Export in a process that is killed instead of the given call of a step."""
    script = KILLED.format(
        tests=str(ROOT / "tests"),
        function=FUNCTIONS[path.name],
        module=module,
        step=step,
        call=call,
        path=str(path),
    )
    assert run_script(script).returncode == -signal.SIGKILL


@pytest.mark.parametrize(("name", "module", "step", "call"), STEPS)
def test_a_process_that_is_killed_leaves_the_old_artifact(
    tmp_path, name, module, step, call
):
    path = tmp_path / name
    WRITERS[name](path)
    before = contents(path)
    export_and_die(path, module, step, call)
    assert contents(path) == before
    (leftover,) = [found for found in names(tmp_path) if found != name]
    assert leftover.startswith(f".{name}.")
    WRITERS[name](path)
    assert names(tmp_path) == [name]


def test_a_process_that_is_killed_between_two_renames_leaves_both_whole(tmp_path):
    path = tmp_path / "model"
    write_saved_model(path)
    before = {Path(file).name: data for file, data in contents(path).items()}
    export_and_die(path, "os", "rename", 2)
    new, old = sorted(tmp_path.iterdir(), key=lambda found: found.suffix == ".old")
    assert (new.suffix, old.suffix) == (".tmp", ".old")
    assert {Path(file).name: data for file, data in contents(old).items()} == before
    assert tf.saved_model.load(str(new)).signatures["serving_default"]
    with pytest.raises(FileExistsError):
        write_saved_model(path, overwrite=False)
    assert names(tmp_path) == ["model"]
    assert {Path(file).name: data for file, data in contents(path).items()} == before


def test_a_process_that_is_killed_while_it_cleans_up_leaves_the_new_artifact(tmp_path):
    path = tmp_path / "model"
    write_saved_model(path)
    export_and_die(path, STAGES, "_remove", 1)
    assert tf.saved_model.load(str(path)).signatures["serving_default"]
    assert len(names(tmp_path)) == 2
    write_saved_model(path)
    assert names(tmp_path) == ["model"]
