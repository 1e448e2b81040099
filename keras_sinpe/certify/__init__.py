"""Proved bounds of the error of an encoding: `python -m keras_sinpe.certify`."""

from keras_sinpe.certify.certificate import (
    Certificate,
    certify,
    certify_rotations,
    certify_tables,
)

__all__ = ["Certificate", "certify", "certify_rotations", "certify_tables"]
