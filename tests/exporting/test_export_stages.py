"""What lies beside a target while it is written, and what is left there."""

import subprocess
import sys

import pytest
from artifact_writers import (
    ENVIRONMENT,
    BrokenError,
    contents,
    names,
    write_saved_model,
)

from keras_sinpe.exporting.safe_writing import staged_directory, staged_file
from keras_sinpe.exporting.stages import replace_directory


def two_directories(folder):
    for name in ("model", "new"):
        (folder / name).mkdir()
        (folder / name / "content").write_text(name)
    return folder / "new", folder / "model"


def test_a_directory_takes_the_place_of_another(tmp_path):
    replace_directory(*two_directories(tmp_path))
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "content").read_text() == "new"


def test_an_old_directory_comes_back_where_the_new_one_cannot_be_renamed(tmp_path):
    _, old = two_directories(tmp_path)
    with pytest.raises(FileNotFoundError):
        replace_directory(tmp_path / "never made", old)
    assert (old / "content").read_text() == "model"
    assert names(tmp_path) == ["model", "new"]


@pytest.mark.parametrize("stage", [staged_file, staged_directory])
def test_what_killed_exports_left_is_removed(tmp_path, stage):
    (tmp_path / ".model.00c0ffee.tmp").write_text("half a file")
    (tmp_path / ".model.11c0ffee.tmp").mkdir()
    (tmp_path / ".model.11c0ffee.tmp" / "variables").mkdir()
    with stage(tmp_path / "model", True):
        pass
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("stage", [staged_file, staged_directory])
def test_what_is_only_called_alike_is_kept(tmp_path, stage):
    others = [
        ".model.backup.tmp",
        ".model.onnx.00c0ffee.tmp",
        ".modem.00c0ffee.tmp",
        ".xmodel.00c0ffee.tmp",
        "model.00c0ffee.tmp",
    ]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".model.22c0ffee.tmp").symlink_to("model.00c0ffee.tmp")
    with stage(tmp_path / "model", True):
        pass
    assert names(tmp_path) == sorted([*others, ".model.22c0ffee.tmp", "model"])


def test_what_another_export_works_on_is_kept(tmp_path):
    with staged_file(tmp_path / "model", True) as first:
        first.write_text("first")
        with staged_file(tmp_path / "model", True) as second:
            assert first.exists()
        assert first.exists()
        assert not second.exists()
    assert (tmp_path / "model").read_text() == "first"
    assert names(tmp_path) == ["model"]


WORKING = """
import sys
from keras_sinpe.exporting.safe_writing import staged_file
with staged_file({path!r}, True):
    print("working", flush=True)
    sys.stdin.read()
"""


def test_what_another_process_works_on_is_kept_until_it_is_killed(tmp_path):
    path = tmp_path / "model"
    process = subprocess.Popen(
        [sys.executable, "-c", WORKING.format(path=str(path))],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == b"working\n"
        with staged_file(path, True):
            assert len(names(tmp_path)) == 2
        assert len(names(tmp_path)) == 2
        process.kill()
    with staged_file(path, True):
        pass
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_directory_that_stepped_aside_for_a_killed_export_is_put_back(
    tmp_path, overwrite
):
    write_saved_model(tmp_path / "model")
    before = contents(tmp_path / "model")
    (tmp_path / "model").rename(tmp_path / ".model.00c0ffee.old")
    with (
        pytest.raises((BrokenError, FileExistsError)),
        staged_directory(tmp_path / "model", overwrite),
    ):
        raise BrokenError
    assert contents(tmp_path / "model") == before
    assert names(tmp_path) == ["model"]


def test_a_directory_that_was_replaced_is_not_put_back(tmp_path):
    for name in ("model", ".model.00c0ffee.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    (tmp_path / "model" / "model").unlink()
    with staged_directory(tmp_path / "model", True):
        pass
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == []
