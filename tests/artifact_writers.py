"""What the tests of writing share: quick exports, and what lies in a folder."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from export_models import dense

from keras_sinpe.exporting import export_onnx, export_saved_model

ROOT = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}

SHORT = {"lengths": (2,), "batch_sizes": (1,)}
FEATURES = np.ones((2, 3, 4), "float32")


class BrokenError(Exception):
    pass


def write_onnx(path, model=None, **options):
    return export_onnx(model or dense(), path, **SHORT, **options)


def write_saved_model(path, model=None, **options):
    return export_saved_model(model or dense(), path, **SHORT, **options)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(path):
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return {str(file): file.read_bytes() for file in files if file.is_file()}


WRITERS = {"model.onnx": write_onnx, "model": write_saved_model}


def run_script(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
