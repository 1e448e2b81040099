import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
from export_models import dense, run_onnx

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.exporting.directory_swap import _step_aside, replace_directory
from keras_sinpe.exporting.safe_writing import staged_directory, staged_file
from keras_sinpe.parity import ParityError

SHORT = {"lengths": (2,), "batch_sizes": (1,)}
FEATURES = np.ones((2, 3, 4), "float32")


class BrokenError(Exception):
    pass


def write_onnx(path, model=None, **options):
    return export_onnx(model or dense(), path, **SHORT, **options)


def write_saved_model(path, model=None, **options):
    return export_saved_model(model or dense(), path, **SHORT, **options)


def of_nan():
    """A model that no check passes."""
    model = dense()
    model.get_layer("head").bias.assign([float("nan"), 0.0, 0.0])
    return model


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(path):
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return {str(file): file.read_bytes() for file in files if file.is_file()}


WRITERS = {"model.onnx": write_onnx, "model": write_saved_model}


@pytest.fixture(params=WRITERS)
def artifact(request, tmp_path):
    """A good artifact and the function that writes another one."""
    path = tmp_path / request.param
    WRITERS[request.param](path)
    return path, WRITERS[request.param]


def test_an_existing_artifact_is_replaced_and_nothing_else_is_left(artifact):
    path, write = artifact
    write(path)
    assert names(path.parent) == [path.name]


def test_an_existing_artifact_is_kept_where_overwriting_is_off(artifact):
    path, write = artifact
    before = contents(path)
    with pytest.raises(FileExistsError) as raised:
        write(path, overwrite=False)
    assert str(raised.value) == (
        "`filepath` must be new unless `overwrite` is true. "
        f"Received: filepath='{path}', which exists"
    )
    assert contents(path) == before


def test_an_artifact_that_fails_its_check_leaves_the_old_one(artifact):
    path, write = artifact
    before = contents(path)
    with pytest.raises(ParityError):
        write(path, of_nan())
    assert contents(path) == before
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize("name", WRITERS)
def test_the_folder_must_exist(tmp_path, name):
    with pytest.raises(FileNotFoundError) as raised:
        WRITERS[name](tmp_path / "missing" / name)
    assert str(raised.value) == (
        "`filepath` must be in a folder that exists. "
        f"Received: filepath='{tmp_path / 'missing' / name}'"
    )


def test_a_directory_is_no_target_for_an_onnx_file(tmp_path):
    with pytest.raises(IsADirectoryError) as raised:
        write_onnx(tmp_path)
    assert str(raised.value) == (
        f"`filepath` must be a file. Received: filepath='{tmp_path}', which is a "
        "directory"
    )


def test_a_file_is_no_target_for_a_saved_model(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("kept")
    with pytest.raises(NotADirectoryError) as raised:
        write_saved_model(path)
    assert str(raised.value) == (
        "`filepath` must be a directory or new. "
        f"Received: filepath='{path}', which is a file"
    )
    assert path.read_text() == "kept"


def test_a_folder_of_something_else_is_never_replaced(tmp_path):
    path = tmp_path / "thesis"
    path.mkdir()
    (path / "chapter.txt").write_text("kept")
    with pytest.raises(FileExistsError) as raised:
        write_saved_model(path)
    assert str(raised.value) == (
        "`filepath` must be a SavedModel, an empty directory or new. "
        f"Received: filepath='{path}', which holds something else"
    )
    assert names(path) == ["chapter.txt"]


def keras_file(path):
    dense().save(path.with_suffix(".keras"))
    path.with_suffix(".keras").rename(path)


OTHER_FILES = {
    "a Keras model": keras_file,
    "text": lambda path: path.write_text("chapter one"),
    "a pickle": lambda path: path.write_bytes(FEATURES.dumps()),
    "a SavedModel's graph": lambda path: path.write_bytes(saved_model_graph(path)),
}


def saved_model_graph(path):
    write_saved_model(path.with_suffix(".folder"))
    return (path.with_suffix(".folder") / "saved_model.pb").read_bytes()


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_a_file_of_something_else_is_never_replaced(tmp_path, kind):
    path = tmp_path / "file"
    OTHER_FILES[kind](path)
    before = contents(path)
    with pytest.raises(FileExistsError) as raised:
        write_onnx(path)
    assert str(raised.value) == (
        "`filepath` must be an ONNX file, an empty file or new. "
        f"Received: filepath='{path}', which holds something else"
    )
    assert contents(path) == before


def test_a_name_without_a_suffix_becomes_a_file(tmp_path):
    write_onnx(tmp_path / "model")
    assert (tmp_path / "model").is_file()


def test_a_linked_target_stays_a_link(tmp_path):
    (tmp_path / "real.onnx").touch()
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    write_onnx(tmp_path / "link.onnx")
    assert (tmp_path / "link.onnx").is_symlink()
    assert run_onnx(tmp_path / "real.onnx", features=FEATURES)["head"].shape == (
        2,
        3,
        3,
    )


@pytest.mark.parametrize("stage", [staged_file, staged_directory])
def test_a_failure_while_writing_leaves_no_trace(tmp_path, stage):
    def work():
        with stage(tmp_path / "target", True) as beside:
            assert names(tmp_path) == [beside.name]
            raise BrokenError

    with pytest.raises(BrokenError):
        work()
    assert names(tmp_path) == []


def test_an_old_directory_comes_back_where_the_new_one_cannot_be_renamed(tmp_path):
    old = tmp_path / "model"
    old.mkdir()
    (old / "saved_model.pb").write_text("old")
    with pytest.raises(FileNotFoundError):
        _step_aside(tmp_path / "never made", old)
    assert (old / "saved_model.pb").read_text() == "old"
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("replace", [replace_directory, _step_aside])
def test_a_directory_takes_the_place_of_another(tmp_path, replace):
    for name in ("model", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "content").write_text(name)
    replace(tmp_path / "new", tmp_path / "model")
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "content").read_text() == "new"


def as_nobody(work):
    """Run `work` in a child that no folder of root's lets write; its exit status."""
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            work()
        except PermissionError as error:
            os._exit(13 if str(error).startswith("`filepath` must be in a fo") else 1)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("stage", [staged_file, staged_directory])
def test_a_read_only_folder_is_refused_before_the_work(tmp_path, stage):
    tmp_path.chmod(0o555)
    for parent in list(tmp_path.parents)[:-2]:
        parent.chmod(0o755)

    def work():
        with stage(tmp_path / "model", True):
            raise BrokenError

    assert as_nobody(work) == 13
    assert names(tmp_path) == []


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import export_models
from keras_sinpe.exporting import {function}
import {module} as room

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

room.{step} = die
{function}(export_models.dense(), {path!r}, lengths=(2,), batch_sizes=(1,))
"""

STEPS = {
    "model.onnx": [
        ("export_onnx", "keras_sinpe.exporting.onnx", "convert"),
        ("export_onnx", "keras_sinpe.exporting.onnx", "check_parity"),
        ("export_onnx", "os", "replace"),
    ],
    "model": [
        ("export_saved_model", "keras_sinpe.exporting.saved_model", "check_parity"),
        ("export_saved_model", "keras_sinpe.exporting.safe_writing", "_flush"),
    ],
}


def run_script(script, **options):
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        **options,
    )


@pytest.mark.parametrize(
    ("name", "step"), [(name, step) for name in STEPS for step in STEPS[name]]
)
def test_a_process_that_is_killed_leaves_the_old_artifact(tmp_path, name, step):
    path = tmp_path / name
    WRITERS[name](path)
    before = contents(path)
    function, module, attribute = step
    script = KILLED.format(
        tests=str(Path(__file__).parents[1]),
        function=function,
        module=module,
        step=attribute,
        path=str(path),
    )
    assert run_script(script).returncode == -signal.SIGKILL
    assert contents(path) == before
    leftover = [found for found in names(tmp_path) if found != name]
    assert all(found.startswith(f".{name}.") for found in leftover)


FULL_DISK = """
import resource, sys
sys.path.insert(0, {tests!r})
import keras
from keras_sinpe.exporting import {function}
model = keras.Sequential([keras.Input((600,), name="x"), keras.layers.Dense(600)])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
{function}(model, {path!r}, batch_sizes=(1,))
"""


@pytest.mark.parametrize(
    ("name", "function"),
    [("model.onnx", "export_onnx"), ("model", "export_saved_model")],
)
def test_a_disk_that_is_full_leaves_the_old_artifact(tmp_path, name, function):
    path = tmp_path / name
    WRITERS[name](path)
    before = contents(path)
    script = FULL_DISK.format(
        tests=str(Path(__file__).parents[1]), function=function, path=str(path)
    )
    result = run_script(script)
    assert result.returncode == 1
    assert result.stderr.strip().endswith("File too large")
    assert contents(path) == before
    assert names(tmp_path) == [name]


def test_a_concurrent_reader_always_finds_a_whole_file(artifact):
    path, write = artifact
    file = path / "saved_model.pb" if path.is_dir() else path
    stop, found = threading.Event(), set()

    def read():
        while not stop.is_set():
            try:
                found.add(hash(file.read_bytes()))
            except OSError as error:
                found.add(repr(error))

    reader = threading.Thread(target=read)
    reader.start()
    whole = {hash(file.read_bytes())}
    try:
        for _ in range(3):
            write(path)
            whole.add(hash(file.read_bytes()))
    finally:
        stop.set()
        reader.join()
    assert found
    assert found <= whole


def test_both_artifacts_load_after_all(artifact):
    path, write = artifact
    write(path)
    if path.is_file():
        onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    else:
        assert tf.saved_model.load(str(path)).signatures["serving_default"]
