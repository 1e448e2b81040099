"""The versions that produced a result."""

import platform
from importlib import metadata

from keras_sinpe.version import __version__

PACKAGES = ("keras", "numpy", "onnx", "onnxruntime", "tf2onnx")
# The same package under two names, whichever is installed.
TENSORFLOW = ("tensorflow", "tensorflow-cpu")


def installed_versions() -> dict[str, str]:
    """Version of Python and of every installed package that takes part in an export.

    >>> "python" in installed_versions()
    True
    """
    versions = {"python": platform.python_version(), "keras_sinpe": __version__}
    for package in (*PACKAGES, *TENSORFLOW):
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        versions[package.removesuffix("-cpu")] = found
    return versions
