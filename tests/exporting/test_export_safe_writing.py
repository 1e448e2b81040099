"""The old artifact or the new one is at the target, whole, whatever goes wrong."""

import os
import threading

import onnxruntime
import pytest
import tensorflow as tf
from artifact_writers import (
    ROOT,
    WRITERS,
    BrokenError,
    contents,
    names,
    run_script,
    write_saved_model,
)
from export_models import random

from keras_sinpe.exporting.safe_writing import staged_directory, staged_file
from keras_sinpe.parity import ParityError


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
        write(path, random())
    assert contents(path) == before
    assert names(path.parent) == [path.name]


def test_a_strangers_file_that_comes_during_the_export_is_kept(tmp_path):
    def work():
        with staged_directory(tmp_path / "model", True) as stage:
            (stage / "saved_model.pb").touch()
            (tmp_path / "model").mkdir()
            (tmp_path / "model" / "chapter.txt").write_text("kept")

    with pytest.raises(FileExistsError):
        work()
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == ["chapter.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o444, 0o640, 0o755])
def test_the_mode_of_a_replaced_file_is_kept(tmp_path, mode):
    path = tmp_path / "model.onnx"
    path.touch()
    path.chmod(mode)
    with staged_file(path, True) as stage:
        assert stage.stat().st_mode & 0o777 == mode | 0o600
        stage.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o555])
def test_the_mode_of_a_replaced_directory_is_kept(tmp_path, mode):
    path = tmp_path / "model"
    path.mkdir()
    path.chmod(mode)
    write_saved_model(path)
    write_saved_model(path)
    assert path.stat().st_mode & 0o777 == mode


def test_a_new_artifact_has_the_mode_of_every_new_file(tmp_path):
    (tmp_path / "usual").touch()
    with staged_file(tmp_path / "model.onnx", True):
        pass
    modes = {(tmp_path / name).stat().st_mode for name in ("usual", "model.onnx")}
    assert len(modes) == 1


@pytest.mark.parametrize("stage", [staged_file, staged_directory])
def test_a_failure_while_writing_leaves_no_trace(tmp_path, stage):
    def work():
        with stage(tmp_path / "target", True) as beside:
            assert names(tmp_path) == [beside.name]
            raise BrokenError

    with pytest.raises(BrokenError):
        work()
    assert names(tmp_path) == []


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
        tests=str(ROOT / "tests"), function=function, path=str(path)
    )
    result = run_script(script)
    assert result.returncode == 1
    assert result.stderr.strip().endswith("File too large")
    assert contents(path) == before
    assert names(tmp_path) == [name]


def test_a_concurrent_reader_finds_a_whole_file_or_for_an_instant_no_directory(
    artifact,
):
    path, write = artifact
    file = path / "saved_model.pb" if path.is_dir() else path
    stop, found = threading.Event(), set()

    def read():
        while not stop.is_set():
            try:
                found.add(hash(file.read_bytes()))
            except FileNotFoundError:
                found.add("absent")

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
    assert found & whole
    # Two renames put a directory in the place of another, one a file.
    assert found <= (whole | {"absent"} if path.is_dir() else whole)


def test_both_artifacts_load_after_all(artifact):
    path, write = artifact
    write(path)
    if path.is_file():
        onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    else:
        assert tf.saved_model.load(str(path)).signatures["serving_default"]
