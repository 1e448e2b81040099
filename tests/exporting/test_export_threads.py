"""Exports of several threads do not meet in the converter."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tf2onnx
from export_models import dense

from keras_sinpe.exporting import export_onnx
from keras_sinpe.exporting.converter import COPIES_OFF


@pytest.fixture
def crowds(monkeypatch):
    """How many threads were in the converter whenever one entered it."""
    convert, inside, seen = tf2onnx.convert.from_function, [], []

    def watched(*args, **kwargs):
        inside.append(threading.get_ident())
        seen.append(len(inside))
        time.sleep(0.3)  # long enough for the others to come, were they let in
        try:
            return convert(*args, **kwargs)
        finally:
            inside.remove(threading.get_ident())

    monkeypatch.setattr(tf2onnx.convert, "from_function", watched)
    return seen


@pytest.mark.parametrize("before", [None, "TRUE"])
def test_threads_convert_in_turn_and_leave_the_environment(
    tmp_path, monkeypatch, crowds, before
):
    monkeypatch.delenv(COPIES_OFF, raising=False)
    if before is not None:
        monkeypatch.setenv(COPIES_OFF, before)
    models = [dense() for _ in range(3)]

    def export(number):
        path = tmp_path / f"{number}.onnx"
        return export_onnx(models[number], path, batch_sizes=(2,), lengths=(3,))

    with ThreadPoolExecutor(len(models)) as pool:
        reports = list(pool.map(export, range(len(models))))
    assert all(report.passed for report in reports)
    assert crowds == [1, 1, 1]
    assert os.environ.get(COPIES_OFF) == before
