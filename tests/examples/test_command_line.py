"""The manners that the pages share: what each refuses before any work."""

import importlib
import runpy
import sys
from pathlib import Path

import command_line
import pytest

EXAMPLES = Path(command_line.__file__).parent
PAGES = [
    *("char_lm", "demo", "distributed", "extrapolation", "irregular_times"),
    *("reverse", "walkthrough", "word_order"),
]


@pytest.fixture
def page(request, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")  # one page sets it for good
    return importlib.import_module(request.param)


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_an_output_folder_that_cannot_be_written_to_is_refused_first(page, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stop:
        page.main(["--output", str(tmp_path / "file" / "folder")])
    assert str(stop.value) == (
        "`--output` must be a folder that can be written to: [Errno 20] Not a "
        f"directory: '{tmp_path}/file/folder'"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0", "0 is not positive"),
        ("-3", "-3 is not positive"),
        ("many", "invalid positive value: 'many'"),
    ],
)
@pytest.mark.parametrize(
    ("page", "option"),
    [
        ("char_lm", "--steps"),
        ("char_lm", "--count"),
        ("extrapolation", "--seeds"),
        ("extrapolation", "--steps"),
        ("walkthrough", "--length"),
        ("word_order", "--epochs"),
    ],
    indirect=["page"],
)
def test_what_is_no_positive_number_is_refused(page, option, value, said, capsys):
    with pytest.raises(SystemExit) as stop:
        page.main([f"{option}={value}"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.endswith(f"argument {option}: {said}\n")


@pytest.mark.parametrize(
    ("page", "missing", "extras"),
    [
        ("char_lm", "tf2onnx", "tensorflow,onnx"),
        ("demo", "tf2onnx", "tensorflow,onnx"),
        ("distributed", "jax", "tensorflow,onnx,examples"),
        ("word_order", "onnx", "tensorflow,onnx"),
    ],
    indirect=["page"],
)
def test_a_missing_extra_is_named_before_any_work(
    page, missing, extras, tmp_path, monkeypatch
):
    found = command_line.find_spec
    monkeypatch.setattr(
        command_line, "find_spec", lambda name: None if name == missing else found(name)
    )
    with pytest.raises(SystemExit) as stop:
        page.main(["--output", str(tmp_path / "artifacts")])
    assert str(stop.value) == (
        f"This example needs `pip install 'keras_sinpe[{extras}]'`: there is no "
        f"{missing}."
    )
    assert not (tmp_path / "artifacts").exists()


@pytest.mark.parametrize(
    ("name", "missing", "extras"),
    [
        ("char_lm", "keras_sinpe", "tensorflow"),
        ("demo", "keras_sinpe", "tensorflow,onnx"),
        ("distributed", "keras_sinpe", "tensorflow"),
        ("extrapolation", "matplotlib.figure", "tensorflow,onnx,plot"),
        ("irregular_times", "statsmodels.datasets", "examples"),
        ("reverse", "keras_sinpe", "tensorflow"),
        ("walkthrough", "matplotlib", "tensorflow,onnx,plot"),
        ("word_order", "keras_sinpe", "tensorflow"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(
    name, missing, extras, monkeypatch
):
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "mauna_loa", raising=False)
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert str(stop.value) == (
        f"This example needs `pip install 'keras_sinpe[{extras}]'`: import of "
        f"{missing} halted; None in sys.modules"
    )
