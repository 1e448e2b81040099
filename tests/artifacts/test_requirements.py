"""Where a package is missing, every entry says what to install, and blames no file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from export_models import dense

from keras_sinpe import check_parity, describe, export_onnx, export_saved_model
from keras_sinpe.arguments import require
from keras_sinpe.parity import open_runner

ROOT = Path(__file__).parents[2]
SHORT = {"lengths": (2,), "batch_sizes": (1,)}
ENTRIES = {
    "export_onnx": lambda path: export_onnx(dense(), path.with_name("new.onnx")),
    "check_parity": lambda path: check_parity(dense(), path, **SHORT),
    "describe": describe,
    "open_runner": lambda path: open_runner(path).precision,
}


def sentence(module, extra="onnx"):
    return f"`{module}` must be installed: pip install 'keras_sinpe[{extra}]'"


@pytest.fixture(scope="module")
def onnx_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("requirements") / "model.onnx"
    export_onnx(dense(), path, **SHORT)
    return path


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("requirements") / "model"
    export_saved_model(dense(), path, **SHORT)
    return path


MISSING = [(entry, module) for entry in ENTRIES for module in ("onnx", "onnxruntime")]


@pytest.mark.parametrize(("entry", "module"), [*MISSING, ("export_onnx", "tf2onnx")])
def test_an_entry_says_which_extra_an_onnx_file_needs(
    monkeypatch, onnx_file, entry, module
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError) as raised:
        ENTRIES[entry](onnx_file)
    assert str(raised.value) == sentence(module)
    assert [path.name for path in onnx_file.parent.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize("entry", [describe, open_runner])
def test_an_entry_says_which_extra_a_saved_model_needs(monkeypatch, saved_model, entry):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(ModuleNotFoundError) as raised:
        entry(saved_model)
    assert str(raised.value) == sentence("tensorflow", "tensorflow")


def test_what_an_installed_package_lacks_is_not_blamed_on_it(monkeypatch, tmp_path):
    (tmp_path / "half_installed.py").write_text("import nowhere_to_be_found")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError) as raised:
        require("half_installed")
    assert str(raised.value) == "No module named 'nowhere_to_be_found'"


@pytest.mark.parametrize(
    ("module", "extra"), [("tensorflow", "tensorflow"), ("onnxruntime", "onnx")]
)
def test_a_script_says_what_to_install(tmp_path, onnx_file, module, extra):
    (tmp_path / f"{module}.py").write_text(
        f"raise ModuleNotFoundError('No module named {module}', name={module!r})"
    )
    result = subprocess.run(
        [sys.executable, ROOT / "export" / "describe.py", onnx_file],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"describe.py: {sentence(module, extra)}\n"
