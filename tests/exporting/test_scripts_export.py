"""The scripts in `export/`, started as a user starts them."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import keras
import pytest
from export_models import dense, random, run_onnx, subclassed
from keras import layers

ROOT = Path(__file__).parents[2]
SCRIPTS = ["to_onnx", "to_saved_model", "check_parity"]
HELP = {script: ["MODEL", "exit status:"] for script in SCRIPTS} | {"describe": []}


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("scripts") / "model.keras"
    dense().save(path)
    return path


@pytest.fixture
def call(monkeypatch, capsys):
    """Run a script in this process; its exit status, stdout and stderr."""

    def run(script, *arguments):
        monkeypatch.syspath_prepend(str(ROOT / "export"))
        monkeypatch.setattr(sys, "argv", [f"{script}.py", *map(str, arguments)])
        try:
            runpy.run_path(str(ROOT / "export" / f"{script}.py"), run_name="__main__")
        except SystemExit as stopped:
            status = stopped.code or 0
        else:
            status = 0
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def start(script, *arguments, **environment):
    """Run a script in a process of its own."""
    return subprocess.run(
        [sys.executable, ROOT / "export" / f"{script}.py", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
    )


def test_a_fresh_process_exports_and_says_nothing_but_the_report(tmp_path, model_file):
    path = tmp_path / "model.onnx"
    result = start("to_onnx", model_file, path, "--opset", "15", "--lengths", "1,7")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Parity PASSED: {path} in 3 runs\n")
    assert path.is_file()


def test_another_backend_is_refused_in_one_sentence(tmp_path, model_file):
    path = tmp_path / "model.onnx"
    result = start("to_onnx", model_file, path, KERAS_BACKEND="numpy")
    assert result.returncode == 2
    assert result.stderr == (
        "to_onnx.py: Export needs Keras on TensorFlow: save the model as a `.keras` "
        "file and load it in a process started with KERAS_BACKEND=tensorflow. "
        "Received: backend='numpy'\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", HELP)
def test_help_explains_and_needs_no_tensorflow(script):
    result = start(script, "--help")
    assert result.returncode == 0
    for part in ("usage:", f"python export/{script}.py", *HELP[script]):
        assert part in result.stdout


def test_both_artifacts_are_written_and_checked(call, tmp_path, model_file):
    short = ("--lengths", "1,7")
    for script, name in (("to_onnx", "m.onnx"), ("to_saved_model", "m")):
        target = tmp_path / name
        status, out, _ = call(script, model_file, target, *short)
        assert status == 0
        assert out.startswith(f"Parity PASSED: {target} in 3 runs\n")
        status, out, _ = call("check_parity", model_file, target, *short, "--json")
        assert status == 0
        data = json.loads(out)
        assert (data["passed"], data["artifact"]) == (True, str(target))
        assert data["outputs"][0]["output"] == "head"


def test_an_artifact_is_described(call, tmp_path, model_file):
    target = tmp_path / "m.onnx"
    call("to_onnx", model_file, target, "--lengths", "2", "--precision", "float16")
    status, out, _ = call("describe", target)
    assert status == 0
    assert "precision: float16" in out
    status, out, _ = call("describe", target, "--json")
    assert status == 0
    assert json.loads(out)["inputs"] == [
        {
            "name": "features",
            "shape": ["batch", "features_length", 4],
            "dtype": "float32",
        }
    ]


def test_an_artifact_is_checked(call, tmp_path, model_file):
    target = tmp_path / "m.onnx"
    call("to_onnx", model_file, target, "--lengths", "2")
    status, out, _ = call("check_parity", model_file, target)
    assert status == 0
    assert out.startswith(f"Parity PASSED: {target} in 6 runs\n")


def test_an_artifact_of_other_weights_fails_with_status_1(call, tmp_path, model_file):
    call("to_onnx", model_file, tmp_path / "m.onnx", "--lengths", "2")
    other = keras.saving.load_model(model_file)
    other.get_layer("head").bias.assign([1.0, 0.0, 0.0])
    other.save(tmp_path / "other.keras")
    status, out, err = call(
        "check_parity", tmp_path / "other.keras", tmp_path / "m.onnx", "--lengths", "2"
    )
    assert (status, err) == (1, "")
    assert out.startswith("Parity FAILED")
    assert "value: `head` differs by 1 " in out


def test_an_export_that_fails_its_check_prints_the_report(call, tmp_path):
    path = tmp_path / "random.keras"
    random().save(path)
    status, out, _ = call("to_onnx", path, tmp_path / "m.onnx", "--lengths", "2")
    assert status == 1
    assert out.startswith("Parity FAILED")
    assert "random: the model itself gives different outputs for equal inputs" in out
    assert list(tmp_path.iterdir()) == [path]


USELESS_OPTIONS = {
    "tolerance nan": "`tolerance` must be a finite number of at least 0, or one by "
    "dtype. Received: tolerance=nan",
    "tolerance -1": "`tolerance` must be a finite number of at least 0, or one by "
    "dtype. Received: tolerance=-1.0",
    "batch-sizes 0": "`batch_sizes` must be sizes of which one is above 0. "
    "Received: batch_sizes=(0,)",
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("option", USELESS_OPTIONS)
def test_an_option_that_would_prove_nothing_is_refused(
    call, tmp_path, model_file, script, option
):
    name, value = option.split()
    status, out, err = call(script, model_file, tmp_path / "m", f"--{name}", value)
    assert (status, out) == (2, "")
    assert err == f"{script}.py: {USELESS_OPTIONS[option]}\n"
    assert list(tmp_path.iterdir()) == []


def unreadable(folder):
    path = folder / "text.keras"
    path.write_text("no model")
    return path


@keras.saving.register_keras_serializable("scripts_tests")
class Unknown(layers.Layer):
    def call(self, x):
        return x


def with_unknown_layer(folder):
    path = folder / "unknown.keras"
    keras.Sequential([keras.Input((3,)), Unknown()]).save(path)
    keras.saving.get_custom_objects().pop("scripts_tests>Unknown", None)
    return path


BAD_MODELS = {
    "missing": (
        lambda folder: folder / "missing.keras",
        "There is no model file '{path}'.",
    ),
    "a folder": (lambda folder: folder, "There is no model file '{path}'."),
    "text": (unreadable, "The file '{path}' is not a `.keras` model file."),
    "an unknown layer": (
        with_unknown_layer,
        "The model file '{path}' uses 'Unknown', which nothing registers: name the "
        "module that does with `--import`.",
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kind", BAD_MODELS)
def test_a_bad_model_file_is_refused_in_one_sentence(call, tmp_path, script, kind):
    make, sentence = BAD_MODELS[kind]
    path = make(tmp_path)
    before = sorted(tmp_path.iterdir())
    status, out, err = call(script, path, tmp_path / "target")
    assert (status, out) == (2, "")
    assert err == f"{script}.py: {sentence.format(path=path)}\n"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("script", ["to_onnx", "to_saved_model"])
def test_an_existing_target_is_kept_unless_told_otherwise(
    call, tmp_path, model_file, script
):
    target = tmp_path / "target"
    assert call(script, model_file, target, "--lengths", "2")[0] == 0
    status, _, err = call(script, model_file, target)
    assert status == 2
    assert err == (
        f"{script}.py: `filepath` must be new unless `overwrite` is true. "
        f"Received: filepath='{target}', which exists\n"
    )
    assert call(script, model_file, target, "--lengths", "2", "--overwrite")[0] == 0


@pytest.mark.parametrize("script", ["to_onnx", "to_saved_model"])
def test_the_model_file_itself_is_no_target(call, tmp_path, model_file, script):
    path, link = tmp_path / "model.keras", tmp_path / "link"
    path.write_bytes(model_file.read_bytes())
    link.symlink_to(path)
    for target in (path, link):
        status, _, err = call(script, path, target, "--overwrite")
        assert status == 2
        assert err == f"{script}.py: The target '{target}' is the model file itself.\n"
    assert path.read_bytes() == model_file.read_bytes()


@pytest.mark.parametrize("script", ["to_onnx", "to_saved_model"])
def test_a_target_in_a_missing_folder_is_refused(call, tmp_path, model_file, script):
    target = tmp_path / "missing" / "target"
    status, _, err = call(script, model_file, target)
    assert status == 2
    assert err == (
        f"{script}.py: `filepath` must be in a folder that exists. "
        f"Received: filepath='{target}'\n"
    )


def test_a_missing_artifact_is_refused_in_one_sentence(call, tmp_path, model_file):
    status, _, err = call("check_parity", model_file, tmp_path / "none")
    assert status == 2
    assert err == (
        "check_parity.py: `filepath` must be a SavedModel directory or an ONNX file. "
        f"Received: filepath='{tmp_path / 'none'}', which does not exist\n"
    )


BAD_OPTIONS = [
    (["--opset", "9"], "argument --opset: invalid choice: 9"),
    (["--lengths", "1,x"], "argument --lengths: '1,x' is not N,N"),
    (["--input", "ids"], "argument --input: 'ids' is not NAME=DTYPE[SIZES]"),
    (["--sise", "3"], "unrecognized arguments: --sise 3"),
]


@pytest.mark.parametrize(("options", "sentence"), BAD_OPTIONS)
def test_a_bad_option_is_refused(call, tmp_path, options, sentence):
    status, _, err = call("to_onnx", "model.keras", tmp_path / "m.onnx", *options)
    assert status == 2
    assert sentence in err


def test_a_subclassed_model_gets_its_inputs_and_its_module_by_option(
    call, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(str(ROOT / "tests"))
    path, target = tmp_path / "model.keras", tmp_path / "m.onnx"
    model = subclassed()
    model.save(path)
    status, out, _ = call(
        "to_onnx",
        path,
        target,
        "--import=export_models",
        "--input=tokens=int32[?,?]",
        "--output-name=mean",
        "--lengths=1,7",
    )
    assert status == 0, out
    tokens = [[1, 2, 3]]
    received = run_onnx(target, tokens=keras.ops.convert_to_numpy(tokens).astype("i4"))
    assert received["mean"].shape == (1, 3)


def test_a_module_that_cannot_be_imported_is_named(call, tmp_path, model_file):
    status, _, err = call("to_onnx", model_file, tmp_path / "m", "--import=nowhere")
    assert status == 2
    assert err == (
        "to_onnx.py: `--import nowhere` fails with: No module named 'nowhere'.\n"
    )
